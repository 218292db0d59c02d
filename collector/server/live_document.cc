// A live run in the shape of a measurement.

#include "collector/metrics/run_figures.h"
#include "collector/server/live_figures.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// Prefixes and workers that are shown, those with most finished tasks.
constexpr size_t kMostRows = 100;

Json RoundedSeconds(const std::optional<double>& seconds) {
  return seconds.has_value() ? Json(std::round(*seconds * 1e3) / 1e3) : Json();
}

Json PrefixesOf(const LiveScheduler& scheduler) {
  const bool is_reported = scheduler.finished().has_value();
  const auto measure = [](const SchedulerTasks& tasks) {
    return std::make_pair(tasks.finished, tasks.compute_seconds_in_all.value_or(0));
  };
  return Mapped<Json>(Largest(scheduler.tasks(), kMostRows, measure), [&](const auto& row) {
    const SchedulerTasks& tasks = row.second;
    return Json{{"prefix", row.first},
                {"finished", is_reported ? Json(tasks.finished) : Json()},
                {"compute_seconds", is_reported ? RoundedSeconds(tasks.compute_seconds) : Json()},
                {"compute_seconds_in_all", RoundedSeconds(tasks.compute_seconds_in_all)}};
  });
}

Json FinishedByWorker(const LiveScheduler& scheduler) {
  const auto measure = [](int64_t tasks) { return tasks; };
  return Mapped<Json>(Largest(scheduler.finished_by_worker(), kMostRows, measure), [](const auto& row) {
    return Json{{"worker", row.first}, {"finished", row.second}};
  });
}

std::string WhyNoRate(const LiveScheduler& scheduler) {
  return scheduler.stream_problem().empty() ? "crema has not yet seen it for a second" : scheduler.stream_problem();
}

/// nullopt: one of them does not know.
template <class Get>
auto SumOver(const LiveModel& model, const Get& get) {
  decltype(get(model.schedulers().begin()->second)) sum = 0;
  for (const auto& [address, scheduler] : model.schedulers()) {
    const auto value = get(scheduler);
    sum = sum.has_value() && value.has_value() ? std::optional(*sum + *value) : std::nullopt;
  }
  return sum;
}

/// A row's members of these keys, in their order.
template <class Row>
Json Picked(const Row& row, std::initializer_list<std::string_view> keys) {
  Json picked = Json::object();
  for (const std::string_view key : keys) {
    FindBy(Row::Columns(), &Column::key, key)->write(&row, &picked[std::string(key)]);
  }
  return picked;
}

/// The catalogue's keys that a live run may have, in the document's order.
constexpr const char* kKnownLive[] = {
    "wall_time",           "busy_time",          "chunk_cpu_time",        "num_chunks",        "num_attempts",
    "num_failed_attempts", "num_lost_attempts",  "num_recomputed_chunks", "total_events",      "event_rate_wall_khz",
    "event_rate_agg_khz",  "event_rate_core_hz", "bytes_read_chunks",     "overall_rate_gbps", "core_seconds",
    "cpu_efficiency",      "core_efficiency",    "speedup_factor",        "peak_memory_bytes", "memory_utilization_max",
};

struct LiveDefinition {
  std::string_view key;
  std::string_view unit;
  std::string_view label;
  std::string_view text;
};

