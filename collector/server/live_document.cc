#include "collector/server/live_document.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collector/document/measurement_schema.h"
#include "collector/metrics/catalog/catalog.h"
#include "collector/server/scheduler_rows.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

double Seconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

Json Ratio(double part, double whole) { return whole > 0 ? Json(part / whole) : Json(); }

Json RunOf(const LiveModel& model) {
  const LiveCommand& command = model.command();
  Json run;
  run["id"] = model.run_id().empty() ? Json() : Json(model.run_id());
  run["name"] = model.options().name;
  run["command"] = command.command.empty() ? Json() : Json(command.command);
  // Else all that is known is since when it is looked at.
  const bool is_timed = !model.is_bare() && (command.known || model.totals().records > 0 || !model.workers().empty());
  run["start_ns"] = is_timed ? Json(model.start_ns()) : Json();
  run["stop_ns"] = is_timed ? Json(model.stop_ns()) : Json();
  run["boundary"] = command.known ? "command" : "processes";
  run["state"] = NameOf(model.state());
  run["exit_status"] = OrNull(command.exit_status);
  run["engine"] = model.engine().empty() ? Json() : Json(model.engine());
  return run;
}

Json MetricsOf(const LiveModel& model, const LiveFigures& figures) {
  const LiveTotals& totals = model.totals();
  const double wall = figures.wall_seconds;
  const double busy = Seconds(totals.busy_ns);
  const double cores = figures.core_seconds;
  const auto events = static_cast<double>(totals.events);
  Json metrics;
  metrics["wall_time"] = wall;
  metrics["busy_time"] = busy;
  if (totals.cpu_known) metrics["chunk_cpu_time"] = Seconds(totals.cpu_ns);
  metrics["num_chunks"] = totals.chunks;
  metrics["num_attempts"] = totals.attempts;
  metrics["num_failed_attempts"] = totals.failed;
  metrics["num_lost_attempts"] = totals.lost;
  metrics["num_recomputed_chunks"] = totals.recomputed;
  if (totals.events_known) {
    metrics["total_events"] = totals.events;
    metrics["event_rate_wall_khz"] = Ratio(events / 1e3, wall);
    metrics["event_rate_agg_khz"] = Ratio(events / 1e3, busy);
    metrics["event_rate_core_hz"] = Ratio(events, cores);
  }
  if (totals.bytes_known) {
    metrics["bytes_read_chunks"] = totals.bytes_read;
    metrics["overall_rate_gbps"] = Ratio(static_cast<double>(totals.bytes_read) * 8 / 1e9, wall);
  }
  metrics["core_seconds"] = cores;
  metrics["cpu_efficiency"] = OrNull(figures.cpu_efficiency);
  metrics["core_efficiency"] = Ratio(busy, cores);
  metrics["speedup_factor"] = Ratio(busy, wall);
  int64_t peak_memory = 0;
  double utilization = 0;
  int64_t workers = 0;
  for (const LiveWorker& worker : model.workers()) {
    workers += worker.has_recorded() && worker.state == LiveState::kRunning;
    peak_memory = std::max(peak_memory, worker.peak_rss_bytes);
    if (worker.memory_limit_bytes.value_or(0) <= 0) continue;
    utilization = std::max(
        utilization, static_cast<double>(worker.peak_rss_bytes) / static_cast<double>(*worker.memory_limit_bytes));
  }
  if (peak_memory > 0) metrics["peak_memory_bytes"] = peak_memory;
  if (utilization > 0) metrics["memory_utilization_max"] = utilization;
  // what only a live run has
  metrics["live_workers"] = workers;
  metrics["live_cores"] = figures.cores;
  metrics["live_open_chunks"] = model.open_chunks();
  metrics["live_event_rate_hz"] = figures.event_rate;
  metrics["live_read_rate_mbs"] = figures.byte_rate / 1e6;
  metrics["live_busy_ratio"] = OrNull(figures.busy_share);
  metrics["live_unrecovered_chunks"] = figures.unrecovered;
  metrics["live_announced_events"] = OrNull(figures.progress.total_events);
  metrics["live_time_left_seconds"] = OrNull(figures.progress.left);
  metrics["live_quiet_seconds"] = model.quiet_seconds();
  return metrics;
}

