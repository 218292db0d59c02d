#include "examples/zjets/ghosts.h"

#include <cmath>

#include "examples/zjets/random_bits.h"

namespace zjets {

Ghosts MakeGhosts(double area) {
  constexpr double kGhostPt = 1e-100;
  const double side = std::sqrt(area);
  const int rows = static_cast<int>(std::ceil(2 * kGhostMaxRapidity / side));
  const int columns = static_cast<int>(std::ceil(2 * M_PI / side));
  const double height = 2 * kGhostMaxRapidity / rows;
  const double width = 2 * M_PI / columns;
  Ghosts ghosts;
  ghosts.area = height * width;
  std::uint64_t draw = 0;
  // anywhere in its cell: equal distances on a strict grid would leave the order of clustering to rounding
  const auto random = [&draw] { return UnitInterval(MixBits(draw++)); };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const double rapidity = -kGhostMaxRapidity + (row + random()) * height;
      const double phi = (column + random()) * width;
      ghosts.particles.push_back(fastjet::PtYPhiM(kGhostPt * (1 + 0.1 * random()), rapidity, phi));
    }
  }
  return ghosts;
}

}  // namespace zjets
