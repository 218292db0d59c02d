// TrackRequest and RecordRequest: what was asked of storage, by server and operation.
#ifndef CREMA_TRACK_REQUEST_H_
#define CREMA_TRACK_REQUEST_H_

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace crema {
struct EventHandle;
namespace internal {
struct EventSlot;
struct OpenWork;
struct TaskModule;
}  // namespace internal

/// Adds one request that was timed elsewhere to the chunk that this thread works for: `bytes` that it moved, as the
/// server sent or took them (negative: not known, counts as none), `nanoseconds` that it took, and whether it failed. A
/// chunk distinguishes 64 pairs of server and operation; the requests of all others are in one row, `(other)`. Outside
/// a chunk, or with a negative time, it is counted as dropped. Never throws.
void RecordRequest(std::string_view server, std::string_view operation, std::int64_t bytes, std::int64_t nanoseconds,
                   bool failed = false) noexcept;

/// One request to storage, from here to the end of the scope: its wall time, and what the caller says of its bytes, go
/// to the row of this server (or mount) and operation in the chunk that this thread works for. Requests may overlap and
/// nest: their times add up, and are not part of a section's. Left by an exception, it failed. It ends on the thread
/// that began it, inside its chunk; otherwise it is not recorded, and counted as misuse. A request that was waited for
/// elsewhere is recorded by `RecordRequest`. Never throws.
///
/// A request of an event (`TrackEvent`) belongs to no thread: it may move, and end on any thread. Until then the event
/// waits for something outside, such as a GPU or an inference server.
///
///     crema::TrackRequest request("root://eos.example.org", "readv");
///     request.AddBytes(file.ReadV(ranges));
class TrackRequest {
 public:
  TrackRequest(std::string_view server, std::string_view operation) noexcept;
  template <class Bytes, class = std::enable_if_t<std::is_integral<Bytes>::value>>
  TrackRequest(std::string_view server, std::string_view operation, Bytes bytes) noexcept
      : TrackRequest(server, operation) {
    AddBytes(bytes);
  }
  TrackRequest() noexcept = default;  ///< no request
  TrackRequest(const EventHandle& event, std::string_view server, std::string_view operation) noexcept;
  TrackRequest(TrackRequest&& other) noexcept { Take(other); }
  TrackRequest& operator=(TrackRequest&& other) noexcept {
    if (this == &other) return *this;
    End();
    Take(other);
    return *this;
  }
  ~TrackRequest() { End(); }

  /// Bytes that it moved. Negative ones, as of a read that failed, count as none.
  template <class Bytes, class = std::enable_if_t<std::is_integral<Bytes>::value>>
  void AddBytes(Bytes bytes) noexcept {
    if (static_cast<std::int64_t>(bytes) > 0) bytes_ += static_cast<std::int64_t>(bytes);
  }
  /// Marks it as failed.
  void Fail() noexcept { failed_ = true; }
  /// Ends it before its scope does.
  void End() noexcept;

 private:
  void Take(TrackRequest& other) noexcept {
    frame_ = std::exchange(other.frame_, nullptr);
    event_ = std::exchange(other.event_, nullptr);
    module_ = other.module_;
    use_ = other.use_;
    start_ns_ = other.start_ns_;
    bytes_ = std::exchange(other.bytes_, 0);
    row_ = other.row_;
    uncaught_exceptions_ = other.uncaught_exceptions_;
    failed_ = std::exchange(other.failed_, false);
  }

  [[maybe_unused]] internal::OpenWork* frame_ = nullptr;  ///< null: not recorded
  internal::EventSlot* event_ = nullptr;                  ///< null: a request of the thread's chunk
  internal::TaskModule* module_ = nullptr;                ///< where there is an event, as `row_`, which is a node of it
  [[maybe_unused]] std::uint64_t use_ = 0;                ///< of the frame
  [[maybe_unused]] std::int64_t start_ns_ = 0;
  std::int64_t bytes_ = 0;
  [[maybe_unused]] int row_ = -1;
  [[maybe_unused]] std::uint32_t uncaught_exceptions_ = 0;
  bool failed_ = false;
};

#ifdef CREMA_COMPILED_OUT
inline void RecordRequest(std::string_view, std::string_view, std::int64_t, std::int64_t, bool) noexcept {}
inline TrackRequest::TrackRequest(std::string_view, std::string_view) noexcept {}
inline TrackRequest::TrackRequest(const EventHandle&, std::string_view, std::string_view) noexcept {}
inline void TrackRequest::End() noexcept {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_REQUEST_H_
