// ChunkSums: what chunks came to that have no line of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "log/json_line.h"

namespace crema {
namespace internal {

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
  /// Adds a chunk whose line could not be written.
  void Add(Recorder* recorder, ChunkState* state, const ChunkEnd& end) noexcept;
  /// Writes what has changed: 10 s after the last time as long as the log has half of its room left, then less often.
  void WriteWhenDue(Recorder* recorder, LogFile* log, std::int64_t now_ns) noexcept;
  /// Writes what has changed, before the log's end whatever room is left. What cannot be written then is lost.
  void WriteLast(Recorder* recorder, LogFile* log) noexcept;
  /// Whether `WriteWhenDue` would write.
  bool IsDue(std::int64_t now_ns) const noexcept;

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
  Row* Find(const IdentityParts& parts, bool failed) noexcept;
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

}  // namespace internal
}  // namespace crema
