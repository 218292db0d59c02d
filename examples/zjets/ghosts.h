// Ghosts: infinitely soft particles that measure the area of jets.
#ifndef CREMA_EXAMPLES_ZJETS_GHOSTS_H_
#define CREMA_EXAMPLES_ZJETS_GHOSTS_H_

#include <vector>

#include "fastjet/PseudoJet.hh"

namespace zjets {

/// Ghosts spread evenly in rapidity and azimuth over |rapidity| < kGhostMaxRapidity. They change no jet, and how many
/// of them a jet takes up is its area (Cacciari, Salam, Soyez, "The catchment area of jets", arXiv:0802.1188). FastJet
/// has its own, which draw from a random generator that threads would share; these are always the same.
struct Ghosts {
  std::vector<fastjet::PseudoJet> particles;  ///< empty: areas are not measured
  double area = 0;                            ///< that each stands for
};

inline constexpr double kGhostMaxRapidity = 3.0;

/// Ghosts of about `area` each.
Ghosts MakeGhosts(double area);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_GHOSTS_H_
