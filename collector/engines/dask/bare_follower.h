// Follows a scheduler without crema's plug-in, by what every Dask scheduler tells.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_BARE_FOLLOWER_H_
#define CREMA_COLLECTOR_ENGINES_DASK_BARE_FOLLOWER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/engines/dask/event_stream.h"
#include "collector/engines/dask/event_sums.h"
#include "collector/engines/dask/stream_watch.h"
#include "collector/engines/http/http_connection.h"

namespace crema {

/// State by `/json/counts.json`, seconds by `/metrics`, finished tasks and workers by `/eventstream`. Not thread-safe.
class BareFollower {
 public:
  explicit BareFollower(const std::string& address);
  BareFollower(const BareFollower&) = delete;
  BareFollower& operator=(const BareFollower&) = delete;

  /// Asks, once a second, for what has changed: lines of a Dask log (docs/dask_log.md). Errors: nobody answers, or no
  /// Dask scheduler.
  absl::StatusOr<std::string> Ask(HttpConnection* scheduler);
  /// Reads the stream for about `limit`; connects where it is not connected, some seconds after the last time. False:
  /// it is not connected, and has returned at once.
  bool Listen(std::chrono::milliseconds limit);
  /// Nobody answers there any more.
  void Disconnect();

  /// What is missing, in one line for people.
  std::string Problem() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::string AskForSeconds(HttpConnection* scheduler, int64_t time_ns);
  std::string StreamProblem() const;

  std::string address_;
  EventStream stream_;
  EventSums sums_;
  const std::function<void(std::string_view)> on_message_ = [this](std::string_view text) { sums_.Add(text); };
  StreamWatch watch_;
  bool has_begun_ = false;
  std::string seconds_told_;    // the last line of them
  std::string stream_failure_;  // why it is not connected
  Clock::time_point seconds_at_;
  Clock::time_point connect_at_;
  Clock::time_point roll_call_until_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_BARE_FOLLOWER_H_
