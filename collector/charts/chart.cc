#include "collector/charts/chart.h"

#include "collector/charts/families.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

constexpr std::string_view kCustom = "custom_", kCompare = "compare_";

/// The metrics that two runs are compared in when nobody says which.
constexpr std::string_view kComparedMetrics[] = {
    "wall_time",           "event_rate_wall_khz",       "cpu_efficiency",    "core_seconds",
    "chunk_duration_mean", "chunk_time_per_event_mean", "peak_memory_bytes", "io_overhead_pct"};

std::string RunName(const Measurement& measurement) {
  return measurement.run.name.empty() ? "run" : ShownName(measurement.run.name);
}

/// Where a figure that somebody finds in a talk comes from.
std::string SourceLine(const Measurement& measurement) {
  std::string line = "crema " + measurement.provenance.crema.str();
  const std::string& start = measurement.run.start;
  if (start.size() >= 16) line += " · run of " + start.substr(0, 10) + " " + start.substr(11, 5) + " UTC";
  if (!measurement.run.id.empty()) line += " · " + ShownName(measurement.run.id);
  return line;
}

std::string LabelOf(std::string_view metric) {
  const MetricDefinition* definition = FindMetric(metric);
  return definition == nullptr ? std::string(metric) : definition->label;
}

/// The row of one chart; null where the name is none, or stands for many.
const ChartKind* FindChartKind(std::string_view name) {
  const ChartKind* kind = FindBy(ChartKinds(), &ChartKind::name, name);
  return kind == nullptr || kind->draw == nullptr ? nullptr : kind;
}

/// A chart before it has figures: what it is called and what it asks.
absl::StatusOr<Chart> NamedChart(std::string_view name, const ChartInput& input) {
  Chart chart;
  chart.name = name;
  if (const ChartKind* kind = FindChartKind(name)) {
    chart.title = kind->question;
  } else if (BeginsWith(name, kCustom)) {
    chart.title = fmt::format("What values did {} have?", ShownName(name.substr(kCustom.size())));
  } else if (BeginsWith(name, kCompare)) {
    chart.title = fmt::format("{}: do the runs differ?", LabelOf(name.substr(kCompare.size())));
  } else {
    for (const auto& [former, answer] : kFormerCharts) {
      if (name != former) continue;
      return absl::NotFoundError(fmt::format("the chart `{}` is gone; `{}` answers its question", former, answer));
    }
    const std::vector<std::string> names = ChartNames(input);
    return absl::NotFoundError(fmt::format("no chart is called `{}`{}; `crema plot --list` names them", ShownName(name),
                                           DidYouMean(name, {names.begin(), names.end()})));
  }
  return chart;
}

absl::StatusOr<Drawing> Draw(std::string_view name, const ChartInput& input) {
  if (const ChartKind* kind = FindChartKind(name)) return kind->draw(input);
  if (BeginsWith(name, kCustom)) {
    const std::string_view metric = name.substr(kCustom.size());
    for (const CustomMetricRow& row : input.measurement->custom_metrics) {
      if (row.name == metric) return DrawCustomMetric(row);
    }
    return absl::NotFoundError(fmt::format(
        "no metric `{}` was recorded{}; `crema show SOURCE --table metrics` names them", ShownName(metric),
        DidYouMean(metric, Mapped<std::string_view>(input.measurement->custom_metrics, &CustomMetricRow::name))));
  }
  const std::string_view metric = name.substr(kCompare.size());
  if (input.measurement->metrics.Find(metric) == nullptr) {
    const auto keys = Mapped<std::string_view>(MetricCatalog(), &MetricDefinition::key);
    return absl::NotFoundError(fmt::format("no metric is called `{}`{}; docs/metrics.md names them", ShownName(metric),
                                           DidYouMean(metric, keys)));
  }
  return DrawComparedMetric(input, metric);
}

}  // namespace

