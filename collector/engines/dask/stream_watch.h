// Judges a scheduler's `/eventstream` that tells nothing: another program may have taken it over, and nobody says so.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_STREAM_WATCH_H_
#define CREMA_COLLECTOR_ENGINES_DASK_STREAM_WATCH_H_

#include <algorithm>
#include <cstdint>

namespace crema {

/// Whether silence means that no task finishes. Times are seconds on a clock that never jumps.
class StreamWatch {
 public:
  /// A silence is believed so long, or twice as long as the longest that had an end.
  static constexpr double kLeastDoubt = 10;

  /// It is connected.
  void Begin(double now) {
    *this = StreamWatch();
    believed_at_ = now;
  }
  /// Once a second: how many messages there were so far, and whether there are tasks that could finish.
  void Look(double now, int64_t messages, bool is_busy) {
    if (messages > messages_) {
      longest_ = std::max(longest_, now - believed_at_);
      untold_ = 0;
    }
    if (messages > messages_ || !is_busy) believed_at_ = now;
    messages_ = messages;
  }
  /// Every few seconds, where the scheduler tells it: the seconds that its finished tasks have computed.
  void LookAtSeconds(double now, int64_t messages, double compute_seconds) {
    Look(now, messages, /*is_busy=*/true);
    const bool is_silent = messages_at_seconds_ == messages_;
    if (is_silent && compute_seconds > compute_seconds_) ++untold_;
    if (is_silent && compute_seconds == compute_seconds_) believed_at_ = now;  // indeed, none has finished
    compute_seconds_ = compute_seconds;
    messages_at_seconds_ = messages_;
  }
  /// Tasks have finished of which it did not tell. Twice in a row, for one answer may be a moment ahead of the other.
  bool is_taken() const { return untold_ >= 2; }
  /// Tasks take longer than any before, or it is taken.
  bool is_doubtful(double now) const { return silent_seconds(now) > std::max(kLeastDoubt, 2 * longest_); }
  double silent_seconds(double now) const { return now - believed_at_; }

 private:
  int64_t messages_ = 0;
  double believed_at_ = 0;
  double longest_ = 0;
  int64_t messages_at_seconds_ = -1;
  double compute_seconds_ = 0;
  int untold_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_STREAM_WATCH_H_
