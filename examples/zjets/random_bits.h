// MixBits: random-looking bits of a number.
#ifndef CREMA_EXAMPLES_ZJETS_RANDOM_BITS_H_
#define CREMA_EXAMPLES_ZJETS_RANDOM_BITS_H_

#include <cstdint>

namespace zjets {

/// The output function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the same on every machine, unlike the
/// distributions of <random>, and without a state that threads would have to share.
constexpr std::uint64_t MixBits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Evenly in [0, 1).
constexpr double UnitInterval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_RANDOM_BITS_H_
