#include "collector/server/page_state.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "collector/server/live_key_figures.h"
#include "collector/server/scheduler_rows.h"
#include "collector/server/worker_order.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Digits beyond the fourth change every second and say nothing.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}
Json RoundedOrNull(const std::optional<double>& value) { return value.has_value() ? Json(Rounded(*value)) : Json(); }

void SetRun(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
            DeltaStore* store) {
  int64_t workers = 0;
  for (const LiveWorker& worker : model.workers()) {
    workers += worker.state == LiveState::kRunning && worker.has_recorded();
  }
  Json run;
  run["name"] = model.options().name;
  run["id"] = model.run_id();
  run["state"] = NameOf(model.state());
  run["has_schedulers_only"] = model.has_schedulers_only();
  run["trouble"] = LiveTrouble(model, figures);
  run["has_records"] = model.totals().records > 0 || !model.workers().empty();
  run["start_ms"] = run["has_records"] == true ? Json(model.start_ns() / 1'000'000) : Json();
  run["workers"] = workers;
  run["cores"] = figures.cores;
  run["engine"] = model.engine();
  run["command"] = model.command().command;
  run["exit_status"] = OrNull(model.command().exit_status);
  store->Set("run", std::move(run));
  Json rows = Json::array(), schedulers;
  for (const SourceState& source : sources) {
    rows.push_back({{"name", source.name}, {"is_there", source.is_there}, {"problem", source.problem}});
  }
  store->Set("sources", std::move(rows));
  WriteValue(SchedulerRows(model), &schedulers);
  store->Set("schedulers", std::move(schedulers));
}

void SetTiles(const LiveModel& model, const LiveFigures& figures, DeltaStore* store) {
  Json tiles;
  tiles["wall_seconds"] = std::floor(figures.wall_seconds);
  tiles["quiet_seconds"] = std::floor(model.quiet_seconds());
  tiles["mean_event_rate"] = RoundedOrNull(figures.mean_event_rate);
  tiles["mean_byte_rate"] = RoundedOrNull(figures.mean_byte_rate);
  tiles["failed"] = model.has_schedulers_only() ? Json() : Json(model.totals().failed + model.totals().lost);
  Json rows = Json::array();
  for (const KeyFigureRow& row : LiveKeyFigureRows(model, figures)) {
    std::string notes = row.why_not;
    for (const ToldFigure& note : row.notes) notes += (notes.empty() ? "" : " · ") + note.text();
    rows.push_back({{"key", row.figure.key},
                    {"label", row.label},
                    {"text", row.text},
                    {"mark", row.mark.has_value() ? Json(ToString(*row.mark)) : Json()},
                    {"note", std::move(notes)}});
  }
  tiles["rows"] = std::move(rows);
  store->Set("tiles", std::move(tiles));
}

void SetProgress(const LiveModel& model, const LiveFigures& figures, DeltaStore* store) {
  const Progress& progress = figures.progress;
  store->Set("progress", {{"chunks", model.has_schedulers_only() ? Json() : Json(model.totals().chunks)},
                          {"chunks_exact", model.totals().chunks_exact},
                          {"open_chunks", model.open_chunks()},
                          {"events", progress.events},
                          {"total_events", OrNull(progress.total_events)},
                          {"share", RoundedOrNull(progress.share)},
                          {"left", RoundedOrNull(progress.left)},
                          {"left_low", RoundedOrNull(progress.left_low)},
                          {"left_high", RoundedOrNull(progress.left_high)}});
  for (size_t i = 0; i < model.datasets().size(); ++i) {
    const LiveDataset& dataset = model.datasets()[i];
    store->SetRow("datasets", std::to_string(i),
                  {{"name", dataset.name},
                   {"chunks", dataset.chunks},
                   {"open", dataset.open},
                   {"failed", dataset.failed},
                   {"events", dataset.events},
                   {"total_events", OrNull(ProgressOf(model, dataset).total_events)}});
  }
  Json recent = Json::array();
  for (const RecentShare& share : figures.recent) {
    recent.push_back({{"key", share.key}, {"label", share.label}, {"share", Rounded(share.share)}});
  }
  store->Set("recent", {{"seconds", figures.recent_seconds}, {"shares", std::move(recent)}});
}

std::set<size_t> ShownWorkers(const LiveModel& model) {
  const std::vector<size_t> order = WorstWorkersFirst(model, kMostWorkerRows);
  return {order.begin(), order.end()};
}

