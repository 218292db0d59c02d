#include "collector/server/scheduler_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Prefixes and workers that are shown, those with most finished tasks.
constexpr size_t kMostRows = 100;

constexpr Column kPrefixColumns[] = {
    ColumnOf<&PrefixRow::prefix>("prefix"),
    ColumnOf<&PrefixRow::finished>("finished"),
    ColumnOf<&PrefixRow::compute_seconds>("compute_seconds"),
    ColumnOf<&PrefixRow::compute_seconds_in_all>("compute_seconds_in_all"),
};

constexpr Column kFinishedColumns[] = {
    ColumnOf<&FinishedRow::worker>("worker"),
    ColumnOf<&FinishedRow::finished>("finished"),
};

void WriteReasons(const void* row, Json* reasons) {
  *reasons = Json::object();
  for (const auto& [key, reason] : static_cast<const SchedulerRow*>(row)->not_measured) (*reasons)[key] = reason;
}

constexpr Column kSchedulerColumns[] = {
    ColumnOf<&SchedulerRow::address>("address"),
    ColumnOf<&SchedulerRow::workers>("workers"),
    ColumnOf<&SchedulerRow::cores>("cores"),
    ColumnOf<&SchedulerRow::tasks>("tasks"),
    ColumnOf<&SchedulerRow::processing>("processing"),
    ColumnOf<&SchedulerRow::waiting>("waiting"),
    ColumnOf<&SchedulerRow::erred>("erred"),
    ColumnOf<&SchedulerRow::unrunnable>("unrunnable"),
    ColumnOf<&SchedulerRow::finished>("finished"),
    ColumnOf<&SchedulerRow::finished_rate_now>("finished_rate_now"),
    ColumnOf<&SchedulerRow::followed_seconds>("followed_seconds"),
    ColumnOf<&SchedulerRow::prefixes>("prefixes"),
    ColumnOf<&SchedulerRow::finished_by_worker>("finished_by_worker"),
    Column{"not_measured", "", "", &WriteReasons, nullptr, nullptr, "", Kind::kText, 0},
};

Number RoundedSeconds(const std::optional<double>& seconds) {
  return seconds.has_value() ? Number(std::round(*seconds * 1e3) / 1e3) : Number();
}

template <class Value, class Measure>
std::vector<std::pair<std::string, Value>> Largest(const std::map<std::string, Value>& values, const Measure& measure) {
  std::vector<std::pair<std::string, Value>> rows(values.begin(), values.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return measure(a.second) > measure(b.second); });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  return rows;
}

std::vector<PrefixRow> PrefixRows(const LiveScheduler& scheduler) {
  std::vector<PrefixRow> rows;
  const bool is_told = scheduler.finished().has_value();
  const auto measure = [](const SchedulerTasks& tasks) {
    return std::make_pair(tasks.finished, tasks.compute_seconds_in_all.value_or(0));
  };
  for (const auto& [prefix, tasks] : Largest(scheduler.tasks(), measure)) {
    rows.push_back({prefix, is_told ? Number(tasks.finished) : Number(),
                    is_told ? RoundedSeconds(tasks.compute_seconds) : Number(),
                    RoundedSeconds(tasks.compute_seconds_in_all)});
  }
  return rows;
}

std::vector<FinishedRow> WorkerRows(const LiveScheduler& scheduler) {
  std::vector<FinishedRow> rows;
  for (const auto& [worker, finished] : Largest(scheduler.finished_by_worker(), [](int64_t tasks) { return tasks; })) {
    rows.push_back({worker, finished});
  }
  return rows;
}

bool TellsSeconds(const LiveScheduler& scheduler) {
  return std::any_of(scheduler.tasks().begin(), scheduler.tasks().end(),
                     [](const auto& entry) { return entry.second.compute_seconds_in_all.has_value(); });
}

std::string WhyNoRate(const LiveScheduler& scheduler) {
  return scheduler.stream_problem().empty() ? "crema has not yet seen it for a second" : scheduler.stream_problem();
}

/// nullopt: one of them does not tell.
template <class Get>
auto SumOver(const LiveModel& model, const Get& get) {
  auto sum = get(model.schedulers().begin()->second);
  for (auto entry = std::next(model.schedulers().begin()); entry != model.schedulers().end(); ++entry) {
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

absl::Span<const Column> PrefixRow::Columns() { return kPrefixColumns; }
absl::Span<const Column> FinishedRow::Columns() { return kFinishedColumns; }
absl::Span<const Column> SchedulerRow::Columns() { return kSchedulerColumns; }

std::vector<SchedulerRow> SchedulerRows(const LiveModel& model) {
  std::vector<SchedulerRow> rows;
  for (const auto& [address, scheduler] : model.schedulers()) {
    SchedulerRow& row = rows.emplace_back();
    row.address = address;
    row.workers = scheduler.count("workers");
    row.cores = scheduler.count("cores");
    row.tasks = scheduler.count("tasks");
    row.processing = scheduler.count("processing");
    row.waiting = scheduler.count("waiting");
    row.erred = scheduler.count("erred");
    row.unrunnable = scheduler.count("unrunnable");
    row.finished = scheduler.finished();
    row.finished_rate_now = RoundedSeconds(scheduler.finished_rate(model.second()));
    row.followed_seconds = std::max<int64_t>(0, (model.now_ns() - scheduler.since_ns()) / 1'000'000'000);
    row.prefixes = PrefixRows(scheduler);
    row.finished_by_worker = WorkerRows(scheduler);
    if (!row.finished.has_value()) row.not_measured.emplace_back("finished", WhyNoRate(scheduler));
    if (!row.finished_rate_now.has_value()) row.not_measured.emplace_back("finished_rate_now", WhyNoRate(scheduler));
    if (!TellsSeconds(scheduler)) {
      row.not_measured.emplace_back("compute_seconds_in_all", "the scheduler does not report them");
    }
  }
  return rows;
}

void AddSchedulerMetrics(const LiveModel& model, MetricSet* metrics) {
  if (model.schedulers().empty()) return;
  if (model.has_schedulers_only()) {
    // what else there is would be a count of records, of which there are none
    const auto counted = metrics->values();
    for (const auto& [key, value] : counted) {
      metrics->SetNull(key, "there are no records");
    }
  }
  for (const auto& [key, name] : {std::pair("live_scheduler_workers", "workers"),
                                  {"live_scheduler_cores", "cores"},
                                  {"live_scheduler_tasks", "tasks"},
                                  {"live_erred_tasks", "erred"}}) {
    const char* count = name;
    const auto get = [count](const LiveScheduler& scheduler) { return scheduler.count(count); };
    metrics->SetOptional(key, SumOver(model, get), "");
  }
  const std::string why_not = WhyNoRate(model.schedulers().rbegin()->second);
  const auto finished = [](const LiveScheduler& scheduler) { return scheduler.finished(); };
  const auto rate = [&model](const LiveScheduler& scheduler) { return scheduler.finished_rate(model.second()); };
  metrics->SetOptional("live_finished_tasks", SumOver(model, finished), why_not);
  metrics->SetOptional("live_finished_task_rate_hz", SumOver(model, rate), why_not);
}

}  // namespace crema
