// ClusterJets: anti-kt jets with their areas.
#ifndef CREMA_EXAMPLES_ZJETS_CLUSTERING_H_
#define CREMA_EXAMPLES_ZJETS_CLUSTERING_H_

#include <vector>

#include "examples/zjets/ghosts.h"
#include "examples/zjets/overlay.h"

namespace zjets {

struct Jet {
  double pt = 0;  ///< GeV
  double rapidity = 0;
  double phi = 0;
  double area = 0;             ///< in rapidity x azimuth; 0 without ghosts
  double signal_fraction = 0;  ///< of the scalar sum of its partons' pt, what is the hard event's
};

inline constexpr double kJetRadius = 0.4;

/// Makes FastJet quiet, and triggers the work of its first use. Call it once per process, before threads cluster: a
/// FastJet that was built without --enable-thread-safety (Debian's) keeps an unprotected "first time" flag for its
/// banner. Its other mutable statics count warnings of calls that are not made here, and belong to a random generator
/// that `Ghosts` does not use; ClusterSequence and PseudoJet share no state but with their own copies.
void PrepareFastJet();

/// Anti-kt jets (Cacciari, Salam, Soyez, arXiv:0802.1189) of R = 0.4 that hold at least one parton, in no order. Throws
/// std::runtime_error when FastJet does not like the momenta.
std::vector<Jet> ClusterJets(const std::vector<Parton>& partons, const Ghosts& ghosts);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_CLUSTERING_H_
