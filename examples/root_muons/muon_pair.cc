#include "muon_pair.h"

#include <Math/Vector4D.h>

#include <cmath>
#include <cstddef>

namespace root_muons {

MuonPair BestPair(const ROOT::RVecF& pt, const ROOT::RVecF& eta, const ROOT::RVecF& phi, const ROOT::RVecF& mass,
                  const ROOT::RVecI& charge) {
  constexpr double kZMass = 91.1876;  // Particle Data Group
  MuonPair best;
  for (std::size_t i = 0; i < pt.size(); ++i) {
    const ROOT::Math::PtEtaPhiMVector first(pt[i], eta[i], phi[i], mass[i]);
    for (std::size_t j = i + 1; j < pt.size(); ++j) {
      if (charge[i] == charge[j]) continue;
      const auto pair = first + ROOT::Math::PtEtaPhiMVector(pt[j], eta[j], phi[j], mass[j]);
      if (std::abs(pair.M() - kZMass) < std::abs(best.mass - kZMass)) best = {pair.M(), pair.Pt()};
    }
  }
  return best;
}

}  // namespace root_muons
