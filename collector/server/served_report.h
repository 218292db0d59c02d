// The report of a run, or of what there is of it so far: written when it is asked for, on a thread of its own, and kept
// until there are more records.
#ifndef CREMA_COLLECTOR_SERVER_SERVED_REPORT_H_
#define CREMA_COLLECTOR_SERVER_SERVED_REPORT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/server/live_reply.h"

namespace crema {

class ServedReport {
 public:
  /// Makes the page of the run of that id. Called on another thread, never twice at once.
  using Write = std::function<absl::StatusOr<std::string>(const std::string& run_id)>;

  explicit ServedReport(Write write);
  /// Waits for a page that is being written.
  ~ServedReport() = default;

  /// The page; 202 with a page that asks again while it is being written; 500 with the reason where it cannot be. It
  /// is written anew when there are other `records` than the last time.
  LiveReply Answer(const std::string& run_id, int64_t records);

  bool is_writing() const {
    return writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }

 private:
  void Begin(const std::string& run_id, int64_t records);

  Write write_;
  int64_t records_ = -1;  ///< that there were when the last one was begun
  std::optional<absl::StatusOr<std::string>> page_;
  std::future<absl::StatusOr<std::string>> writing_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_SERVED_REPORT_H_
