// Verdicts on the workers' memory and on when they came.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/insight/memory_growth.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kMinute = 60;

/// `; at its end it gained 270 MB a minute, and was 90.0 s from its limit`; empty where its memory did not grow at
/// last.
std::string HowSoonAtLimit(const JudgedRun& run, const WorkerRow& worker) {
  const auto limit = static_cast<int64_t>(worker.memory_limit_bytes.value_or(0));
  const std::vector<MemoryPoint> memory = LastMemoryOf(run.measurement, worker.name.str());
  const std::optional<double> growth = GrowthOf(memory, limit);
  if (!growth.has_value()) return "";
  return fmt::format("; {} {} a minute, and {} {} from it", run.is_running() ? "it gains" : "at its end it gained",
                     HumanMemory(kMinute * *growth), run.is_running() ? "is" : "was",
                     HumanDuration(*SecondsToLimit(memory, limit)));
}

void JudgePressure(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("memory-pressure");
  const std::optional<double> used = run.measurement.Metric("memory_utilization_max");
  if (!used.has_value()) return;
  const KeyFigureBand band = MemoryBand(run.measurement.run.engine.str());
  const Bound bad = From(band.bad);
  if (!From(band.good).Holds(*used)) return;
  std::string name, how_soon;
  double largest = 0;
  for (const WorkerRow& worker : run.measurement.workers) {
    const double limit = worker.memory_limit_bytes.value_or(0);
    const double peak = worker.peak_memory_bytes.value_or(0);
    if (limit <= 0 || peak / limit <= largest) continue;
    largest = peak / limit;
    name = worker.name.str();
    how_soon = HowSoonAtLimit(run, worker);
  }
  run.Add(rule, 0,
          fmt::format("{} used {} of its memory limit{}.", name.empty() ? "A worker" : ShortName(name),
                      HumanPercent(*used), how_soon),
          {{"memory_utilization_max", *used}});
  if (bad.Holds(*used)) run.verdicts->back().severity = Severity::kBad;
}

/// The worker that came closest to its limit, as memory grows with its events.
struct GrowingWorker {
  std::string name;
  double share = 0;  ///< of the limit
  double limit_bytes = 0;
  double left_bytes = 0;
  double events_per_second = 0;
};

GrowingWorker FindFullest(const Measurement& measurement) {
  GrowingWorker fullest;
  for (const WorkerRow& worker : measurement.workers) {
    const double limit = worker.memory_limit_bytes.value_or(0);
    const double peak = worker.peak_memory_bytes.value_or(0);
    const double seconds = worker.stop.value_or(0) - worker.start.value_or(0);
    if (limit <= 0 || seconds <= 0 || peak / limit <= fullest.share) continue;
    fullest = {worker.name.str(), peak / limit, limit, std::max(0.0, limit - peak),
               worker.events.value_or(0) / seconds};
  }
  return fullest;
}

/// As memory grows with events: `; at that rate w3, the fullest worker, gains 270 MB a minute and was 90.0 s from its
/// limit of 4.00 GB`; empty where no limit is known.
std::string HowSoonFull(const JudgedRun& run, double bytes_per_event) {
  const GrowingWorker worker = FindFullest(run.measurement);
  const double bytes_per_second = bytes_per_event * worker.events_per_second;
  if (bytes_per_second <= 0) return "";
  const std::string limit = " its limit of " + HumanMemory(worker.limit_bytes);
  return fmt::format("; at that rate {}, the fullest worker, gains {} a minute and {}", ShortName(worker.name),
                     HumanMemory(kMinute * bytes_per_second),
                     worker.left_bytes <= 0 ? "reached" + limit
                                            : fmt::format("{} {} from{}", run.is_running() ? "is" : "was",
                                                          HumanDuration(worker.left_bytes / bytes_per_second), limit));
}

void JudgeGrowth(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("memory-growth");
  const std::optional<double> low = run.measurement.Metric("rss_slope_low");
  const std::optional<double> slope = run.measurement.Metric("rss_slope");
  if (!low.has_value() || !slope.has_value() || *low <= 0) return;
  double events = 0;
  double memory = 0;
  for (const WorkerRow& worker : run.measurement.workers) {
    events = std::max(events, worker.events.value_or(0));
    const double peak = worker.peak_memory_bytes.value_or(0);
    memory = std::max(memory, worker.memory_limit_bytes.value_or(peak));
  }
  // what the lower end of the interval adds over the events of the busiest worker
  constexpr double kEventsOfSlope = 1000;
  const double growth = *low / kEventsOfSlope * events;
  if (memory <= 0 || !rule.threshold.Holds(growth / memory)) return;
  run.Add(rule, growth / memory,
          fmt::format("Memory grows by {} with every 1 000 events, and does not come back{}.", HumanMemory(*slope),
                      HowSoonFull(run, *slope / kEventsOfSlope)),
          {{"rss_slope", *slope}, {"rss_slope_low", *low}, {"workers.events", events}});
}

void JudgeLeaks(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("leaking-section");
  const double most_live = run.Metric("peak_live_bytes");
  const SectionRow* worst = nullptr;
  double worst_growth = 0;
  for (const SectionRow& row : run.measurement.sections) {
    const double growth = row.live_growth_bytes.value_or(0);
    const double chunks = row.chunks.value_or(row.count.value_or(0));
    if (most_live <= 0 || !kMuchKept.Holds(growth) || !rule.threshold.Holds(growth / most_live)) continue;
    if (!kChunksOfLeak.Holds(chunks) || growth <= worst_growth) continue;
    worst = &row;
    worst_growth = growth;
  }
  if (worst == nullptr) return;
  const std::string path = worst->path.str();
  run.Add(rule, worst_growth / most_live,
          fmt::format("{} keeps memory from chunk to chunk: {} more is live at the end than half-way.",
                      path == kOtherName ? "Code of chunks outside every section" : "Section " + ShortName(path),
                      HumanMemory(worst_growth)),
          {{"sections.live_growth_bytes", worst_growth},
           {"sections.live_bytes", worst->live_bytes.value_or(0)},
           {"peak_live_bytes", most_live}});
}

