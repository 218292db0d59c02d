#include "collector/server/live_worker.h"

#include <algorithm>

namespace crema {
namespace {

template <class Value>
Value& ValueOf(std::map<std::string, Value>& values, const std::string& name, size_t most) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  return values[values.size() + 1 < most ? name : "(other)"];
}

}  // namespace

void LiveScheduler::Add(const SchedulerFact& told, int64_t second) {
  counts_ = told.counts;
  is_there_ = told.is_there;
  stream_problem_ = told.problem;
  if (!stream_problem_.empty()) {
    streams_since_.reset();
  } else if (!streams_since_.has_value()) {
    streams_since_ = second;
    has_streamed_ = true;
  }
  for (const SchedulerFact::Finished& finished : told.finished) {
    SchedulerTasks& tasks = ValueOf(tasks_, finished.prefix, kMostPrefixes);
    tasks.finished += finished.tasks;
    tasks.compute_seconds += finished.compute_seconds;
    finished_ += finished.tasks;
    has_streamed_ = true;
    if (int64_t* bin = recent_.Find(second); bin != nullptr) *bin += finished.tasks;
  }
  for (const auto& [worker, finished] : told.finished_by_worker) {
    ValueOf(finished_by_worker_, worker, kMostWorkers) += std::max<int64_t>(0, finished);
  }
}

void LiveScheduler::SetComputeSeconds(const std::map<std::string, double>& by_prefix) {
  for (auto& [prefix, tasks] : tasks_) tasks.compute_seconds_in_all.reset();
  for (const auto& [prefix, seconds] : by_prefix) {
    SchedulerTasks& tasks = ValueOf(tasks_, prefix, kMostPrefixes);
    tasks.compute_seconds_in_all = tasks.compute_seconds_in_all.value_or(0) + seconds;
  }
}

std::optional<int64_t> LiveScheduler::count(const std::string& name) const {
  const auto found = counts_.find(name);
  return found == counts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> LiveScheduler::finished() const {
  return has_streamed_ ? std::optional(finished_) : std::nullopt;
}

std::optional<double> LiveScheduler::finished_rate(int64_t second) const {
  if (!streams_since_.has_value()) return std::nullopt;
  const int64_t seconds = std::min(kRecentSeconds, second - *streams_since_);
  if (seconds < 1) return std::nullopt;
  return static_cast<double>(recent_.Sum(second - seconds, second - 1)) / static_cast<double>(seconds);
}

}  // namespace crema