/// What only a live run has, after the others.
constexpr LiveDefinition kLiveDefinitions[] = {
    {"live_workers", "count", "Workers now", "Workers that have recorded chunks and are alive."},
    {"live_cores", "cores", "Cores now", "Cores of these workers."},
    {"live_open_chunks", "count", "Open chunks", "Chunks that have begun and not ended."},
    {"live_event_rate_hz", "Hz", "Event rate now", "Events of the chunks that ended in the last 30 s, per second."},
    {"live_read_rate_mbs", "MB/s", "Read rate now",
     "Bytes that chunks that ended in the last 30 s have read, per second."},
    {"live_busy_ratio", "ratio", "Cores busy now", "Occupied share of the cores in the last 30 s."},
    {"live_unrecovered_chunks", "count", "Chunks without a result after a failure",
     "Chunks of which an attempt failed or was lost, and none succeeded by now."},
    {"live_announced_events", "count", "Events to come in all",
     "What the whole run will process: --total-events, else the run's plan, else CREMA_TOTAL_EVENTS."},
    {"live_time_left_seconds", "s", "Time left",
     "Events to come over the mean rate of the last minute; absent where the total is not known."},
    {"live_quiet_seconds", "s", "Quiet for", "Time since the last record."},
    {"live_gpu_utilization", "ratio", "GPU utilisation now",
     "Share of the driver's last sampling period in which some kernel ran, mean over the GPUs that processes of the "
     "run use (NVML); if the driver does not show whose processes use a GPU, over those that are busy."},
    {"live_gpu_memory_bytes", "B", "GPU memory now", "Memory that processes of the run hold on these GPUs."},
    {"live_gpu_power_watts", "W", "GPU power now", "Power of these GPUs, for whomever they work."},
    {"live_scheduler_workers", "count", "Workers of the scheduler",
     "As a manager of TaskVine or Work Queue reports, like the next five."},
    {"live_scheduler_cores", "cores", "Cores of the scheduler", "Threads of its workers."},
    {"live_scheduler_tasks", "count", "Tasks that the scheduler knows", "In whatever state."},
    {"live_erred_tasks", "count", "Tasks that failed", "Those that the scheduler still knows."},
    {"live_finished_tasks", "count", "Finished tasks",
     "Tasks that succeeded since crema began to follow the scheduler."},
    {"live_finished_task_rate_hz", "Hz", "Tasks finished now", "Per second, in the last 30 s."},
};

RunFacts RunOf(const LiveModel& model) {
  const LiveCommand& command = model.command();
  RunFacts run;
  run.id = Text::OrNull(model.run_id());
  run.name = model.options().name;
  // Else all that is known is since when it is looked at.
  const bool is_timed = model.command().known || model.totals().records > 0 || !model.workers().empty();
  if (!model.has_schedulers_only() && is_timed) {
    run.start_ns = model.start_ns();
    run.stop_ns = model.stop_ns();
  }
  run.boundary = command.known ? "command" : "processes";
  run.state = Text::OrNull(NameOfRunState(model.state()));
  run.exit_status = command.exit_status;
  run.engine = Text::OrNull(model.engine());
  return run;
}

/// Adds the sums over the schedulers, and why some are null.
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
    const auto get = [count = name](const LiveScheduler& scheduler) { return scheduler.count(count); };
    metrics->SetOptional(key, SumOver(model, get), "");
  }
  const std::string why_not = WhyNoRate(model.schedulers().rbegin()->second);
  const auto finished = [](const LiveScheduler& scheduler) { return scheduler.finished(); };
  const auto rate = [&model](const LiveScheduler& scheduler) { return scheduler.finished_rate(model.second()); };
  metrics->SetOptional("live_finished_tasks", SumOver(model, finished), why_not);
  metrics->SetOptional("live_finished_task_rate_hz", SumOver(model, rate), why_not);
}

MetricSet MetricsOf(const LiveModel& model, const LiveFigures& figures) {
  MetricSet metrics = figures.metrics;
  std::optional<int64_t> peak_memory;
  std::optional<double> utilization;
  for (const LiveWorker& worker : model.workers()) {
    peak_memory = std::max(peak_memory, worker.counts.rss_peak_bytes);
    utilization = std::max(utilization, Ratio(worker.counts.rss_peak_bytes, worker.memory_limit_bytes));
  }
  metrics.SetIfKnown("peak_memory_bytes", peak_memory);
  metrics.SetIfKnown("memory_utilization_max", utilization);
  metrics.Set("num_attempts", model.attempts());
  // what only a live run has
  metrics.Set("live_workers", figures.workers.at_work);
  metrics.Set("live_cores", figures.cores);
  metrics.Set("live_open_chunks", model.open_chunks());
  metrics.Set("live_event_rate_hz", figures.event_rate);
  metrics.Set("live_read_rate_mbs", figures.byte_rate / 1e6);
  metrics.SetOptional("live_busy_ratio", figures.busy_share, "");
  metrics.Set("live_unrecovered_chunks", figures.unrecovered);
  metrics.SetOptional("live_announced_events", figures.progress.total_events, "");
  metrics.SetOptional("live_time_left_seconds", figures.progress.left, "");
  metrics.Set("live_quiet_seconds", model.quiet_seconds());
  metrics.SetOptional("live_gpu_utilization", figures.gpus.utilization, "");
  metrics.SetOptional("live_gpu_memory_bytes", figures.gpus.memory_bytes, "");
  metrics.SetOptional("live_gpu_power_watts", figures.gpus.power_watts, "");
  AddSchedulerMetrics(model, &metrics);
  return metrics;
}

