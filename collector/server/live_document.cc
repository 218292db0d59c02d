#include "collector/server/live_document.h"

#include "collector/metrics/assemble.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// Prefixes and workers that are shown, those with most finished tasks.
constexpr size_t kMostRows = 100;

Json RoundedSeconds(const std::optional<double>& seconds) {
  return seconds.has_value() ? Json(std::round(*seconds * 1e3) / 1e3) : Json();
}

template <class Value, class Measure>
std::vector<std::pair<std::string, Value>> Largest(const std::map<std::string, Value>& values, const Measure& measure) {
  std::vector<std::pair<std::string, Value>> rows(values.begin(), values.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return measure(a.second) > measure(b.second); });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  return rows;
}

Json PrefixesOf(const LiveScheduler& scheduler) {
  Json rows = Json::array();
  const bool is_reported = scheduler.finished().has_value();
  const auto measure = [](const SchedulerTasks& tasks) {
    return std::make_pair(tasks.finished, tasks.compute_seconds_in_all.value_or(0));
  };
  for (const auto& [prefix, tasks] : Largest(scheduler.tasks(), measure)) {
    rows.push_back({{"prefix", prefix},
                    {"finished", is_reported ? Json(tasks.finished) : Json()},
                    {"compute_seconds", is_reported ? RoundedSeconds(tasks.compute_seconds) : Json()},
                    {"compute_seconds_in_all", RoundedSeconds(tasks.compute_seconds_in_all)}});
  }
  return rows;
}

