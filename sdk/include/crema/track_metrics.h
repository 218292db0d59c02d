// TrackMetrics: one chunk of work, one record.
#ifndef CREMA_TRACK_METRICS_H_
#define CREMA_TRACK_METRICS_H_

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "crema/chunk.h"
#include "crema/internal/section_node.h"

namespace crema {
namespace internal {
struct ChunkState;
}  // namespace internal

/// Refers to an open chunk from another thread (see `TrackHelper`). Cheap to copy; harmless when the chunk is over.
struct ChunkHandle {
  internal::ChunkState* state = nullptr;
  std::uint64_t generation = 0;                    ///< distinguishes the chunk from later ones in the same place
  const internal::SectionNode* section = nullptr;  ///< the section that was open where the handle was taken
};

/// The chunk, until the end of the scope: wall and CPU time, time spent runnable without a CPU, RSS, bytes read,
/// sections and metrics go into one line of the record log. A `begin` line is written at once, so that an attempt whose
/// process dies is known. Left by an exception, the attempt is `failed`. Belongs to the thread that made it, unless it
/// is suspended; never throws.
///
///     crema::TrackMetrics chunk({dataset, file, first, last});
///     ...
///     chunk.SetEvents(events.size());
///
/// Inside another chunk of its thread it is a section `(chunk)` of that chunk, which gets its data, if it has the same
/// identity or names no file and no range. With another identity it is a chunk of its own, whose CPU time is not the
/// outer's.
class TrackMetrics {
 public:
  explicit TrackMetrics(const Chunk& chunk) noexcept;
  ~TrackMetrics();
  TrackMetrics(const TrackMetrics&) = delete;
  TrackMetrics& operator=(const TrackMetrics&) = delete;

  /// How many events the chunk processed. Unset means unknown, not none.
  template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
  void SetEvents(Count events) noexcept {
    SetEventCount(static_cast<std::int64_t>(events));
  }
  /// Adds bytes that were read from files, as stored there, and as they are once decompressed.
  template <class Stored, class Uncompressed = std::int64_t,
            class = std::enable_if_t<std::is_integral<Stored>::value && std::is_integral<Uncompressed>::value>>
  void AddBytesRead(Stored stored, Uncompressed uncompressed = kUnknown) noexcept {
    AddBytes(static_cast<std::int64_t>(stored), static_cast<std::int64_t>(uncompressed));
  }
  /// Adds the name of a column (branch, field) that was read; each name counts once.
  void AddColumn(std::string_view name) noexcept;
  /// Adds all names of a container of texts: `chunk.AddColumns({"Muon_pt", "Muon_eta"})`.
  template <class Names = std::initializer_list<std::string_view>>
  void AddColumns(const Names& names) noexcept {
    for (const auto& name : names) AddColumn(name);
  }
  /// What the chunk's file holds in all: its number of branches, its bytes uncompressed, and as stored. So the
  /// collector can say which share was read. Written once per file and process.
  template <class Branches, class Bytes, class Stored = std::int64_t,
            class = std::enable_if_t<std::is_integral<Branches>::value && std::is_integral<Bytes>::value &&
                                     std::is_integral<Stored>::value>>
  void SetFileInfo(Branches branches, Bytes bytes, Stored compressed_bytes = kUnknown) noexcept {
    WriteFileInfo(static_cast<std::int64_t>(branches), static_cast<std::int64_t>(bytes),
                  static_cast<std::int64_t>(compressed_bytes));
  }
  /// A note of the user's; the last value of a name wins.
  void SetAttribute(std::string_view name, std::string_view value) noexcept;
  /// Makes this a failed attempt, for this reason.
  void Fail(std::string_view reason) noexcept;
  /// For coroutines and fibres: the chunk leaves its thread, which may work for others, and goes on, with the sections
  /// that are open inside it, where `Resume` is called, on that thread or another. `Suspend` belongs right before the
  /// point at which the coroutine may be suspended, `Resume` right behind it. No other chunk may be open inside it. Its
  /// duration, its CPU time and the times of its sections exclude the time in between, which is `suspended_ns`.
  ///
  ///     chunk.Suspend();
  ///     co_await data;
  ///     chunk.Resume();
  void Suspend() noexcept;
  void Resume() noexcept;
  /// For helper threads: see `TrackHelper`. Call it on the chunk's own thread.
  ChunkHandle handle() const noexcept;

 private:
  static constexpr std::int64_t kUnknown = -1;
  void SetEventCount(std::int64_t events) noexcept;
  void AddBytes(std::int64_t stored, std::int64_t uncompressed) noexcept;
  void WriteFileInfo(std::int64_t branches, std::int64_t bytes, std::int64_t compressed_bytes) noexcept;
  internal::ChunkState* Data() const noexcept;

  [[maybe_unused]] internal::ChunkState* state_ = nullptr;  ///< null: not recorded
  [[maybe_unused]] std::uint64_t generation_ = 0;
  internal::OpenSection nested_;  ///< set when this is a chunk inside a chunk
};

/// Adds to the chunk that this thread works for, its own or the one it helps; nothing where there is none.
void AddBytesRead(std::int64_t stored) noexcept;
void AddBytesRead(std::int64_t stored, std::int64_t uncompressed) noexcept;
/// As `TrackMetrics::SetAttribute`, for the chunk that this thread works for.
void SetAttribute(std::string_view name, std::string_view value) noexcept;

/// Runs `function(chunk)` as a chunk. What it throws is noted as the attempt's reason and goes on to the caller.
template <class Function>
decltype(auto) RunChunk(const Chunk& chunk, Function&& function) {
  TrackMetrics guard(chunk);
#if defined(__cpp_exceptions)
  try {
    return std::forward<Function>(function)(guard);
  } catch (const std::exception& error) {
    guard.Fail(error.what());
    throw;
  }
#else
  return std::forward<Function>(function)(guard);
#endif
}

#ifdef CREMA_COMPILED_OUT
inline TrackMetrics::TrackMetrics(const Chunk&) noexcept {}
inline TrackMetrics::~TrackMetrics() {}
inline void TrackMetrics::SetAttribute(std::string_view, std::string_view) noexcept {}
inline void TrackMetrics::Fail(std::string_view) noexcept {}
inline void TrackMetrics::Suspend() noexcept {}
inline void TrackMetrics::Resume() noexcept {}
inline ChunkHandle TrackMetrics::handle() const noexcept { return {}; }
inline void TrackMetrics::SetEventCount(std::int64_t) noexcept {}
inline void TrackMetrics::AddBytes(std::int64_t, std::int64_t) noexcept {}
inline void TrackMetrics::AddColumn(std::string_view) noexcept {}
inline void TrackMetrics::WriteFileInfo(std::int64_t, std::int64_t, std::int64_t) noexcept {}
inline void AddBytesRead(std::int64_t) noexcept {}
inline void AddBytesRead(std::int64_t, std::int64_t) noexcept {}
inline void SetAttribute(std::string_view, std::string_view) noexcept {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_METRICS_H_