/// `group` is the index of the dataset.
BreakdownRow RowOf(const LiveDataset& dataset, size_t index) {
  BreakdownRow row;
  row.name = dataset.name;
  row.group = static_cast<uint32_t>(index);
  SetSums(dataset.sums, dataset.sums.bytes, &row);
  return row;
}

std::vector<BreakdownRow> DatasetRows(const LiveModel& model) {
  std::vector<BreakdownRow> rows;
  for (size_t i = 0; i < model.datasets().size(); ++i) rows.push_back(RowOf(model.datasets()[i], i));
  SortByCost(&rows);
  return rows;
}

/// `group` is the index of the worker.
WorkerRow RowOf(const LiveModel& model, size_t index) {
  const LiveWorker& worker = model.workers()[index];
  WorkerRow row;
  row.name = worker.worker();
  row.group = static_cast<uint32_t>(index);
  row.state = ToString(worker.state);
  row.cores = Number::Whole(worker.cores());
  row.peak_memory_bytes = worker.counts.rss_peak_bytes;
  row.memory_limit_bytes = worker.memory_limit_bytes;
  SetSums(worker.sums, worker.sums.bytes, &row);
  return row;
}

/// Those that run, then the others, each by cost; last the sum of those without a row of their own, whose cores are
/// those of them that run, and whose `group` is that of no worker.
std::vector<WorkerRow> RowsOfWorkers(const LiveModel& model) {
  std::vector<WorkerRow> rows;
  WorkerRow other;
  other.name = kOtherName;
  other.group = static_cast<uint32_t>(model.workers().size());
  LiveSums sum_of_others;
  double cores_of_others = 0;
  auto state_of_others = ProcessState::kEnded;
  for (const LiveWorker& worker : model.workers()) {
    if (!worker.has_recorded()) continue;
    if (worker.is_other()) {
      sum_of_others.Add(worker.sums);
      const bool runs = worker.state == ProcessState::kRunning;
      if (runs) cores_of_others += worker.cores();
      if (runs || state_of_others == ProcessState::kEnded) state_of_others = worker.state;
      continue;
    }
    rows.push_back(RowOf(model, static_cast<size_t>(&worker - model.workers().data())));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const WorkerRow& a, const WorkerRow& b) {
    const bool a_runs = a.state == "running", b_runs = b.state == "running";
    return a_runs != b_runs ? a_runs : a.duration_sum > b.duration_sum;
  });
  if (sum_of_others.attempts > 0 || cores_of_others > 0) {
    other.state = ToString(state_of_others);
    other.cores = Number::Whole(cores_of_others);
    SetSums(sum_of_others, sum_of_others.bytes, &other);
    rows.push_back(std::move(other));
  }
  return rows;
}

