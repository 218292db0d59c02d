#include "stacks/chunk_positions.h"

#include <algorithm>

namespace crema {
namespace internal {

void ChunkPositions::Add(Sum* sum, std::uint64_t value) noexcept {
  sum->store(sum->load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

void ChunkPositions::Begin(std::int64_t cpu_ns) noexcept {
  begin_ns_ = cpu_ns;
  seen_count_ = 0;
}

void ChunkPositions::Note(std::int64_t cpu_ns, std::int64_t after_ns, std::uint64_t samples, bool is_in_tick) noexcept {
  if (is_in_tick && seen_count_ < kMostSeen) seen_[seen_count_] = {cpu_ns - begin_ns_, samples};
  if (is_in_tick) ++seen_count_;
  begin_ns_ += after_ns - cpu_ns;
  Add(&all_squares_, samples * samples);
}

void ChunkPositions::End(std::int64_t cpu_ns) noexcept {
  const std::int64_t length_ns = cpu_ns - begin_ns_;
  if (seen_count_ > kMostSeen || length_ns < kLeastNanoseconds) return;
  for (int i = 0; i < seen_count_; ++i) {
    const std::int64_t part = std::clamp<std::int64_t>(seen_[i].at_ns * kParts / length_ns, 0, kParts - 1);
    Add(&samples_[part], seen_[i].samples);
    Add(&squares_, seen_[i].samples * seen_[i].samples);
  }
}

double ChunkPositions::Inflation() const noexcept {
  // Pearson's chi squared of the parts, of which all have the same chance. By chance it is kParts - 1 in the mean, and
  // above kByChance in one of 20 cases. A share f is off by at most sqrt(f (1 - f) chi^2 / n) (Cauchy and Schwarz); so
  // where the error is 1.96 sqrt(f (1 - f) / n), n is to be smaller by chi^2 / 1.96^2.
  constexpr double kByChance = 14.07;
  constexpr double kQuantileSquared = 1.96 * 1.96;
  constexpr double kTwoWritings = 2;  // at the same places: their errors add up, and their sightings say they do not
  const auto squares = static_cast<double>(squares_.load(std::memory_order_relaxed));
  const auto all_squares = static_cast<double>(all_squares_.load(std::memory_order_relaxed));
  double samples = 0;
  double parts_squared = 0;
  for (const Sum& sum : samples_) {
    const auto part = static_cast<double>(sum.load(std::memory_order_relaxed));
    samples += part;
    parts_squared += part * part;
  }
  if (samples == 0) return 1;
  const double chi_squared = (kParts * parts_squared - samples * samples) / squares;
  if (chi_squared <= kByChance) return 1;
  return 1 + squares / all_squares * kTwoWritings * (chi_squared - (kParts - 1)) / kQuantileSquared;
}

}  // namespace internal
}  // namespace crema
