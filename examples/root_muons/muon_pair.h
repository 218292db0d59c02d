// The pair of muons that looks most like a Z boson.
#ifndef CREMA_EXAMPLES_ROOT_MUONS_MUON_PAIR_H_
#define CREMA_EXAMPLES_ROOT_MUONS_MUON_PAIR_H_

#include <ROOT/RVec.hxx>

namespace root_muons {

/// In GeV. A mass of 0: there is no pair.
struct MuonPair {
  double mass = 0;
  double pt = 0;
};

/// The pair of opposite charge with the mass nearest to the Z boson's. All arrays have the same size.
MuonPair BestPair(const ROOT::RVecF& pt, const ROOT::RVecF& eta, const ROOT::RVecF& phi, const ROOT::RVecF& mass,
                  const ROOT::RVecI& charge);

}  // namespace root_muons

#endif  // CREMA_EXAMPLES_ROOT_MUONS_MUON_PAIR_H_
