// Finds out that another program has taken a scheduler's `/eventstream` over: nobody says so.
#ifndef CREMA_COLLECTOR_SOURCES_DASK_STREAM_WATCH_H_
#define CREMA_COLLECTOR_SOURCES_DASK_STREAM_WATCH_H_

#include <cstdint>

namespace crema {

/// Tasks finish, by the seconds that the scheduler counts, and the stream tells nothing: twice in a row, for what the
/// one says may be a moment ahead of the other.
class StreamWatch {
 public:
  /// The scheduler's seconds and the stream's messages so far, looked at together every few seconds.
  void Look(double compute_seconds, int64_t messages) {
    if (messages_ != messages) silent_ = 0;
    if (messages_ == messages && compute_seconds > compute_seconds_) ++silent_;
    compute_seconds_ = compute_seconds;
    messages_ = messages;
  }
  /// It was connected anew.
  void Begin() {
    messages_ = kNothing;
    silent_ = 0;
  }
  bool is_taken() const { return silent_ >= 2; }

 private:
  static constexpr int64_t kNothing = -1;

  int64_t messages_ = kNothing;
  double compute_seconds_ = 0;
  int silent_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_DASK_STREAM_WATCH_H_