/// With what only a live run has of its workers.
Json JsonOfWorker(const LiveModel& model, const WorkerRow& row, int64_t stop_ns) {
  Json json = Picked(row, {"name", "state", "cores", "chunks", "failed", "lost", "events", "bytes_read", "duration_sum",
                           "cpu_sum", "peak_memory_bytes", "memory_limit_bytes"});
  Number event_rate, waiting_share, memory;
  int64_t open = 0;
  if (row.group == model.workers().size()) {
    for (const LiveWorker& worker : model.workers()) open += worker.is_other() ? worker.open_chunks() : 0;
  } else {
    const LiveWorker& worker = model.workers()[row.group];
    const WorkerSecond recent = worker.SumOf(model.second() - kRecentSeconds, model.second() - 1);
    open = worker.open_chunks();
    event_rate = model.EventRateOf(worker, stop_ns);
    waiting_share = Ratio(recent.waiting_ns, recent.busy_ns);
    if (worker.rss_bytes > 0) memory = worker.rss_bytes;
  }
  json["open"] = open;
  json["event_rate_now"] = JsonOf(event_rate);
  json["waiting_share_now"] = JsonOf(waiting_share);
  json["memory_bytes"] = JsonOf(memory);
  return json;
}

Quality QualityOf(const LiveModel& model) {
  const LiveTotals& totals = model.totals();
  Quality quality;
  quality.records_read = totals.records;
  quality.records_malformed = totals.malformed;
  quality.records_unknown = totals.unknown;
  quality.records_dropped = totals.dropped;
  quality.records_lost = model.unrecorded();
  quality.summed_chunks = totals.counts.num_summed_attempts;
  return quality;
}

Json DefinitionsOf(const MetricSet& metrics) {
  Json definitions = Json::object();
  for (const MetricDefinition& definition : LiveMetrics()) {
    if (metrics.Find(definition.key) == nullptr && FindMetric(definition.key) != nullptr) continue;
    definitions[definition.key] = {{"unit", definition.unit}, {"label", definition.label}, {"text", definition.text}};
  }
  return definitions;
}

}  // namespace

Json LiveRunJson(const LiveModel& model) {
  Json run = Picked(RunOf(model),
                    {"id", "name", "command", "start_ns", "stop_ns", "boundary", "state", "exit_status", "engine"});
  const std::string& command = model.command().command;  // one text: the log of the tree has its words
  run["command"] = TextOrNull(command);
  return run;
}

Json LiveDatasetJson(const LiveModel& model, size_t dataset, int64_t open) {
  const BreakdownRow row = RowOf(model.datasets()[dataset], dataset);
  Json json = Picked(row, {"name", "chunks", "attempts", "failed", "events", "bytes_read", "duration_sum", "cpu_sum"});
  json["open"] = open;
  json["total_events"] = JsonOf(Number(model.total_events_of(row.name)));
  return json;
}

Json LiveWorkerJson(const LiveModel& model, size_t worker) {
  return JsonOfWorker(model, RowOf(model, worker), model.stop_ns());
}