struct LiveDefinition {
  std::string_view key;
  std::string_view unit;
  std::string_view label;
  std::string_view text;
};

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
    {"live_scheduler_workers", "count", "Workers of the scheduler",
     "As a scheduler without crema's plug-in tells, like the next five."},
    {"live_scheduler_cores", "cores", "Cores of the scheduler", "Threads of its workers."},
    {"live_scheduler_tasks", "count", "Tasks that the scheduler knows", "In whatever state."},
    {"live_erred_tasks", "count", "Tasks that failed", "Those that the scheduler still knows."},
    {"live_finished_tasks", "count", "Finished tasks", "Well, and told by the scheduler since it is followed."},
    {"live_finished_task_rate_hz", "Hz", "Tasks finished now", "Per second, in the last 30 s."},
};

Json DefinitionsOf(const Json& metrics) {
  Json definitions = Json::object();
  for (const MetricDefinition& definition : MetricCatalog()) {
    if (!metrics.contains(definition.key)) continue;
    definitions[definition.key] = {{"unit", definition.unit}, {"label", definition.label}, {"text", definition.text}};
  }
  for (const LiveDefinition& definition : kLiveDefinitions) {
    definitions[std::string(definition.key)] = {
        {"unit", definition.unit}, {"label", definition.label}, {"text", definition.text}};
  }
  return definitions;
}

Json DatasetRows(const LiveModel& model) {
  std::vector<const LiveDataset*> datasets;
  for (const LiveDataset& dataset : model.datasets()) datasets.push_back(&dataset);
  std::stable_sort(datasets.begin(), datasets.end(),
                   [](const LiveDataset* a, const LiveDataset* b) { return a->busy_ns > b->busy_ns; });
  Json rows = Json::array();
  for (const LiveDataset* dataset : datasets) {
    const Progress progress = ProgressOf(model, *dataset);
    rows.push_back({{"name", dataset->name},
                    {"chunks", dataset->chunks},
                    {"attempts", dataset->attempts},
                    {"failed", dataset->failed},
                    {"open", dataset->open},
                    {"events", dataset->events},
                    {"total_events", OrNull(progress.total_events)},
                    {"bytes_read", dataset->bytes_read},
                    {"duration_sum", Seconds(dataset->busy_ns)},
                    {"cpu_sum", Seconds(dataset->cpu_ns)}});
  }
  return rows;
}

const char* NameOfWorker(LiveState state) {
  switch (state) {
    case LiveState::kRunning:
      return "running";
    case LiveState::kEnded:
      return "ended";
    case LiveState::kLost:
      break;
  }
  return "lost";
}

/// The sum of the workers without a row of their own; its cores are those of the workers that run.
Json OtherRow(const std::vector<const LiveWorker*>& others) {
  LiveWorker sum;
  LiveState state = LiveState::kEnded;
  int64_t cores = 0;
  size_t open = 0;
  for (const LiveWorker* worker : others) {
    if (worker->state == LiveState::kRunning) {
      state = LiveState::kRunning;
      cores += worker->cores();
    } else if (worker->state == LiveState::kLost && state == LiveState::kEnded) {
      state = LiveState::kLost;
    }
    open += worker->open.size();
    sum.chunks += worker->chunks;
    sum.failed += worker->failed;
    sum.lost += worker->lost;
    sum.events += worker->events;
    sum.bytes_read += worker->bytes_read;
    sum.busy_ns += worker->busy_ns;
    sum.cpu_ns += worker->cpu_ns;
  }
  return {{"name", "(other)"},
          {"state", NameOfWorker(state)},
          {"cores", cores},
          {"open", open},
          {"chunks", sum.chunks},
          {"failed", sum.failed},
          {"lost", sum.lost},
          {"events", sum.events},
          {"event_rate_now", Json()},
          {"waiting_share_now", Json()},
          {"bytes_read", sum.bytes_read},
          {"duration_sum", Seconds(sum.busy_ns)},
          {"cpu_sum", Seconds(sum.cpu_ns)},
          {"memory_bytes", Json()},
          {"peak_memory_bytes", Json()},
          {"memory_limit_bytes", Json()}};
}