/// Waiting for workers: the worker-seconds that were missing until nearly all were there.
struct Lag {
  double seconds = 0;          ///< until then
  double missing = 0;          ///< of the most workers over the whole run
  double missing_seconds = 0;  ///< of workers
  double most = 0;
};

Lag FindLag(const Measurement& measurement) {
  Lag lag;
  const double wall = measurement.Metric("wall_time").value_or(0);
  const auto count = [](const TimelinePoint& point) { return std::isnan(point.value) ? 0 : point.value; };
  for (const TimelinePoint& point : measurement.timelines.worker_counts) lag.most = std::max(lag.most, count(point));
  if (wall <= 0 || lag.most <= 0) return lag;
  double before = 0;
  double workers = 0;
  double missing = 0;
  for (const TimelinePoint& point : measurement.timelines.worker_counts) {
    const double seconds = std::clamp(point.seconds, 0.0, wall);
    missing += (lag.most - workers) * (seconds - before);
    before = seconds;
    workers = count(point);
    if (!kNearlyAllWorkers.Holds(workers / lag.most)) continue;
    lag.seconds = seconds;
    lag.missing_seconds = missing;
    lag.missing = missing / (lag.most * wall);
    return lag;
  }
  return lag;
}

void JudgeScaling(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("scaling-lag");
  const Lag lag = FindLag(run.measurement);
  if (!kSeveral.Holds(lag.most) || !kLongLag.Holds(lag.seconds) || !rule.threshold.Holds(lag.missing)) return;
  run.Add(rule, lag.missing,
          fmt::format("It took {} until nearly all of the {} workers were there; {} of what they could have done is "
                      "missing.",
                      HumanDuration(lag.seconds), HumanCount(lag.most), HumanPercent(lag.missing)),
          {{"peak_workers", lag.most},
           {"timelines.worker_counts.seconds", lag.seconds},
           {"workers.missing_seconds", lag.missing_seconds},
           {std::string(kMissingShare), lag.missing}});
}

/// When workers ran out of chunks, one after another.
struct RunningOut {
  double most = 0;   ///< workers between their first and last chunk at once
  double saved = 0;  ///< seconds that the run would have been shorter, had they shared the rest
  double alone = 0;  ///< seconds for which only `last` had one
  std::string last;
};

RunningOut FindRunningOut(const Measurement& measurement) {
  RunningOut found;
  struct Change {
    double at, more;  // workers more or fewer
    bool retires;
  };
  std::vector<Change> changes;
  double last = 0, before_last = 0;
  for (const WorkerRow& worker : measurement.workers) {
    if (!worker.first_chunk.has_value() || !worker.last_chunk.has_value() || worker.state == "lost") continue;
    changes.push_back({*worker.first_chunk, 1, false});
    changes.push_back({*worker.last_chunk, -1, worker.left_reason == "retired"});
    before_last = std::max(before_last, std::min(last, *worker.last_chunk));
    if (*worker.last_chunk > last) found.last = worker.name.str();
    last = std::max(last, *worker.last_chunk);
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return std::pair(a.at, a.more) < std::pair(b.at, b.more); });
  double active = 0;
  for (const Change& change : changes) found.most = std::max(found.most, active += change.more);
  double from = 0, present = found.most;  // workers that could have chunks: one that was retired can have no more
  for (const Change& change : changes) {
    const bool is_shared = present <= 0 || kNearlyAllWorkers.Holds(active / present);
    if (is_shared) found.saved = 0;
    if (!is_shared && active > 0) found.saved += (change.at - from) * (1 - active / present);
    from = change.at;
    active += change.more;
    if (change.retires) present -= 1;
    if (change.more > 0) present = std::min(present + 1, found.most);
    present = std::max(present, active);
  }
  found.alone = last - before_last;
  return found;
}

void JudgeLastWorker(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("last-worker");
  const double wall = run.Metric("wall_time");
  const RunningOut found = FindRunningOut(run.measurement);
  if (run.is_running() || wall <= 0 || !kSeveral.Holds(found.most) || !rule.threshold.Holds(found.saved / wall)) return;
  std::string sentence =
      fmt::format("Workers ran out of chunks at different times: sharing the rest would have saved {} of {}.",
                  HumanDuration(found.saved), HumanDuration(wall));
  if (kMostOfIt.Holds(found.alone / found.saved)) {
    sentence = fmt::format("For {} of {} the run waited for {} alone: all others had ended their last chunks.",
                           HumanDuration(found.alone), HumanDuration(wall), ShortName(found.last));
  }
  run.Add(rule, found.saved / wall, sentence,
          {{"workers.last_chunk.saved_seconds", found.saved}, {"workers.last_chunk.alone_seconds", found.alone}},
          found.saved / wall);
}

}  // namespace

void JudgeWorkers(const JudgedRun& run) {
  JudgePressure(run);
  JudgeGrowth(run);
  JudgeLeaks(run);
  JudgeScaling(run);
  JudgeLastWorker(run);
}

}  // namespace crema
