// Varies an event as if its jets had been measured a little differently.
#ifndef CREMA_EXAMPLES_COFFEA_DASK_JET_TOYS_H_
#define CREMA_EXAMPLES_COFFEA_DASK_JET_TOYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jet_toys {

struct Jet {
  double pt = 0;       ///< GeV
  double cos_phi = 0;  ///< direction in the transverse plane
  double sin_phi = 0;
};

struct Vector2 {
  double x = 0;  ///< GeV
  double y = 0;
};

struct Event {
  std::uint64_t number = 0;
  std::vector<Jet> jets;
  Vector2 lepton;
  Vector2 missing;  ///< missing transverse momentum
};

struct Observables {
  double ht = 0;       ///< GeV: sum of the jets' pt
  double missing = 0;  ///< GeV: missing transverse momentum
  double mt = 0;       ///< GeV: transverse mass of lepton and missing momentum, below 80 GeV for one W
};

/// Relative resolution of a jet's pt in GeV: noise, sampling and constant term in quadrature (20 % at 30 GeV, 10 % at
/// 100 GeV, 4 % at 1 TeV, much as CMS had it: arXiv:1607.03663).
double Resolution(double pt);

/// For each toy and jet a factor on the jet's pt: `factors[toy * jets + jet]`. They depend on the event's number only,
/// so results do not depend on which chunk an event is in, nor on who works on it.
void DrawFactors(const Event& event, std::size_t toys, std::vector<double>* factors);

/// The event with its jets' pt times `factors`, one each; missing momentum takes up the difference.
Observables Measure(const Event& event, const double* factors);

/// The event as it was measured.
Observables Measure(const Event& event);

}  // namespace jet_toys

#endif  // CREMA_EXAMPLES_COFFEA_DASK_JET_TOYS_H_
