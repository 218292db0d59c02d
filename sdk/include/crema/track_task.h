// TrackEvent, TrackTask and MarkReady: an event that goes from thread to thread, as task frameworks run it.
#ifndef CREMA_TRACK_TASK_H_
#define CREMA_TRACK_TASK_H_

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "crema/chunk.h"

namespace crema {
namespace internal {
struct EventSlot;
struct TaskFrame;
struct TaskModule;
}  // namespace internal

/// Refers to an open event from any thread. Cheap to copy; harmless when the event is over. The default one refers to
/// no event.
struct EventHandle {
  internal::EventSlot* slot = nullptr;
  std::uint32_t generation = 0;  ///< distinguishes the event from later ones in the same place
};

/// How an event is recorded: with two lines of its own, as a chunk, or only in sums.
enum class EventRecord : std::uint8_t { kLine, kSummed };
inline constexpr EventRecord kLine = EventRecord::kLine;
inline constexpr EventRecord kSummed = EventRecord::kSummed;

/// An event, a luminosity block or a time frame that no thread holds: it begins here, its tasks run on any threads, and
/// it ends where `End` is called or the guard is destroyed, on any thread. Its latency is divided into four parts: at
/// work, queued, external, and the rest, in which nothing was ready. Use `kSummed` for events that are shorter than
/// some milliseconds. The guard itself may move between threads; one thread at a time may use it. Never throws.
///
///     slot.event = crema::TrackEvent({"raw", file, entry, entry + 1}, crema::kSummed);
///     { crema::TrackTask task(slot.event.handle(), "source"); Read(); }
///     ...
///     slot.event.End();
class TrackEvent {
 public:
  TrackEvent() noexcept = default;  ///< no event
  explicit TrackEvent(const Chunk& chunk, EventRecord record = kLine) noexcept;
  TrackEvent(TrackEvent&& other) noexcept : handle_(std::exchange(other.handle_, EventHandle())) {}
  TrackEvent& operator=(TrackEvent&& other) noexcept {
    if (this == &other) return *this;
    End();
    handle_ = std::exchange(other.handle_, EventHandle());
    return *this;
  }
  ~TrackEvent() { End(); }

  /// The event is complete. A task that is still open is counted as misuse; its time stays in its module's row.
  void End() noexcept;
  EventHandle handle() const noexcept { return handle_; }
  /// How many events a block stands for. Unset means unknown, not none.
  template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
  void SetEvents(Count events) noexcept {
    SetEventCount(static_cast<std::int64_t>(events));
  }
  /// Adds bytes that were read from files, as stored there.
  template <class Bytes, class = std::enable_if_t<std::is_integral<Bytes>::value>>
  void AddBytesRead(Bytes stored) noexcept {
    AddBytes(static_cast<std::int64_t>(stored));
  }
  /// A note of the user's, for events with lines; the last value of a name wins.
  void SetAttribute(std::string_view name, std::string_view value) noexcept;
  /// Makes this a failed event, for this reason.
  void Fail(std::string_view reason) noexcept;

 private:
  void SetEventCount(std::int64_t events) noexcept;
  void AddBytes(std::int64_t stored) noexcept;

  EventHandle handle_;
};

/// What `MarkReady` noted, for the task that it was noted for.
struct Ready {
  std::int64_t time_ns = 0;                ///< CLOCK_MONOTONIC; 0: not noted
  std::uint64_t ran = 0;                   ///< for how long the module had run by then
  internal::TaskModule* module = nullptr;  ///< the module that is ready
  std::int32_t by = -1;                    ///< the event's task that noted it, if one did
};

/// From now on, a task of this name could run for the event. Give what it returns to the task, which then knows how
/// long it was queued. Optional: without it, this time counts as the rest of the event's latency.
Ready MarkReady(const EventHandle& event, std::string_view task) noexcept;

/// From here to the end of the scope, this thread works for the event, as the module `name`. With a handle of no event
/// it works for many events, as when it reads conditions. A task that a thread runs inside another one, of whichever
/// event, takes its time off the outer one, so each moment of a thread belongs to one task. It ends on its thread,
/// innermost first. Left by an exception, it failed. Never throws.
class TrackTask {
 public:
  TrackTask(const EventHandle& event, std::string_view name, const Ready& ready = Ready()) noexcept;
  ~TrackTask();
  TrackTask(const TrackTask&) = delete;
  TrackTask& operator=(const TrackTask&) = delete;

 private:
  [[maybe_unused]] internal::TaskFrame* frame_ = nullptr;  ///< null: not recorded
  [[maybe_unused]] std::uint64_t use_ = 0;                 ///< of the frame
};

/// The event that this thread works for, by the innermost task; of no event where it has none.
EventHandle CurrentHandle() noexcept;

#ifdef CREMA_COMPILED_OUT
inline TrackEvent::TrackEvent(const Chunk&, EventRecord) noexcept {}
inline void TrackEvent::End() noexcept {}
inline void TrackEvent::SetAttribute(std::string_view, std::string_view) noexcept {}
inline void TrackEvent::Fail(std::string_view) noexcept {}
inline void TrackEvent::SetEventCount(std::int64_t) noexcept {}
inline void TrackEvent::AddBytes(std::int64_t) noexcept {}
inline Ready MarkReady(const EventHandle&, std::string_view) noexcept { return {}; }
inline TrackTask::TrackTask(const EventHandle&, std::string_view, const Ready&) noexcept {}
inline TrackTask::~TrackTask() {}
inline EventHandle CurrentHandle() noexcept { return {}; }
#endif

}  // namespace crema

#endif  // CREMA_TRACK_TASK_H_