const std::vector<ChartKind>& ChartKinds() {
  static const std::vector<ChartKind> kTable = {
      {"activity_breakdown", "Where time goes", "Where did the core-seconds go?",
       "a bar for each part of the budget, with the colour of its group", DrawActivityBreakdown},
      {"efficiency_summary", "Key figures", "Was the run efficient?",
       "bars in per cent; behind them the good, watch and bad parts of each scale", DrawEfficiencySummary},
      {"section_icicle", "Where time goes", "Which sections of a chunk take the time?",
       "nested boxes: the width is the time, the colour says CPU or waiting", DrawSectionIcicle},
      {"section_self_time", "Where time goes", "Which section is worth making faster?",
       "a bar for each section's own time; the 25 largest", DrawSectionSelfTime},
      {"contention", "Where time goes", "Do chunks wait for longer while more of them are open?",
       "blocked time an event over the mean open lanes, medians of groups, with the slope and its interval",
       DrawContention},
      {"activity_timeline", "Where time goes", "What did the cores do as time went on?",
       "stacked areas: CPU, waiting, no chunk open, in cores", DrawActivityTimeline},
      {"event_latencies", "Where time goes", "How long do events take that go from task to task?",
       "histogram of latencies stacked by dataset, with quantiles", DrawEventLatencies},
      {"event_latency_timeline", "Where time goes", "Where did the latency of events go as time went on?",
       "stacked areas: at work, queued, external, nothing ready; means of the events that ended",
       DrawEventLatencyTimeline},
      {"chunk_timeline", "Timeline", "What ran where and when?",
       "a box for each attempt on its thread, coloured by dataset; above 12,000, what was busy longest in each part",
       DrawChunkTimeline},
      {"failures_timeline", "Timeline", "When and where did attempts fail?",
       "a mark for each failed, lost and repeated attempt, by worker", DrawFailuresTimeline},
      {"progress_tail", "Timeline", "Did the run end with a long tail?",
       "chunks done over time, and the tail in which cores have no more work", DrawProgressTail},
      {"throughput_timeline", "Throughput", "How fast did the run go?",
       "events and data per second in two panels; the means are dashed lines", DrawThroughput},
      {"runtime_distribution", "Chunks", "How long do chunks take?",
       "logarithmic histogram stacked by dataset, with quantiles", DrawRuntimeDistribution},
      {"runtime_vs_events", "Chunks", "Do larger chunks take longer?",
       "duration over events: points for up to 2,000 chunks, else counts; with robust fits and stragglers",
       DrawRuntimeVsEvents},
      {"memory_vs_events", "Chunks", "Does memory depend on the size of a chunk?",
       "counts of chunks over their events and over the process's memory at their end", DrawMemoryVsEvents},
      {"slowest_chunks", "Chunks", "Which chunks were slowest, and why?",
       "the 30 longest: CPU and waiting, and the duration that is expected for their events", DrawSlowestChunks},
      {"concurrency_timeline", "Timeline", "Were all cores kept busy?", "steps of open chunks and of cores",
       DrawConcurrency},
      {"worker_balance", "Workers", "Was the work spread evenly?",
       "a bar for each worker: CPU, open chunk without CPU, no open chunk", DrawWorkerBalance},
      {"cpu_heatmap", "Workers", "When did which worker compute?",
       "workers over time; a stronger colour is a busier worker", DrawCpuHeatmap},
      {"read_rate_per_worker_heatmap", "Workers", "When did which worker read?",
       "workers over time; a stronger colour is more data per second", DrawReadRateHeatmap},
      {"memory_small_multiples", "Workers", "How much memory did each worker take?",
       "an area for each worker, with its limit; the 16 largest", DrawMemorySmallMultiples},
      {"process_timeline", "Processes", "What did the processes of the command use?",
       "CPU and memory of each process; bytes of devices, calls and network, and threads over time; needs `crema run`",
       DrawProcessTimeline},
      {"dataset_rates", "Datasets", "Which dataset is fast?",
       "a bar for each dataset: events per second of a busy lane", DrawDatasetRates},
      {"file_read_rates", "Datasets", "Is there a slow file?",
       "a bar for each file: data read per second; the 30 slowest", DrawFileReadRates},
      {"data_access_percentage", "Datasets", "How much of the files is read?",
       "shares of branches and of bytes, averaged over files", DrawDataAccess},
      {"bytes_accessed_per_chunk", "Datasets", "How much data does a chunk read?",
       "chunks sorted by bytes: as stored, and uncompressed", DrawBytesAccessed},
      {"fine_by_function", "Fine metrics", "What did each function of the engine spend its time on?",
       "a bar for each function, split by activity", DrawFineByFunction},
      {"fine_by_activity", "Fine metrics", "Which activities took time?",
       "a bar for each activity, inside tasks and between workers", DrawFineByActivity},
      {"total_active_tasks_timeline", "Engine", "How many tasks did the workers hold?",
       "steps of tasks that were queued or executing, and of those that were executing", DrawTotalActiveTasks},
      {"cut_flow", "Custom metrics", "How many events does each cut keep?",
       "bars, and the efficiency of each step; where a cut keeps less than 1 %, points on a logarithmic axis",
       DrawCutFlow},
      {"custom_<name>", "Custom metrics", "What values did a metric of your own have?",
       "the range, from the median to the 95th percentile, and the mean; by dataset", nullptr},
      {"compare_<metric>", "Comparison", "Do the runs differ in a metric?",
       "a bar for each run, with the interval of a mean; needs --baseline", nullptr},
  };
  return kTable;
}

std::vector<std::string> ChartNames(const ChartInput& input) {
  std::vector<std::string> names;
  const auto add = [&names](std::string name) {
    if (absl::c_find(names, name) == names.end()) names.push_back(std::move(name));
  };
  for (const ChartKind& kind : ChartKinds()) {
    if (kind.draw != nullptr) add(std::string(kind.name));
  }
  for (const CustomMetricRow& metric : input.measurement->custom_metrics) add(std::string(kCustom) + metric.name.str());
  if (input.baseline == nullptr) return names;
  for (std::string_view metric : kComparedMetrics) {
    if (input.measurement->metrics.Find(metric) != nullptr) add(fmt::format("{}{}", kCompare, metric));
  }
  return names;
}

absl::StatusOr<Chart> MakeChart(std::string_view name, const ChartInput& input) {
  absl::StatusOr<Chart> chart = NamedChart(name, input);
  if (!chart.ok()) return chart;
  absl::StatusOr<Drawing> drawing = Draw(name, input);
  if (!drawing.ok()) return drawing.status();
  if (drawing->body.is_null()) {
    chart->reason = drawing->reason;
    chart->subtitle = RunName(*input.measurement);
    return chart;
  }
  chart->subtitle = fmt::format("{} · {}", RunName(*input.measurement), drawing->finding);
  chart->spec = SpecificationOf(*chart, drawing->finding, SourceLine(*input.measurement), drawing->body);
  return chart;
}

}  // namespace crema
