#include "collector/metrics/recorded/task_sums_table.h"

#include "collector/idioms/units.h"
#include "collector/metrics/recorded/custom_tables.h"

namespace crema {
namespace {

template <class Fact>
void AddMembers(const Fact& more, std::initializer_list<int64_t Fact::*> members, Fact* sum) {
  for (const auto member : members) sum->*member = SaturatingAdd(sum->*member, more.*member);
}

/// Events a second, and how many were open, add up over processes.
struct EventSum {
  EventSumFact fact;
  double rate = 0;
  double in_flight = 0;
  QuantileSketch latencies;
  bool are_latencies_known = true;

  void Add(const EventSumFact& more) {
    AddMembers(more,
               {&EventSumFact::count, &EventSumFact::failed, &EventSumFact::not_divided, &EventSumFact::latency_ns,
                &EventSumFact::active_ns, &EventSumFact::queued_ns, &EventSumFact::external_ns, &EventSumFact::rest_ns,
                &EventSumFact::critical_run_ns, &EventSumFact::critical_queue_ns, &EventSumFact::critical_external_ns,
                &EventSumFact::critical_gap_ns, &EventSumFact::tasks, &EventSumFact::work_ns},
               &fact);
    fact.max_ns = std::max(fact.max_ns, more.max_ns);
    fact.min_ns = fact.min_ns == 0 ? more.min_ns : std::min(fact.min_ns, more.min_ns);
    if (const double wall = SecondsOf(more.last_stop_ns) - SecondsOf(more.first_start_ns); wall > 0) {
      rate += static_cast<double>(more.count) / wall;
      in_flight += SecondsOf(more.latency_ns) / wall;
    }
    int64_t known = 0;
    for (size_t i = 0; i + 1 < more.sketch.size(); i += 2) {
      const int64_t times = more.sketch[i + 1];
      if (times <= 0 || times > more.count - known) break;
      const double seconds = MiddleOfRecordedBucket(more.sketch[i], more.sketch_shift);
      latencies.Add(
          std::clamp(seconds, SecondsOf(more.min_ns), std::max(SecondsOf(more.min_ns), SecondsOf(more.max_ns))),
          static_cast<uint64_t>(times));
      known += times;
    }
    are_latencies_known = are_latencies_known && known == more.count;
  }
};

EventLatencyRow RowOf(const std::string& dataset, const EventSum& sum, int64_t min_ns, int64_t max_ns) {
  const EventSumFact& fact = sum.fact;
  EventLatencyRow row;
  row.dataset = Text::OrNull(dataset);
  row.events = fact.count;
  row.failed = fact.failed;
  row.events_per_second = sum.rate;
  row.in_flight = sum.in_flight;
  row.latency_seconds = SecondsOf(fact.latency_ns);
  if (sum.are_latencies_known) {
    row.p50_seconds = sum.latencies.Quantile(0.5);
    row.p95_seconds = sum.latencies.Quantile(0.95);
    row.histogram = HistogramOf(sum.latencies, SecondsOf(min_ns), SecondsOf(max_ns), false);
  }
  row.max_seconds = SecondsOf(fact.max_ns);
  row.active_seconds = SecondsOf(fact.active_ns);
  row.queued_seconds = SecondsOf(fact.queued_ns);
  row.external_seconds = SecondsOf(fact.external_ns);
  row.rest_seconds = SecondsOf(fact.rest_ns);
  row.critical_run_seconds = SecondsOf(fact.critical_run_ns);
  row.critical_queue_seconds = SecondsOf(fact.critical_queue_ns);
  row.critical_external_seconds = SecondsOf(fact.critical_external_ns);
  row.critical_gap_seconds = SecondsOf(fact.critical_gap_ns);
  row.tasks = fact.tasks;
  row.work_seconds = SecondsOf(fact.work_ns);
  if (fact.active_ns > 0) row.parallel = static_cast<double>(fact.work_ns) / static_cast<double>(fact.active_ns);
  row.not_divided = fact.not_divided;
  return row;
}

struct ModuleSum {
  TaskModuleFact fact;
  double ceiling = 0;

