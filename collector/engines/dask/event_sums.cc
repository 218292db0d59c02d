#include "collector/engines/dask/event_sums.h"

#include <optional>

#include "collector/engines/dask/event_message.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Value& ValueOf(std::map<std::string, Value>& values, const std::string& name, size_t most) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  return values[values.size() + 1 < most ? name : "(other)"];
}

void AddWorkerLine(const char* event, const std::string& worker, int64_t time_ns, std::string* lines) {
  *lines += Json({{"type", "worker"}, {"event", event}, {"time_ns", time_ns}, {"worker", worker}}).dump() + "\n";
}

}  // namespace

void EventSums::Add(std::string_view message) {
  ++messages_;
  const std::optional<SchedulerEvent> event = ParseEventMessage(message);
  if (!event.has_value()) {
    ++malformed_;
    return;
  }
  switch (event->kind) {
    case SchedulerEventKind::kFinishedTask: {
      Finished& finished = ValueOf(finished_, event->prefix, kMostPrefixes);
      ++finished.tasks;
      finished.compute_seconds += event->compute_seconds;
      ++ValueOf(finished_by_worker_, event->worker, kMostWorkers);
      break;
    }
    case SchedulerEventKind::kAddWorker:
      if (workers_.size() < kMostWorkers) workers_.insert(event->worker);
      if (is_roll_call_ && roll_.size() < kMostWorkers) roll_.insert(event->worker);
      break;
    case SchedulerEventKind::kRemoveWorker:
      workers_.erase(event->worker);
      roll_.erase(event->worker);
      break;
    case SchedulerEventKind::kOther:
      break;
  }
}

void EventSums::BeginRollCall() {
  roll_.clear();
  is_roll_call_ = true;
}

void EventSums::EndRollCall() {
  if (is_roll_call_) {
    workers_ = roll_;
    has_ended_roll_call_ = true;
  }
  is_roll_call_ = false;
}

Json EventSums::TakeFinished() {
  Json rows = Json::array();
  for (const auto& [prefix, finished] : finished_) {
    rows.push_back(
        {{"prefix", prefix}, {"tasks", finished.tasks}, {"seconds", {{"compute", finished.compute_seconds}}}});
  }
  Json fields = {{"finished", rows}, {"finished_by_worker", finished_by_worker_}, {"malformed", malformed_}};
  finished_.clear();
  finished_by_worker_.clear();
  malformed_ = 0;
  return fields;
}

std::string EventSums::TakeWorkers(int64_t time_ns) {
  std::string lines;
  if (is_roll_call_) return lines;
  for (const std::string& worker : workers_) {
    if (told_workers_.count(worker) == 0)
      AddWorkerLine(has_told_workers_ ? "join" : "present", worker, time_ns, &lines);
  }
  for (const std::string& worker : told_workers_) {
    if (workers_.count(worker) == 0) AddWorkerLine("leave", worker, time_ns, &lines);
  }
  told_workers_ = workers_;
  has_told_workers_ = has_told_workers_ || (has_ended_roll_call_ && !told_workers_.empty());
  return lines;
}

}  // namespace crema
