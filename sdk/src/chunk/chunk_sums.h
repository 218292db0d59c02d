// ChunkSums: what chunks came to that have no line of their own. ValueSketch: how often values of about one size came.
#pragma once

#include <mutex>

#include "log/json_line.h"
#include "storage/arena.h"

namespace crema::internal {

/// Counts of values in buckets that are given by the sign, the exponent and the first 6 bits of the mantissa: 64 equal
/// ones between successive powers of two. Beyond 256 buckets, or where there is no room for more, two and two become
/// one, so that no value is lost. Plain data, which lives as long as what was taken from the arena.
class ValueSketch {
 public:
  static constexpr std::size_t kMostBuckets = 256;
  static constexpr std::size_t kLongestBucket = 28;  ///< of an encoded one, in bytes

  /// Adds a finite value `times` times. `*room`: bytes that may still be taken from the arena. False: there was no
  /// memory at all, and the sketch stays empty.
  bool Add(double value, std::uint64_t times, Arena* arena, std::size_t* room) noexcept {
    const std::uint64_t bucket = FinestBucket(value);
    if (capacity_ != 0) {
      // Nearly always the bucket is known, and in the first or second place where it may be. Which one is not a branch:
      // values come in no order, and the processor would guess wrong.
      const std::uint64_t wanted = Coarser(bucket, shift_);
      const std::uint32_t first = FirstPlace(wanted);
      const auto next = static_cast<std::uint32_t>(slots_[first] >> kCountBits != wanted);
      if (std::uint64_t& slot = slots_[(first + next) & (capacity_ - 1)]; slot != 0 && slot >> kCountBits == wanted) {
        slot += times;
        return true;
      }
    }
    return AddBucket(bucket, times, arena, room);
  }
  bool Merge(const ValueSketch& other, Arena* arena, std::size_t* room) noexcept;

  bool empty() const noexcept { return used_ == 0; }
  std::size_t buckets() const noexcept { return used_; }
  /// `[bucket,count,…]` by growing bucket.
  void Append(JsonLine* line) const noexcept;
  /// By how many bits buckets are coarser than described above.
  int shift() const noexcept { return shift_; }

 private:
  // A slot is empty (0), or the bucket above `kCountBits` bits of its count. Sign and 17 bits of magnitude.
  static constexpr int kCountBits = 46;
  static constexpr std::uint64_t kCounts = (std::uint64_t{1} << kCountBits) - 1;
  static constexpr std::uint64_t kSign = std::uint64_t{1} << 17;
  static constexpr std::size_t kSlots = 2 * kMostBuckets;

  bool AddBucket(std::uint64_t bucket, std::uint64_t times, Arena* arena, std::size_t* room) noexcept;
  static std::uint64_t Coarser(std::uint64_t bucket, int bits) noexcept {
    const std::uint64_t magnitude = (bucket & (kSign - 1)) >> bits;
    return magnitude == 0 ? 0 : magnitude | (bucket & kSign);  // what is about zero has no sign
  }
  static std::uint64_t FinestBucket(double value) noexcept {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return Coarser(bits >> kCountBits, 0);
  }
  std::uint32_t FirstPlace(std::uint64_t bucket) const noexcept {
    // The highest bits of a product depend on all bits of the bucket (Knuth, 6.4).
    return static_cast<std::uint32_t>((bucket * 0x9E3779B97F4A7C15u >> 32) * capacity_ >> 32);
  }
  std::uint64_t* SlotOf(std::uint64_t bucket) const noexcept;
  bool MakeRoom(Arena* arena, std::size_t* room) noexcept;
  /// Puts all into these slots, which are empty and may be the same, with buckets coarser by `bits`.
  void MoveTo(std::uint64_t* slots, std::uint32_t capacity, int bits) noexcept;

  std::uint64_t* slots_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint16_t used_ = 0;
  std::uint16_t shift_ = 0;
};

struct ChunkEnd;
struct ChunkState;
struct IdentityParts;
class LogFile;
struct Recorder;

/// Sums by dataset, file, pass and status. Each is written as a `sums` line with all that it has come to since the
/// process began, so that the last line of each counts. Beyond the rows that the log has room for, files and then
/// datasets go into a row called `(other)`. Any thread may call it; a chunk takes its lock once.
class ChunkSums {
 public:
  static constexpr std::int64_t kIntervalNanoseconds = 10000000000;  ///< while the log has half of its room left
  /// Adds a chunk whose line could not be written.
  void Add(Recorder* recorder, ChunkState* state, const ChunkEnd& end) noexcept;
  /// Writes what has changed; it is due again after `kIntervalNanoseconds`, or later where the log has less room left.
  void WriteWhenDue(Recorder* recorder, LogFile* log, std::int64_t now_ns) noexcept;
  /// Writes what has changed, before the log's end whatever room is left. What cannot be written then is lost.
  void WriteLast(Recorder* recorder, LogFile* log) noexcept { Write(recorder, log, MonotonicNanoseconds(), true); }
  /// Whether `WriteWhenDue` would write.
  bool IsDue(std::int64_t now_ns) const noexcept {
    return changed_.load(std::memory_order_relaxed) && now_ns >= next_write_ns_.load(std::memory_order_relaxed);
  }

  std::uint64_t chunks() const noexcept { return chunks_.load(std::memory_order_relaxed); }
  /// Chunks for which there was no memory, or at the end no room.
  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// Those of them that the disk did not take; for the others there was no memory.
  std::uint64_t unwritten() const noexcept { return unwritten_.load(std::memory_order_relaxed); }

 private:
  struct Row;
  static constexpr std::size_t kMostRows = 1000;
  static constexpr std::size_t kMostBegun = 1000;

  Row* FindOrAdd(const Recorder& recorder, const ChunkState& state) noexcept;
  /// Null where there are `most` rows, and none is this one.
  Row* FindOrAdd(const IdentityParts& parts, bool failed, std::uint64_t most) noexcept;
  Row* New(const IdentityParts& parts, bool failed) noexcept;
  void Write(Recorder* recorder, LogFile* log, std::int64_t now_ns, bool is_last) noexcept;
  void Encode(const Recorder& recorder, Row* row, std::int64_t now_ns) noexcept;

  std::mutex mutex_;
  Row* first_ = nullptr;
  Row* last_ = nullptr;
  Row* expected_ = nullptr;  ///< the one found last
  std::size_t size_ = 0;
  JsonLine line_;
  std::uint32_t times_made_anew_ = 0;  ///< the log, when rows were written last
  std::atomic<std::int64_t> next_write_ns_{0};
  std::atomic<bool> changed_{false};
  std::atomic<std::uint64_t> chunks_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> unwritten_{0};
};

}  // namespace crema::internal