Json SchedulersJson(const LiveModel& model) {
  Json rows = Json::array();
  for (const auto& [address, scheduler] : model.schedulers()) {
    Json& row = rows.emplace_back();
    row["address"] = address;
    for (const char* count : {"workers", "cores", "tasks", "processing", "waiting", "erred", "unrunnable"}) {
      row[count] = JsonOf(Number(scheduler.count(count)));
    }
    row["finished"] = JsonOf(Number(scheduler.finished()));
    row["finished_rate_now"] = RoundedSeconds(scheduler.finished_rate(model.second()));
    row["followed_seconds"] = std::max<int64_t>(0, (model.now_ns() - scheduler.since_ns()) / 1'000'000'000);
    row["prefixes"] = PrefixesOf(scheduler);
    row["finished_by_worker"] = FinishedByWorker(scheduler);
    Json reasons = Json::object();
    for (const char* key : {"finished", "finished_rate_now"}) {
      if (row[key].is_null()) reasons[key] = WhyNoRate(scheduler);
    }
    const bool has_seconds = absl::c_any_of(
        scheduler.tasks(), [](const auto& entry) { return entry.second.compute_seconds_in_all.has_value(); });
    if (!has_seconds) reasons["compute_seconds_in_all"] = "the scheduler does not report them";
    row["not_measured"] = std::move(reasons);
  }
  return rows;
}

absl::Span<const MetricDefinition> LiveMetrics() {
  static const auto* const kMetrics = [] {
    auto* metrics = new std::vector<MetricDefinition>;
    for (const char* key : kKnownLive) metrics->push_back(*FindMetric(key));
    for (const auto& [key, unit, label, text] : kLiveDefinitions) {
      metrics->push_back({std::string(key), "", std::string(unit), std::string(label), std::string(text), ""});
    }
    return metrics;
  }();
  return *kMetrics;
}

Measurement LiveMeasurement(const LiveModel& model, const LiveFigures& figures) {
  Measurement measurement;
  measurement.run = RunOf(model);
  measurement.metrics = MetricsOf(model, figures);
  measurement.datasets = DatasetRows(model);
  measurement.workers = RowsOfWorkers(model);
  measurement.quality = QualityOf(model);
  return measurement;
}

Json LiveDocument(const LiveModel& model, const LiveFigures& figures) {
  const Measurement measurement = LiveMeasurement(model, figures);
  const MetricSet& metrics = measurement.metrics;
  Json document, values, not_measured = Json::object();
  for (const MetricDefinition& definition : LiveMetrics()) {
    if (const MetricValue* value = metrics.Find(definition.key)) values[definition.key] = JsonOf(*value);
    const std::string_view reason = metrics.Reason(definition.key);
    if (!reason.empty()) not_measured[definition.key] = reason;
  }
  document["schema"] = kMeasurementSchema;
  document["run"] = LiveRunJson(model);
  document["metrics"] = std::move(values);
  document["definitions"] = DefinitionsOf(metrics);
  Json &datasets = document["datasets"] = Json::array(), &workers = document["workers"] = Json::array();
  const std::vector<int64_t> open = model.OpenByDataset();
  for (const BreakdownRow& row : measurement.datasets) {
    datasets.push_back(LiveDatasetJson(model, row.group, open[row.group]));
  }
  const int64_t stop_ns = model.stop_ns();
  for (const WorkerRow& row : measurement.workers) workers.push_back(JsonOfWorker(model, row, stop_ns));
  document["schedulers"] = SchedulersJson(model);
  document["quality"] = Picked(measurement.quality, {"records_read", "records_malformed", "records_unknown",
                                                     "records_dropped", "records_lost", "summed_chunks"});
  document["quality"]["chunks_exact"] = model.totals().chunks_exact;  // else more than can be distinguished
  document["quality"]["not_measured"] = std::move(not_measured);
  return document;
}

Json OpenChunksJson(const LiveModel& model, size_t most) {
  std::vector<std::pair<const LiveWorker*, const BegunAttempt*>> open;
  for (const LiveWorker& worker : model.workers()) {
    worker.ForEachOpen([&](const LiveLog&, const BegunAttempt& begun) { open.emplace_back(&worker, &begun); });
  }
  std::sort(open.begin(), open.end(), [](const auto& a, const auto& b) {
    const BeginFact &left = a.second->fact, &right = b.second->fact;
    return std::make_pair(left.time_ns, left.number) < std::make_pair(right.time_ns, right.number);
  });
  if (open.size() > most) open.resize(most);
  Json rows = Json::array();
  for (const auto& [worker, begun] : open) {
    rows.push_back({{"worker", worker->worker()},
                    {"chunk", begun->fact.number},
                    {"dataset", model.datasets()[model.DatasetOf(begun->dataset)].name},
                    {"file", TextOrNull(begun->file)},
                    {"entry_start", JsonOf(Number(begun->fact.input.entry_start))},
                    {"entry_stop", JsonOf(Number(begun->fact.input.entry_stop))},
                    {"seconds", std::max<int64_t>(0, model.now_ns() - begun->fact.time_ns) / 1e9}});
  }
  return rows;
}

Json EventsJson(const LiveModel& model) {
  return Mapped<Json>(model.events().NewestFirst(), [](const LiveEvent& event) {
    return Json{
        {"number", event.number}, {"time_ns", event.time_ns}, {"kind", ToString(event.kind)}, {"text", event.text}};
  });
}

}  // namespace crema
