#include "collector/insight/trust_items.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/key_figure_rows.h"
#include "collector/insight/member_column.h"
#include "collector/insight/tree_figures.h"
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

struct Count {
  Number Quality::*member;
  std::string_view one;
  std::string_view many;
  bool is_shown_at_zero;
};

constexpr Count kCounts[] = {
    {&Quality::records_dropped, "record dropped", "records dropped", true},
    {&Quality::guards_misused, "of these a misused guard", "of these misused guards", false},
    {&Quality::records_unwritten, "of these a line that was not written", "of these lines that were not written",
     false},
    {&Quality::values_outside_chunks, "of these a value outside chunks", "of these values outside chunks", false},
    {&Quality::records_lost, "record of an ended chunk lost", "records of ended chunks lost", false},
    {&Quality::logs_left_out, "log left out", "logs left out", false},
    {&Quality::logs_damaged, "damaged log", "damaged logs", false},
    {&Quality::logs_missing, "log missing", "logs missing", false},
    {&Quality::records_malformed, "malformed line", "malformed lines", true},
    {&Quality::records_torn, "torn line", "torn lines", false},
    {&Quality::records_unknown, "line of unknown type", "lines of unknown type", false},
    {&Quality::summed_chunks, "chunk summed, totals exact", "chunks summed, totals exact", false},
    {&Quality::tasks_left_out, "task left out", "tasks left out", false},
    {&Quality::lost_samples, "sample of stacks lost", "samples of stacks lost", false},
    {&Quality::sections_dropped, "section dropped", "sections dropped", false},
    {&Quality::chunks_without_events, "chunk without events", "chunks without events", false},
    {&Quality::processes_lost, "process lost", "processes lost", true},
    {&Quality::processes_unreported, "process ended without a report", "processes ended without a report", false},
    {&Quality::chunks_unjoined, "chunk without a task", "chunks without a task", false},
    {&Quality::workers_unseen, "worker unseen", "workers unseen", false},
    {&Quality::processes_left_running, "process left running", "processes left running", false},
};

Mark MarkOfCount(const Measurement& measurement, const Count& count, double number) {
  // the last line of a running job is read while it is being written
  const bool is_running = measurement.run.state.str() == "running";
  if (number == 0 || (is_running && count.member == &Quality::records_torn)) return Mark::kGood;
  if (count.member == &Quality::processes_unreported) return Mark::kGood;  // no chunk lacks
  if (count.member != &Quality::records_dropped) return Mark::kWatch;
  const double read = measurement.quality.records_read.value_or(0);
  return MarkOf(KeyFigure::kDroppedRecords, number / (number + read));
}

}  // namespace

std::vector<UnmeasuredFigures> FindUnmeasured(const Measurement& measurement) {
  std::vector<UnmeasuredFigures> found;
  std::map<std::string, size_t> of_reason;
  for (const MetricDefinition& definition : MetricCatalog()) {
    for (const std::string& key : {definition.key, definition.alias}) {
      const std::string reason(measurement.metrics.Reason(key));
      if (reason.empty()) continue;
      const auto [at, is_new] = of_reason.emplace(reason, found.size());
      if (is_new) found.push_back({reason, {}});
      found[at->second].keys.push_back(key);
    }
  }
  return found;
}

std::vector<TrustItem> TrustItems(const Measurement& measurement) {
  const Quality& quality = measurement.quality;
  std::vector<TrustItem> items;
  const auto add = [&](std::string_view key, KeyFigure figure, double value, std::string before, std::string words,
                       std::string after) {
    items.push_back(
        {MarkOf(figure, value), {std::move(before), std::move(words), std::move(after), std::string(key), value}});
  };
  if (const std::optional<double> coverage = quality.event_coverage) {
    add("quality.event_coverage", KeyFigure::kEventCoverage, *coverage, "", HumanPercent(*coverage, 1),
        " of events recorded");
  }
  const std::optional<double> records = quality.records_read;
  if (records.has_value() && !(*records == 0 && IsProcessTreeOnly(measurement))) {
    items.push_back({*records > 0 ? Mark::kGood : Mark::kWatch,
                     {"", HumanCount(*records), *records == 1 ? " record read" : " records read",
                      "quality.records_read", *records}});
  }
  for (const Count& count : kCounts) {
    const Number& number = quality.*count.member;
    if (!number.has_value() || (*number == 0 && !count.is_shown_at_zero)) continue;
    items.push_back({MarkOfCount(measurement, count, *number),
                     {"", HumanCount(*number), " " + std::string(*number == 1 ? count.one : count.many),
                      "quality." + std::string(ColumnOfMember(count.member).key), *number}});
  }
  if (const std::optional<double> fine = quality.fine_metrics_coverage) {
    add("quality.fine_metrics_coverage", KeyFigure::kFineCoverage, *fine, "fine metrics cover ", HumanPercent(*fine, 1),
        " of compute time");
  }
  if (const std::optional<double> offset = quality.clock_offset_max_s) {
    add("quality.clock_offset_max_s", KeyFigure::kClockOffset, *offset, "clock offset between hosts ",
        "≤ " + HumanDuration(*offset), "");
  }
  if (const std::optional<double> step = quality.clock_step_max_s) {
    if (*step == 0) {
      add("quality.clock_step_max_s", KeyFigure::kClockOffset, 0, "no clock step", "", "");
    } else {
      add("quality.clock_step_max_s", KeyFigure::kClockOffset, *step, "clock steps ", "≤ " + HumanDuration(*step), "");
    }
  }
  if (const std::optional<double> cost = measurement.Metric("instrumentation_overhead")) {
    add("metrics.instrumentation_overhead", KeyFigure::kMeasuringCost, *cost, "measuring cost ", HumanPercent(*cost),
        "");
  }
  const std::optional<double> threads = TimeOfThreads(measurement);
  const std::optional<double> counting = quality.allocations_cost_s;
  if (counting.has_value() && threads.value_or(0) > 0) {
    const double share = *counting / *threads;
    items.push_back({MarkOf(KeyFigure::kMeasuringCost, share),
                     {"of the busy time, counting allocations cost ", HumanPercent(share), "",
                      "quality.allocations_cost_s", *counting}});
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const TrustItem& one, const TrustItem& other) { return one.mark > other.mark; });
  return items;
}

}  // namespace crema
