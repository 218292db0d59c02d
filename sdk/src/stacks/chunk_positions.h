// ChunkPositions: where in its chunks a thread was seen, and how much less its samples say if it was the same places.
#pragma once

#include <atomic>
#include <cstdint>

namespace crema {
namespace internal {

/// The kernel looks at timers of CPU time in its ticks only. If chunks keep step with the ticks, the thread is seen at
/// the same places of its chunks again and again. Every place has the same chance otherwise, so the places show it.
/// The thread and its handler call all but `Inflation`.
class ChunkPositions {
 public:
  /// CPU time in chunks begins at `cpu_ns` of the thread's CPU clock.
  void Begin(std::int64_t cpu_ns) noexcept;
  /// The thread was seen at `cpu_ns`, and went on at `after_ns`; the sighting stands for `samples`. Only those that
  /// came with the kernel's ticks can keep step with them.
  void Note(std::int64_t cpu_ns, std::int64_t after_ns, std::uint64_t samples, bool is_in_tick) noexcept;
  /// CPU time in chunks ends at `cpu_ns`.
  void End(std::int64_t cpu_ns) noexcept;
  /// By how much the squares of the sightings' samples are to grow, so that the error that follows from them covers
  /// the truth: 1 if the places are what chance gives. Any thread may call it.
  double Inflation() const noexcept;

 private:
  static constexpr int kParts = 8;  ///< of a chunk
  /// A chunk that is seen more often is longer than many ticks, and cannot keep step with them.
  static constexpr int kMostSeen = 16;
  /// In shorter ones the 10 us in which the kernel calls the handler look like places that are never seen.
  static constexpr std::int64_t kLeastNanoseconds = 500'000;
  struct Seen {
    std::int64_t at_ns = 0;
    std::uint64_t samples = 0;
  };
  using Sum = std::atomic<std::uint64_t>;  // only the thread changes it
  static void Add(Sum* sum, std::uint64_t value) noexcept;

  std::int64_t begin_ns_ = 0;  ///< later by what the handler took since
  int seen_count_ = 0;
  Seen seen_[kMostSeen];
  Sum samples_[kParts] = {};
  Sum squares_{0};      ///< of what is in `samples_`
  Sum all_squares_{0};  ///< of long chunks, too
};

}  // namespace internal
}  // namespace crema
