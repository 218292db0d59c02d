// LheEvent: one event of a Les Houches event file.
#ifndef CREMA_EXAMPLES_ZJETS_LHE_EVENT_H_
#define CREMA_EXAMPLES_ZJETS_LHE_EVENT_H_

#include <string_view>
#include <vector>

namespace zjets {

/// A particle as written: momentum in GeV, z along the beam.
struct Particle {
  int pdg_id = 0;
  int status = 0;  ///< 1: outgoing; -1: incoming; 2: intermediate resonance
  double px = 0;
  double py = 0;
  double pz = 0;
  double energy = 0;
};

inline constexpr int kOutgoing = 1;

struct LheEvent {
  double weight = 0;  ///< XWGTUP, pb
  std::vector<Particle> particles;
};

/// What a file's <init> block says about its events.
struct LheInit {
  int weight_strategy = 0;      ///< IDWTUP
  double cross_section_pb = 0;  ///< sum of XSECUP over the processes
};

/// Reads the text of one event, from its line `<event ...>` on. Format: Alwall et al., "A standard format for Les
/// Houches Event Files", hep-ph/0609017. Blocks after the particles (reweighting, clustering) are not read. Throws
/// std::runtime_error that says what was expected.
LheEvent ParseLheEvent(std::string_view text);

/// Reads the text between `<init>` and `</init>`.
LheInit ParseLheInit(std::string_view text);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_LHE_EVENT_H_