Json WorkerRows(const LiveModel& model) {
  std::vector<const LiveWorker*> workers;
  std::vector<const LiveWorker*> others;
  for (const LiveWorker& worker : model.workers()) {
    if (worker.has_recorded()) (worker.is_other() ? others : workers).push_back(&worker);
  }
  std::stable_sort(workers.begin(), workers.end(), [](const LiveWorker* a, const LiveWorker* b) {
    return std::make_tuple(a->state != LiveState::kRunning, -a->busy_ns) <
           std::make_tuple(b->state != LiveState::kRunning, -b->busy_ns);
  });
  Json rows = Json::array();
  for (const LiveWorker* worker : workers) {
    const WorkerSecond recent = worker->SumOf(model.second() - kRecentSeconds, model.second() - 1);
    rows.push_back(
        {{"name", worker->name},
         {"state", NameOfWorker(worker->state)},
         {"cores", worker->cores()},
         {"open", worker->open.size()},
         {"chunks", worker->chunks},
         {"failed", worker->failed},
         {"lost", worker->lost},
         {"events", worker->events},
         {"event_rate_now", static_cast<double>(recent.events) / kRecentSeconds},
         {"waiting_share_now", Ratio(static_cast<double>(recent.waiting_ns), static_cast<double>(recent.busy_ns))},
         {"bytes_read", worker->bytes_read},
         {"duration_sum", Seconds(worker->busy_ns)},
         {"cpu_sum", Seconds(worker->cpu_ns)},
         {"memory_bytes", worker->rss_bytes > 0 ? Json(worker->rss_bytes) : Json()},
         {"peak_memory_bytes", worker->peak_rss_bytes > 0 ? Json(worker->peak_rss_bytes) : Json()},
         {"memory_limit_bytes", OrNull(worker->memory_limit_bytes)}});
  }
  if (!others.empty()) rows.push_back(OtherRow(others));
  return rows;
}

Json QualityOf(const LiveTotals& totals, const Json& not_measured) {
  return {{"records_read", totals.records},      {"records_malformed", totals.malformed},
          {"records_unknown", totals.unknown},   {"records_dropped", totals.dropped},
          {"records_lost", totals.unrecorded},   {"summed_chunks", totals.summed},
          {"chunks_exact", totals.chunks_exact}, {"not_measured", not_measured}};
}

}  // namespace

Json LiveDocument(const LiveModel& model, const LiveFigures& figures) {
  Json document;
  document["schema"] = kMeasurementSchema;
  document["run"] = RunOf(model);
  document["metrics"] = MetricsOf(model, figures);
  Json not_measured = Json::object();
  AddSchedulerMetrics(model, &document["metrics"], &not_measured);
  document["definitions"] = DefinitionsOf(document["metrics"]);
  document["datasets"] = DatasetRows(model);
  document["workers"] = WorkerRows(model);
  document["schedulers"] = SchedulerRows(model);
  document["quality"] = QualityOf(model.totals(), not_measured);
  return document;
}

Json OpenChunkRows(const LiveModel& model, size_t most) {
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
                    {"entry_start", OrNull(chunk.entry_start)},
                    {"entry_stop", OrNull(chunk.entry_stop)},
                    {"seconds", Seconds(std::max<int64_t>(0, model.now_ns() - start_ns))}});
  }
  return rows;
}

Json EventRows(const LiveModel& model) {
  Json rows = Json::array();
  for (const LiveEvent& event : model.events().NewestFirst()) {
    rows.push_back(
        {{"number", event.number}, {"time_ns", event.time_ns}, {"kind", ToString(event.kind)}, {"text", event.text}});
  }
  return rows;
}

}  // namespace crema