void SetWorkers(const LiveModel& model, const std::set<size_t>& shown, DeltaStore* store) {
  store->KeepRows("workers", [&](const std::string& key) { return shown.count(std::stoul(key)) > 0; });
  size_t all = 0;
  for (const LiveWorker& worker : model.workers()) all += worker.has_recorded();
  store->Set("workers_hidden", all - shown.size());
  for (const size_t i : shown) {
    const LiveWorker& worker = model.workers()[i];
    const WorkerSecond recent = worker.SumOf(model.second() - kRecentSeconds, model.second() - 1);
    const double seconds = std::clamp(static_cast<double>(model.stop_ns() - worker.start_ns) / 1e9, 1.0,
                                      static_cast<double>(kRecentSeconds));
    Json lanes = Json::array();
    for (const auto& [number, chunk] : worker.open) {
      if (static_cast<int64_t>(lanes.size()) < worker.cores()) lanes.push_back(chunk.dataset);
    }
    double waiting = 0;
    if (recent.busy_ns > 0) waiting = static_cast<double>(recent.waiting_ns) / static_cast<double>(recent.busy_ns);
    store->SetRow("workers", std::to_string(i),
                  {{"name", worker.name},
                   {"state", NameOfWorkerState(worker.state)},
                   {"cores", worker.cores()},
                   {"open", std::move(lanes)},
                   {"waiting", std::round(waiting * 100) / 100},
                   {"memory", worker.rss_bytes},
                   {"limit", OrNull(worker.memory_limit_bytes)},
                   {"memory_mark", ToString(MemoryMarkOf(model, worker))},
                   {"slow", worker.slow_is_warned},
                   {"concern", static_cast<int>(ConcernOf(model, worker))},  // the order of rows
                   {"chunks", worker.chunks},
                   {"event_rate", Rounded(static_cast<double>(recent.events) / seconds)}});
  }
}

/// Seconds since the run's start, to a hundredth.
double SecondsOf(const LiveModel& model, int64_t time_ns) {
  return std::round(static_cast<double>(time_ns - model.start_ns()) / 1e7) / 100;
}

/// What threads did lately, and what they do now: `[worker, lane, start, stop, dataset, failed, waiting percent]`, and
/// of open chunks `[worker, lane, start, dataset]`.
void SetStream(const LiveModel& model, const std::set<size_t>& shown, DeltaStore* store) {
  const int64_t now_ns = model.stop_ns();
  store->Set("stream_seconds", kStreamSeconds);
  store->Set("stream_now", SecondsOf(model, now_ns));
  const int64_t oldest_ns = now_ns - kStreamSeconds * 1'000'000'000;
  std::set<std::string> kept;
  for (const LatestChunk& chunk : model.latest_chunks().all()) {
    if (chunk.stop_ns < oldest_ns || shown.count(chunk.worker) == 0) continue;
    std::string key = std::to_string(chunk.number);
    store->SetRow("stream", key,
                  {chunk.worker, chunk.lane, SecondsOf(model, chunk.start_ns), SecondsOf(model, chunk.stop_ns),
                   chunk.dataset, chunk.failed, chunk.waiting_percent});
    kept.insert(std::move(key));
  }
  store->KeepRows("stream", [&](const std::string& key) { return kept.count(key) > 0; });
  kept.clear();
  for (const size_t worker : shown) {
    for (const auto& [number, chunk] : model.workers()[worker].open) {
      if (chunk.lane < 0) continue;
      std::string key = fmt::format("{}-{}", worker, number);
      store->SetRow("open", key, {worker, chunk.lane, SecondsOf(model, chunk.start_ns), chunk.dataset});
      kept.insert(std::move(key));
    }
  }
  store->KeepRows("open", [&](const std::string& key) { return kept.count(key) > 0; });
}

void SetHistory(const LiveModel& model, const LiveFigures& figures, DeltaStore* store) {
  const RateSeries& series = model.series();
  store->Set("series_bin_seconds", series.bin_seconds());
  store->KeepRows("series", [&](const std::string& key) { return std::stoul(key) < series.bins().size(); });
  for (size_t i = 0; i < series.bins().size(); ++i) {
    store->SetRow("series", std::to_string(i), {series.bins()[i].events, series.bins()[i].bytes});
  }
  // the last minute for the spark lines: a row once it is over, and then never again
  const int64_t last = model.second() - 1;
  const RunSecond& second = model.recent().At(last);
  const double busy = second.core_ns > 0 ? second.occupied_ns / second.core_ns * static_cast<double>(figures.cores) : 0;
  store->SetRow("seconds", std::to_string(last),
                {Rounded(figures.event_rate), Rounded(figures.byte_rate), Rounded(busy),
                 RoundedOrNull(figures.cpu_efficiency), figures.memory.has_value() ? figures.memory->bytes : 0,
                 model.totals().failed + model.totals().lost, RoundedOrNull(figures.gpus.utilization)});
  store->KeepRows("seconds", [&](const std::string& key) { return std::stoll(key) > last - 60; });
}

void SetEvents(const LiveModel& model, DeltaStore* store) {
  const auto& events = model.events().all();
  const int64_t first = events.empty() ? 0 : events.front().number;
  store->KeepRows("events", [&](const std::string& key) { return std::stoll(key) >= first; });
  for (const LiveEvent& event : events) {
    store->SetRow("events", std::to_string(event.number),
                  {{"seconds", std::max(0.0, std::floor(static_cast<double>(event.time_ns - model.start_ns()) / 1e9))},
                   {"kind", ToString(event.kind)},
                   {"text", event.text}});
  }
}

}  // namespace

void UpdatePage(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
                DeltaStore* store) {
  store->Begin();
  SetRun(model, figures, sources, store);
  SetTiles(model, figures, store);
  SetProgress(model, figures, store);
  const std::set<size_t> shown = ShownWorkers(model);
  SetWorkers(model, shown, store);
  SetStream(model, shown, store);
  SetHistory(model, figures, store);
  SetEvents(model, store);
}

}  // namespace crema
