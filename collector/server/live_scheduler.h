// What a scheduler tells of itself while it is followed, where its workers tell nothing.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_SCHEDULER_H_
#define CREMA_COLLECTOR_SERVER_LIVE_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collector/records/cluster_facts.h"
#include "collector/server/live_worker.h"
#include "collector/server/recent_seconds.h"

namespace crema {

/// Tasks of one prefix.
struct SchedulerTasks {
  int64_t finished = 0;  ///< since it is followed
  double compute_seconds = 0;
  std::optional<double> compute_seconds_in_all;  ///< since the scheduler began; nullopt: it does not tell
};

/// Of the tasks that finish it knows what it was told.
class LiveScheduler {
 public:
  static constexpr size_t kMostPrefixes = 1000;
  static constexpr size_t kMostWorkers = 10'000;

  explicit LiveScheduler(int64_t since_ns) : since_ns_(since_ns) {}

  /// `second` as of `LiveModel`.
  void Add(const SchedulerFact& told, int64_t second);
  /// Since it began, by prefix.
  void SetComputeSeconds(const std::map<std::string, double>& by_prefix);

  /// When it was first heard of.
  int64_t since_ns() const { return since_ns_; }
  /// One of its own numbers, such as `workers`; nullopt: it does not tell.
  std::optional<int64_t> count(const std::string& name) const;
  const std::map<std::string, int64_t>& counts() const { return counts_; }
  /// It is known to live, and has tasks that have not ended.
  bool is_at_work() const { return is_there_ && has_tasks(); }
  bool has_tasks() const { return count("tasks").value_or(0) > 0; }
  /// Why finished tasks are not told at present; empty: they are.
  const std::string& stream_problem() const { return stream_problem_; }
  /// Since it is followed, as far as they were told; nullopt: none was ever told of.
  std::optional<int64_t> finished() const;
  /// Per second over the last ones, up to 30; nullopt: they are not told, or not yet for a whole second.
  std::optional<double> finished_rate(int64_t second) const;
  const std::map<std::string, SchedulerTasks>& tasks() const { return tasks_; }
  /// Finished tasks by the worker's address.
  const std::map<std::string, int64_t>& finished_by_worker() const { return finished_by_worker_; }

 private:
  int64_t since_ns_;
  std::map<std::string, int64_t> counts_;
  bool is_there_ = false;
  std::string stream_problem_ = "nothing was told yet";
  std::optional<int64_t> streams_since_;  // the second from which on its stream is read without a gap
  bool has_streamed_ = false;
  int64_t finished_ = 0;
  std::map<std::string, SchedulerTasks> tasks_;
  std::map<std::string, int64_t> finished_by_worker_;
  RecentSeconds<int64_t, kRecentSeconds + 2> recent_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_SCHEDULER_H_