Json FinishedByWorker(const LiveScheduler& scheduler) {
  Json rows = Json::array();
  for (const auto& [worker, finished] : Largest(scheduler.finished_by_worker(), [](int64_t tasks) { return tasks; })) {
    rows.push_back({{"worker", worker}, {"finished", finished}});
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

/// nullopt: one of them does not know.
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

struct LiveDatasetRow : BreakdownRow {
  Number open;
  Number total_events;
};

struct LiveWorkerRow : WorkerRow {
  Number open;
  Number event_rate_now;
  Number waiting_share_now;
  Number memory_bytes;
};

using Keys = std::initializer_list<std::string_view>;

/// A row's members of these keys, in their order. `own` has those that only a live run has.
template <class Row>
Json Picked(const Row& row, Keys keys, const std::map<std::string_view, const Number*>& own) {
  Json picked = Json::object();
  for (const std::string_view key : keys) {
    Json& value = picked[std::string(key)];
    if (const auto found = own.find(key); found != own.end()) {
      WriteValue(*found->second, &value);
      continue;
    }
    const absl::Span<const Column> columns = Row::Columns();
    std::find_if(columns.begin(), columns.end(), [key](const Column& column) {
      return column.key == key;
    })->write(&row, &value);
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
    {"live_quiet_seconds", "s", "Quiet for", "Since anything was last recorded."},
    {"live_gpu_utilization", "ratio", "GPU utilisation now",
     "Share of the last moments in which some kernel ran, mean over the GPUs that processes of the run use (NVML); if "
     "the driver does not show whose processes use a GPU, over those that are busy."},
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

double Seconds(int64_t nanoseconds) { return nanoseconds / 1e9; }

Number Ratio(double part, double whole) { return whole > 0 ? Number(part / whole) : Number(); }

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
  run.state = Text::OrNull(NameOf(model.state()));
  run.exit_status = command.exit_status;
  run.engine = Text::OrNull(model.engine());
  return run;
}

MetricSet MetricsOf(const LiveModel& model, const LiveFigures& figures) {
  const LiveTotals& totals = model.totals();
  const double wall = figures.wall_seconds;
  const double busy = Seconds(totals.busy_ns);
  const double cores = figures.core_seconds;
  const auto events = static_cast<double>(totals.events);
  MetricSet metrics;
  const auto set = [&metrics](std::string_view key, const Number& value) {
    if (!value.has_value()) return metrics.SetNull(key, "");
    metrics.Set(key, value.is_integer() ? MetricValue(value.integer()) : MetricValue(*value));
  };
  set("wall_time", wall);
  set("busy_time", busy);
  if (totals.cpu_known) set("chunk_cpu_time", Seconds(totals.cpu_ns));
  set("num_chunks", totals.chunks);
  set("num_attempts", totals.attempts);
  set("num_failed_attempts", totals.failed);
  set("num_lost_attempts", totals.lost);
  set("num_recomputed_chunks", totals.recomputed);
  if (totals.events_known) {
    set("total_events", totals.events);
    set("event_rate_wall_khz", Ratio(events / 1e3, wall));
    set("event_rate_agg_khz", Ratio(events / 1e3, busy));
    set("event_rate_core_hz", Ratio(events, cores));
  }
  if (totals.bytes_known) {
    set("bytes_read_chunks", totals.bytes_read);
    set("overall_rate_gbps", Ratio(static_cast<double>(totals.bytes_read) * 8 / 1e9, wall));
  }
  set("core_seconds", cores);
  set("cpu_efficiency", figures.cpu_efficiency);
  set("core_efficiency", PossibleShare(Ratio(busy, cores)));
  set("speedup_factor", Ratio(busy, wall));
  int64_t peak_memory = 0;
  double utilization = 0;
  int64_t workers = 0;
  for (const LiveWorker& worker : model.workers()) {
    workers += worker.is_at_work();
    peak_memory = std::max(peak_memory, worker.peak_rss_bytes);
    if (worker.memory_limit_bytes.value_or(0) <= 0) continue;
    utilization = std::max(
        utilization, static_cast<double>(worker.peak_rss_bytes) / static_cast<double>(*worker.memory_limit_bytes));
  }
  if (peak_memory > 0) set("peak_memory_bytes", peak_memory);
  if (utilization > 0) set("memory_utilization_max", utilization);
  // what only a live run has
  set("live_workers", workers);
  set("live_cores", figures.cores);
  set("live_open_chunks", model.open_chunks());
  set("live_event_rate_hz", figures.event_rate);
  set("live_read_rate_mbs", figures.byte_rate / 1e6);
  set("live_busy_ratio", figures.busy_share);
  set("live_unrecovered_chunks", figures.unrecovered);
  set("live_announced_events", figures.progress.total_events);
  set("live_time_left_seconds", figures.progress.left);
  set("live_quiet_seconds", model.quiet_seconds());
  set("live_gpu_utilization", figures.gpus.utilization);
  set("live_gpu_memory_bytes", figures.gpus.memory_bytes);
  set("live_gpu_power_watts", figures.gpus.power_watts);
  AddSchedulerMetrics(model, &metrics);
  return metrics;
}

std::vector<LiveDatasetRow> DatasetRows(const LiveModel& model) {
  std::vector<const LiveDataset*> datasets;
  for (const LiveDataset& dataset : model.datasets()) datasets.push_back(&dataset);
  std::stable_sort(datasets.begin(), datasets.end(),
                   [](const LiveDataset* a, const LiveDataset* b) { return a->busy_ns > b->busy_ns; });
  std::vector<LiveDatasetRow> rows;
  for (const LiveDataset* dataset : datasets) {
    LiveDatasetRow& row = rows.emplace_back();
    row.name = dataset->name;
    row.chunks = dataset->chunks;
    row.attempts = dataset->attempts;
    row.failed = dataset->failed;
    row.open = dataset->open;
    row.events = dataset->events;
    row.total_events = ProgressOf(model, *dataset).total_events;
    row.bytes_read = dataset->bytes_read;
    row.duration_sum = Seconds(dataset->busy_ns);
    row.cpu_sum = Seconds(dataset->cpu_ns);
  }
  return rows;
}

/// Without what it did in the last seconds.
LiveWorkerRow RowOf(const LiveWorker& worker) {
  LiveWorkerRow row;
  row.name = worker.name;
  row.state = NameOfWorkerState(worker.state);
  row.cores = Number::Whole(worker.cores());
  row.open = worker.open.size();
  row.chunks = worker.chunks;
  row.failed = worker.failed;
  row.lost = worker.lost;
  row.events = worker.events;
  row.bytes_read = worker.bytes_read;
  row.duration_sum = Seconds(worker.busy_ns);
  row.cpu_sum = Seconds(worker.cpu_ns);
  if (worker.rss_bytes > 0) row.memory_bytes = worker.rss_bytes;
  if (worker.peak_rss_bytes > 0) row.peak_memory_bytes = worker.peak_rss_bytes;
  row.memory_limit_bytes = worker.memory_limit_bytes;
  return row;
}

/// The sum of the workers without a row of their own; its cores are those of the workers that run.
LiveWorkerRow OtherRow(const std::vector<const LiveWorker*>& others) {
  LiveWorker sum;
  sum.name = "(other)";
  sum.state = LiveState::kEnded;
  double cores = 0;
  size_t open = 0;
  for (const LiveWorker* worker : others) {
    if (worker->state == LiveState::kRunning) {
      sum.state = LiveState::kRunning;
      cores += worker->cores();
    } else if (worker->state == LiveState::kLost && sum.state == LiveState::kEnded) {
      sum.state = LiveState::kLost;
    }
    open += worker->open.size();
    sum += *worker;
  }
  LiveWorkerRow row = RowOf(sum);
  row.cores = Number::Whole(cores);
  row.open = open;
  return row;
}

std::vector<LiveWorkerRow> RowsOfWorkers(const LiveModel& model) {
  std::vector<const LiveWorker*> workers;
  std::vector<const LiveWorker*> others;
  for (const LiveWorker& worker : model.workers()) {
    if (worker.has_recorded()) (worker.is_other() ? others : workers).push_back(&worker);
  }
  std::stable_sort(workers.begin(), workers.end(), [](const LiveWorker* a, const LiveWorker* b) {
    return std::make_tuple(a->state != LiveState::kRunning, -a->busy_ns) <
           std::make_tuple(b->state != LiveState::kRunning, -b->busy_ns);
  });
  std::vector<LiveWorkerRow> rows;
  for (const LiveWorker* worker : workers) {
    const WorkerSecond recent = worker->SumOf(model.second() - kRecentSeconds, model.second() - 1);
    LiveWorkerRow& row = rows.emplace_back(RowOf(*worker));
    row.event_rate_now = static_cast<double>(recent.events) / kRecentSeconds;
    row.waiting_share_now = Ratio(static_cast<double>(recent.waiting_ns), static_cast<double>(recent.busy_ns));
  }
  if (!others.empty()) rows.push_back(OtherRow(others));
  return rows;
}

Quality QualityOf(const LiveTotals& totals) {
  Quality quality;
  quality.records_read = totals.records;
  quality.records_malformed = totals.malformed;
  quality.records_unknown = totals.unknown;
  quality.records_dropped = totals.dropped;
  quality.records_lost = totals.unrecorded;
  quality.summed_chunks = totals.summed;
  return quality;
}

Json DefinitionsOf(const MetricSet& metrics) {
  Json definitions = Json::object();
  const auto add = [&definitions](const MetricDefinition& definition) {
    definitions[definition.key] = {{"unit", definition.unit}, {"label", definition.label}, {"text", definition.text}};
  };
  for (const MetricDefinition& definition : MetricCatalog()) {
    if (metrics.Find(definition.key) != nullptr) add(definition);
  }
  for (const MetricDefinition& definition : LiveMetrics()) {
    if (FindMetric(definition.key) == nullptr) add(definition);
  }
  return definitions;
}

}  // namespace

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
    if (!TellsSeconds(scheduler)) reasons["compute_seconds_in_all"] = "the scheduler does not report them";
    row["not_measured"] = std::move(reasons);
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
  const std::vector<LiveDatasetRow> datasets = DatasetRows(model);
  measurement.datasets.assign(datasets.begin(), datasets.end());
  const std::vector<LiveWorkerRow> workers = RowsOfWorkers(model);
  measurement.workers.assign(workers.begin(), workers.end());
  measurement.quality = QualityOf(model.totals());
  return measurement;
}

Json LiveDocument(const LiveModel& model, const LiveFigures& figures) {
  const MetricSet metrics = MetricsOf(model, figures);
  Json document, values, not_measured = Json::object();
  for (const MetricDefinition& definition : LiveMetrics()) {
    if (const MetricValue* value = metrics.Find(definition.key)) values[definition.key] = JsonOf(*value);
    const std::string_view reason = metrics.Reason(definition.key);
    if (!reason.empty()) not_measured[definition.key] = reason;
  }
  document["schema"] = kMeasurementSchema;
  document["run"] = Picked(
      RunOf(model), {"id", "name", "command", "start_ns", "stop_ns", "boundary", "state", "exit_status", "engine"}, {});
  const std::string& command = model.command().command;  // one text: the log of the tree has its words
  document["run"]["command"] = command.empty() ? Json() : Json(command);
  document["metrics"] = std::move(values);
  document["definitions"] = DefinitionsOf(metrics);
  Json datasets = Json::array(), workers = Json::array();
  for (const LiveDatasetRow& row : DatasetRows(model)) {
    datasets.push_back(Picked<BreakdownRow>(row,
                                            {"name", "chunks", "attempts", "failed", "open", "events", "total_events",
                                             "bytes_read", "duration_sum", "cpu_sum"},
                                            {{"open", &row.open}, {"total_events", &row.total_events}}));
  }
  for (const LiveWorkerRow& row : RowsOfWorkers(model)) {
    workers.push_back(Picked<WorkerRow>(
        row,
        {"name", "state", "cores", "open", "chunks", "failed", "lost", "events", "event_rate_now", "waiting_share_now",
         "bytes_read", "duration_sum", "cpu_sum", "memory_bytes", "peak_memory_bytes", "memory_limit_bytes"},
        {{"open", &row.open},
         {"event_rate_now", &row.event_rate_now},
         {"waiting_share_now", &row.waiting_share_now},
         {"memory_bytes", &row.memory_bytes}}));
  }
  document["datasets"] = std::move(datasets);
  document["workers"] = std::move(workers);
  document["schedulers"] = SchedulersJson(model);
  document["quality"] = Picked(
      QualityOf(model.totals()),
      {"records_read", "records_malformed", "records_unknown", "records_dropped", "records_lost", "summed_chunks"}, {});
  document["quality"]["chunks_exact"] = model.totals().chunks_exact;  // else more than can be distinguished
  document["quality"]["not_measured"] = std::move(not_measured);
  return document;
}

Json OpenChunksJson(const LiveModel& model, size_t most) {
  std::vector<std::tuple<int64_t, const LiveWorker*, int64_t>> open;  // start, worker, number
  for (const LiveWorker& worker : model.workers()) {
    for (const auto& [number, chunk] : worker.open) open.emplace_back(chunk.start_ns, &worker, number);
  }
  std::sort(open.begin(), open.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(std::get<0>(a), std::get<2>(a)) < std::make_tuple(std::get<0>(b), std::get<2>(b));
  });
  if (open.size() > most) open.resize(most);
  Json rows = Json::array();
  for (const auto& [start_ns, worker, number] : open) {
    const OpenChunk& chunk = worker->open.at(number);
    rows.push_back({{"worker", worker->name},
                    {"chunk", number},
                    {"dataset", model.datasets()[chunk.dataset].name},
                    {"file", chunk.file.empty() ? Json() : Json(chunk.file)},
                    {"entry_start", JsonOf(Number(chunk.entry_start))},
                    {"entry_stop", JsonOf(Number(chunk.entry_stop))},
                    {"seconds", Seconds(std::max<int64_t>(0, model.now_ns() - start_ns))}});
  }
  return rows;
}

Json EventsJson(const LiveModel& model) {
  Json rows = Json::array();
  for (const LiveEvent& event : model.events().NewestFirst()) {
    rows.push_back(
        {{"number", event.number}, {"time_ns", event.time_ns}, {"kind", ToString(event.kind)}, {"text", event.text}});
  }
  return rows;
}

}  // namespace crema
