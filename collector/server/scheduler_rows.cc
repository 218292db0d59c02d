#include "collector/server/scheduler_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Prefixes and workers that are shown, those with most finished tasks.
constexpr size_t kMostRows = 100;

/// The numbers of a scheduler that are shown.
constexpr const char* kShownCounts[] = {"workers", "cores", "tasks", "processing", "waiting", "erred", "unrunnable"};

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

double RoundedSeconds(double seconds) { return std::round(seconds * 1e3) / 1e3; }

template <class Value, class Measure>
std::vector<std::pair<std::string, Value>> Largest(const std::map<std::string, Value>& values, const Measure& measure) {
  std::vector<std::pair<std::string, Value>> rows(values.begin(), values.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return measure(a.second) > measure(b.second); });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  return rows;
}

Json PrefixRows(const BareScheduler& scheduler) {
  Json rows = Json::array();
  const bool is_told = scheduler.finished().has_value();
  const auto measure = [](const BareTasks& tasks) {
    return std::make_pair(tasks.finished, tasks.compute_seconds_in_all.value_or(0));
  };
  for (const auto& [prefix, tasks] : Largest(scheduler.tasks(), measure)) {
    std::optional<double> in_all;
    if (tasks.compute_seconds_in_all.has_value()) in_all = RoundedSeconds(*tasks.compute_seconds_in_all);
    rows.push_back({{"prefix", prefix},
                    {"finished", is_told ? Json(tasks.finished) : Json()},
                    {"compute_seconds", is_told ? Json(RoundedSeconds(tasks.compute_seconds)) : Json()},
                    {"compute_seconds_in_all", OrNull(in_all)}});
  }
  return rows;
}

Json WorkerRows(const BareScheduler& scheduler) {
  Json rows = Json::array();
  for (const auto& [worker, finished] : Largest(scheduler.finished_by_worker(), [](int64_t tasks) { return tasks; })) {
    rows.push_back({{"worker", worker}, {"finished", finished}});
  }
  return rows;
}

bool TellsSeconds(const BareScheduler& scheduler) {
  return std::any_of(scheduler.tasks().begin(), scheduler.tasks().end(),
                     [](const auto& entry) { return entry.second.compute_seconds_in_all.has_value(); });
}

std::string WhyNoRate(const BareScheduler& scheduler) {
  return scheduler.stream_problem().empty() ? "crema has not yet seen it for a second" : scheduler.stream_problem();
}

/// nullopt: one of them does not tell.
template <class Get>
auto SumOver(const LiveModel& model, const Get& get) {
  auto sum = get(model.bare_schedulers().begin()->second);
  for (auto entry = std::next(model.bare_schedulers().begin()); entry != model.bare_schedulers().end(); ++entry) {
    const auto value = get(entry->second);
    if (sum.has_value() && value.has_value()) {
      *sum += *value;
    } else {
      sum.reset();
    }
  }
  return sum;
}

}  // namespace

Json SchedulerRows(const LiveModel& model) {
  Json rows = Json::array();
  for (const auto& [address, scheduler] : model.bare_schedulers()) {
    Json row = {{"address", address}};
    for (const char* name : kShownCounts) row[name] = OrNull(scheduler.count(name));
    const std::optional<double> rate = scheduler.finished_rate(model.second());
    row["finished"] = OrNull(scheduler.finished());
    row["finished_rate_now"] = rate.has_value() ? Json(RoundedSeconds(*rate)) : Json();
    row["followed_seconds"] = std::max<int64_t>(0, (model.now_ns() - scheduler.since_ns()) / 1'000'000'000);
    row["prefixes"] = PrefixRows(scheduler);
    row["finished_by_worker"] = WorkerRows(scheduler);
    Json missing = Json::object();
    for (const char* name : {"finished", "finished_rate_now"}) {
      if (row[name].is_null()) missing[name] = WhyNoRate(scheduler);
    }
    if (!TellsSeconds(scheduler)) missing["compute_seconds_in_all"] = scheduler.traits().no_compute_seconds;
    row["not_measured"] = std::move(missing);
    rows.push_back(std::move(row));
  }
  return rows;
}

void AddSchedulerMetrics(const LiveModel& model, Json* metrics, Json* not_measured) {
  if (model.bare_schedulers().empty()) return;
  if (model.is_bare()) {
    // what else there is would be a count of records, of which there are none
    for (auto& [key, value] : metrics->items()) {
      value = Json();
      (*not_measured)[key] = model.bare_schedulers().begin()->second.traits().no_records;
    }
  }
  for (const auto& [key, name] : {std::pair("live_scheduler_workers", "workers"),
                                  {"live_scheduler_cores", "cores"},
                                  {"live_scheduler_tasks", "tasks"},
                                  {"live_erred_tasks", "erred"}}) {
    const char* count = name;
    (*metrics)[key] =
        OrNull(SumOver(model, [count](const BareScheduler& scheduler) { return scheduler.count(count); }));
  }
  (*metrics)["live_finished_tasks"] =
      OrNull(SumOver(model, [](const BareScheduler& scheduler) { return scheduler.finished(); }));
  (*metrics)["live_finished_task_rate_hz"] =
      OrNull(SumOver(model, [&](const BareScheduler& scheduler) { return scheduler.finished_rate(model.second()); }));
  for (const auto& [address, scheduler] : model.bare_schedulers()) {
    for (const char* key : {"live_finished_tasks", "live_finished_task_rate_hz"}) {
      if ((*metrics)[key].is_null()) (*not_measured)[key] = WhyNoRate(scheduler);
    }
  }
}

}  // namespace crema
