#include "examples/zjets/pileup_subtraction.h"

#include <algorithm>
#include <cmath>

namespace zjets {

double PileupDensity(const std::vector<Jet>& jets) {
  constexpr double kMaxRapidity = kGhostMaxRapidity - kJetRadius;
  constexpr double kTotalArea = 2 * kMaxRapidity * 2 * M_PI;
  std::vector<double> densities;
  double occupied_area = 0;
  for (const Jet& jet : jets) {
    if (jet.area <= 0 || std::fabs(jet.rapidity) > kMaxRapidity) continue;
    densities.push_back(jet.pt / jet.area);
    occupied_area += jet.area;
  }
  if (densities.empty()) return 0;
  const auto middle = densities.begin() + static_cast<std::ptrdiff_t>(densities.size() / 2);
  std::nth_element(densities.begin(), middle, densities.end());
  return *middle * std::min(1.0, occupied_area / kTotalArea);
}

void SubtractPileup(double density, std::vector<Jet>* jets) {
  for (Jet& jet : *jets) jet.pt -= density * jet.area;
  jets->erase(std::remove_if(jets->begin(), jets->end(), [](const Jet& jet) { return jet.pt <= 0; }), jets->end());
}

}  // namespace zjets