  void Add(const TaskModuleFact& more) {
    AddMembers(more,
               {&TaskModuleFact::count, &TaskModuleFact::failed, &TaskModuleFact::own_ns, &TaskModuleFact::cpu_ns,
                &TaskModuleFact::wait_ns, &TaskModuleFact::union_ns, &TaskModuleFact::queued, &TaskModuleFact::queue_ns,
                &TaskModuleFact::behind_ns, &TaskModuleFact::stolen_ns, &TaskModuleFact::critical_run_ns,
                &TaskModuleFact::critical_queue_ns},
               &fact);
    fact.peak = std::max(fact.peak, more.peak);
    fact.max_ns = std::max(fact.max_ns, more.max_ns);
    fact.queue_max_ns = std::max(fact.queue_max_ns, more.queue_max_ns);
    if (more.union_ns > 0) ceiling += static_cast<double>(more.count) / SecondsOf(more.union_ns);
  }
};

ModuleRow RowOf(const std::string& name, const std::string& operation, const ModuleSum& sum, int64_t tasks_ns,
                int64_t latency_ns) {
  const TaskModuleFact& fact = sum.fact;
  const bool is_request = !operation.empty();
  ModuleRow row;
  row.module = name;
  row.operation = Text::OrNull(operation);
  row.calls = fact.count;
  row.failed = fact.failed;
  row.own_seconds = SecondsOf(fact.own_ns);
  if (!is_request) {
    if (tasks_ns > 0) row.share = static_cast<double>(fact.own_ns) / static_cast<double>(tasks_ns);
    row.cpu_seconds = SecondsOf(fact.cpu_ns);
    row.cpu_wait_seconds = SecondsOf(fact.wait_ns);
    row.blocked_seconds = SecondsOf(std::max<int64_t>(fact.own_ns - fact.cpu_ns - fact.wait_ns, 0));
    row.stolen_seconds = SecondsOf(fact.stolen_ns);
  }
  row.max_seconds = SecondsOf(fact.max_ns);
  row.queued_calls = fact.queued;
  if (fact.queued > 0) {
    row.queue_seconds = SecondsOf(fact.queue_ns);
    row.queue_max_seconds = SecondsOf(fact.queue_max_ns);
    if (fact.peak == 1) row.behind_seconds = SecondsOf(fact.behind_ns);
  }
  row.at_once = fact.peak;
  // Where several run at once, a thread that loses its CPU between its clock and the count moves the length.
  if (fact.peak == 1) row.union_seconds = SecondsOf(fact.union_ns);
  if (fact.peak == 1 && sum.ceiling > 0 && !is_request) row.ceiling = sum.ceiling;
  row.critical_run_seconds = SecondsOf(fact.critical_run_ns);
  row.critical_queue_seconds = SecondsOf(fact.critical_queue_ns);
  if (latency_ns > 0) {
    row.latency_share =
        static_cast<double>(fact.critical_run_ns + fact.critical_queue_ns) / static_cast<double>(latency_ns);
  }
  return row;
}

TaskThreadRow RowOf(const TaskThreadFact& fact) {
  TaskThreadRow row;
  if (fact.tid.has_value()) row.tid = *fact.tid;
  row.threads = fact.threads;
  row.tasks = fact.tasks;
  row.task_seconds = SecondsOf(fact.task_ns);
  row.task_cpu_seconds = SecondsOf(fact.task_cpu_ns);
  row.task_cpu_wait_seconds = SecondsOf(fact.task_wait_ns);
  row.between_seconds = SecondsOf(fact.between_ns);
  row.between_cpu_seconds = SecondsOf(fact.between_cpu_ns);
  return row;
}

auto OrderOf(const TaskModuleFact& row) { return std::tie(row.count, row.own_ns, row.union_ns); }
auto OrderOf(const EventSumFact& row) { return std::tie(row.count, row.latency_ns); }

/// The row that is further on.
template <class Fact>
void KeepLater(const Fact& fact, Fact* kept) {
  if (OrderOf(*kept) < OrderOf(fact)) *kept = fact;
}

}  // namespace

void TaskSumsTable::Add(const LogRef& log, const TaskSumsFact& fact) {
  for (const TaskModuleFact& row : fact.modules) {
    TaskModuleFact kept = row;
    kept.name = kept.operation = {};
    KeepLater(kept, &modules_[{log.index, std::string(row.name), std::string(row.operation)}]);
  }
  for (const EventSumFact& row : fact.events) {
    EventSumFact kept = row;
    kept.dataset = {};
    KeepLater(kept, &events_[{log.index, std::string(row.dataset)}]);
  }
  if (!fact.events.empty()) Keep(fact.time_ns, fact.AllEvents(), &over_time_[log.index]);
  Threads& threads = threads_[log.index];
  if (!fact.threads.empty() && fact.time_ns > threads.time_ns) threads = {fact.time_ns, fact.threads};
}

void TaskSumsTable::Merge(const TaskSumsTable& other, const std::vector<uint32_t>& logs) {
  for (const auto& [module, fact] : other.modules_) {
    KeepLater(fact, &modules_[{logs[std::get<0>(module)], std::get<1>(module), std::get<2>(module)}]);
  }
  for (const auto& [dataset, fact] : other.events_) KeepLater(fact, &events_[{logs[dataset.first], dataset.second}]);
  for (const auto& [log, theirs] : other.threads_) {
    if (Threads& threads = threads_[logs[log]]; theirs.time_ns > threads.time_ns) threads = theirs;
  }
  for (const auto& [log, theirs] : other.over_time_) {
    for (const auto& [second, sums] : theirs) Keep(sums.first, sums.second, &over_time_[logs[log]]);
  }
}

void TaskSumsTable::Keep(int64_t time_ns, const EventSumFact& sums, SumsByTime* kept) {
  if (auto& of_second = (*kept)[time_ns / kSecondNs]; of_second.first <= time_ns) of_second = {time_ns, sums};
}

/// What ended between two lines of a process is spread evenly over the time between them. Steps of several processes
/// are put together, to `kMostSteps` about.
std::vector<LatencyStep> TaskSumsTable::LatencyOverTime() const {
  constexpr int64_t kMostSteps = 200;
  constexpr size_t kSums = 1 + std::size(kParts);
  std::map<int64_t, std::array<double, kSums>> changes;  // of events, and of each part, in a nanosecond
  std::map<int64_t, int> open;                           // intervals with events
  for (const auto& [log, lines] : over_time_) {
    int64_t before_ns = lines.begin()->second.second.first_start_ns;
    EventSumFact before;
    for (const auto& [second, line] : lines) {
      const EventSumFact& sums = line.second;
      if (sums.last_stop_ns <= before_ns || sums.count <= before.count) continue;
      const double wall_ns = static_cast<double>(sums.last_stop_ns - before_ns);
      std::array<double, kSums> more = {static_cast<double>(sums.count - before.count) / wall_ns};
      for (size_t i = 1; i < kSums; ++i) {
        const auto part = kParts[i - 1].second;
        more[i] = SecondsOf(std::max<int64_t>(sums.*part - before.*part, 0)) / wall_ns;
      }
      for (size_t i = 0; i < kSums; ++i) {
        changes[before_ns][i] += more[i];
        changes[sums.last_stop_ns][i] -= more[i];
      }
      ++open[before_ns];
      --open[sums.last_stop_ns];
      before_ns = sums.last_stop_ns;
      before = sums;
    }
  }
  std::vector<LatencyStep> steps;
  if (changes.empty()) return steps;
  const int64_t least_ns = (changes.rbegin()->first - changes.begin()->first) / kMostSteps;
  std::array<double, kSums> rates = {}, sums = {};
  int intervals = 0;
  int64_t start_ns = changes.begin()->first;
  for (auto change = changes.begin(); std::next(change) != changes.end(); ++change) {
    const int64_t stop_ns = std::next(change)->first;
    intervals += open[change->first];
    for (size_t i = 0; i < kSums; ++i) {
      rates[i] += change->second[i];
      if (intervals > 0) sums[i] += rates[i] * static_cast<double>(stop_ns - change->first);
    }
    if (stop_ns - start_ns < least_ns && std::next(change, 2) != changes.end()) continue;
    LatencyStep& step = steps.emplace_back();
    step.start_ns = start_ns;
    for (size_t i = 1; i < kSums; ++i) step.seconds[i - 1] = std::max(sums[i], 0.0) / sums[0];  // 0 / 0: NaN
    sums = {};
    start_ns = stop_ns;
  }
  steps.push_back({start_ns, {}});
  steps.back().seconds.fill(std::numeric_limits<double>::quiet_NaN());
  return steps;
}

TaskSumsFindings TaskSumsTable::Finalize() const {
  TaskSumsFindings findings;
  std::map<std::string, EventSum> events;
  for (const auto& [dataset, fact] : events_) events[dataset.second].Add(fact);
  int64_t latency_ns = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max(), max_ns = 0;
  for (const auto& [dataset, sum] : events) {
    min_ns = std::min(min_ns, sum.fact.min_ns);
    max_ns = std::max(max_ns, sum.fact.max_ns);
  }
  for (const auto& [dataset, sum] : events) {
    findings.events.push_back(RowOf(dataset, sum, min_ns, max_ns));
    latency_ns = SaturatingAdd(latency_ns, sum.fact.latency_ns);
  }
  std::map<std::pair<std::string, std::string>, ModuleSum> modules;
  int64_t tasks_ns = 0;
  for (const auto& [module, fact] : modules_) {
    modules[{std::get<1>(module), std::get<2>(module)}].Add(fact);
    if (std::get<2>(module).empty()) tasks_ns = SaturatingAdd(tasks_ns, fact.own_ns);
  }
  for (const auto& [module, sum] : modules) {
    findings.modules.push_back(RowOf(module.first, module.second, sum, tasks_ns, latency_ns));
  }
  SortBy(&findings.modules,
         [](const ModuleRow& row) { return std::pair(row.operation.has_value(), -*row.own_seconds); });
  findings.over_time = LatencyOverTime();
  for (const auto& [log, threads] : threads_) {
    for (const TaskThreadFact& fact : threads.rows) findings.threads.push_back({log, RowOf(fact)});
  }
  return findings;
}

}  // namespace crema
