// Pile-up subtraction: taking from each jet what pile-up added on average.
#ifndef CREMA_EXAMPLES_ZJETS_PILEUP_SUBTRACTION_H_
#define CREMA_EXAMPLES_ZJETS_PILEUP_SUBTRACTION_H_

#include <vector>

#include "examples/zjets/clustering.h"

namespace zjets {

/// The transverse momentum per unit area, GeV, that pile-up lays over the event: the median of pt/area over the jets
/// (Cacciari, Salam, arXiv:0707.1378) times the share of the area that jets take up, without which the median is
/// nothing like the mean in events with gaps (CMS, arXiv:1207.2392). Counts jets whose ghosts are all there. 0 when no
/// jet has an area.
double PileupDensity(const std::vector<Jet>& jets);

/// Lowers each jet's pt by density x area, and removes jets that had no more than that.
void SubtractPileup(double density, std::vector<Jet>* jets);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_PILEUP_SUBTRACTION_H_
