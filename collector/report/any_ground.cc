#include "collector/report/any_ground.h"

#include <array>
#include <cmath>
#include <cstdlib>

#include "collector/appearance/colours.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Rgb = std::array<double, 3>;  // 0 to 255

/// WCAG 2.2, "relative luminance": the contrast to white and to a grey of 17 is 4.4 there.
constexpr double kBetweenWhiteAndDark = 0.19;
constexpr int kSteps = 10;

Rgb RgbOf(std::string_view hex) {
  Rgb rgb = {};
  for (size_t i = 0; i < rgb.size(); ++i) rgb[i] = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16);
  return rgb;
}

double Luminance(const Rgb& rgb) {
  constexpr Rgb kWeights = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (size_t i = 0; i < rgb.size(); ++i) {
    const double value = rgb[i] / 255;
    sum += kWeights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

}  // namespace

std::string ColourOnAnyGround(std::string_view name) {
  for (const Colour& colour : Colours()) {
    if (colour.name != name) continue;
    const Rgb light = RgbOf(colour.light), dark = RgbOf(colour.dark);
    Rgb nearest = light;
    for (int step = 1; step <= kSteps; ++step) {
      Rgb mixed = {};
      for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = light[i] + (dark[i] - light[i]) * step / kSteps;
      const auto distance = [](const Rgb& rgb) { return std::fabs(Luminance(rgb) - kBetweenWhiteAndDark); };
      if (distance(mixed) < distance(nearest)) nearest = mixed;
    }
    return fmt::format("#{:02x}{:02x}{:02x}", std::lround(nearest[0]), std::lround(nearest[1]),
                       std::lround(nearest[2]));
  }
  std::abort();  // a name that is not in the table is a mistake here, which every test of the fragment would meet
}

}  // namespace crema
