// "Can I trust these numbers?": what is known about the measurement itself.
#include <optional>
#include <string>
#include <vector>

#include "collector/document/document_fields.h"
#include "collector/insight/human_numbers.h"
#include "collector/insight/trust_limits.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct TrustItem {
  Mark mark = Mark::kGood;
  std::string html;
};

struct CountItem {
  std::string_view key;
  std::string_view text;
  bool is_shown_at_zero;
};

constexpr CountItem kCounts[] = {{"records_dropped", "records dropped", true},
                                 {"guards_misused", "of these misused guards", false},
                                 {"records_lost", "records of ended chunks lost", false},
                                 {"records_malformed", "malformed lines", true},
                                 {"records_torn", "torn lines", false},
                                 {"records_unknown", "lines of unknown type", false},
                                 {"summed_chunks", "chunks summed, totals exact", false},
                                 {"sections_dropped", "sections dropped", false},
                                 {"chunks_without_events", "chunks without events", false},
                                 {"processes_lost", "processes lost", true},
                                 {"chunks_unjoined", "chunks without a task", false},
                                 {"workers_unseen", "workers unseen", false},
                                 {"processes_left_running", "processes left running", false}};

std::string Bold(std::string_view key, double value, const std::string& text) {
  return "<b>" + Figure("quality." + std::string(key), value, text) + "</b>";
}

void AddCounts(const Json& document, std::vector<TrustItem>* items) {
  const Json& quality = Field(document, "quality");
  const bool is_running = TextField(Field(document, "run"), "state") == "running";
  for (const CountItem& count : kCounts) {
    const std::optional<double> number = NumberField(quality, count.key);
    if (!number.has_value() || (*number == 0 && !count.is_shown_at_zero)) continue;
    // the last line of a running job is read while it is being written
    const bool is_expected = is_running && count.key == "records_torn";
    items->push_back({*number > 0 && !is_expected ? Mark::kWatch : Mark::kGood,
                      Bold(count.key, *number, HumanCount(*number)) + " " + std::string(count.text)});
  }
}

std::vector<TrustItem> TrustItems(const Json& document) {
  const Json& quality = Field(document, "quality");
  std::vector<TrustItem> items;
  if (const auto coverage = NumberField(quality, "event_coverage"); coverage.has_value()) {
    items.push_back({*coverage < kFullCoverage ? Mark::kWatch : Mark::kGood,
                     "Records cover " + Bold("event_coverage", *coverage, HumanPercent(*coverage, 1)) + " of events"});
  }
  if (const auto records = NumberField(quality, "records_read"); records.has_value()) {
    items.push_back({*records > 0 ? Mark::kGood : Mark::kWatch,
                     Bold("records_read", *records, HumanCount(*records)) + " records read"});
  }
  AddCounts(document, &items);
  if (const auto fine = NumberField(quality, "fine_metrics_coverage"); fine.has_value()) {
    items.push_back(
        {*fine < kFullCoverage ? Mark::kWatch : Mark::kGood,
         "Fine metrics cover " + Bold("fine_metrics_coverage", *fine, HumanPercent(*fine, 1)) + " of compute time"});
  }
  if (const auto offset = NumberField(quality, "clock_offset_max_s"); offset.has_value()) {
    items.push_back(
        {*offset > kLargeClockStepSeconds ? Mark::kWatch : Mark::kGood,
         "Clock offset between hosts " + Bold("clock_offset_max_s", *offset, "≤ " + HumanDuration(*offset))});
  }
  if (const auto step = NumberField(quality, "clock_step_max_s"); step.has_value()) {
    items.push_back(
        {*step > kLargeClockStepSeconds ? Mark::kWatch : Mark::kGood,
         *step == 0 ? "No clock step" : "Clock steps " + Bold("clock_step_max_s", *step, "≤ " + HumanDuration(*step))});
  }
  if (const auto cost = Metric(document, "instrumentation_overhead"); cost.has_value()) {
    items.push_back(
        {*cost > kHighOverhead ? Mark::kWatch : Mark::kGood,
         "Measuring cost <b>" + Figure("metrics.instrumentation_overhead", *cost, HumanPercent(*cost)) + "</b>"});
  }
  return items;
}

std::string Warnings(const Json& quality) {
  std::string items;
  size_t count = 0;
  for (const Json& warning : ListField(quality, "warnings")) {
    if (!warning.is_string()) continue;
    ++count;
    items += fmt::format("<li>{}</li>", Escaped(warning.get_ref<const std::string&>()));
  }
  if (count == 0) return "";
  return fmt::format("<details{}><summary>▲ {}</summary><ul>{}</ul></details>", count <= 3 ? " open" : "",
                     Counted(static_cast<double>(count), "warning", "warnings"), items);
}

std::string NotMeasured(const Json& quality) {
  const Json& reasons = Field(quality, "not_measured");
  if (!reasons.is_object() || reasons.empty()) return "";
  std::string items;
  for (const auto& [key, reason] : reasons.items()) {
    items += fmt::format("<dt><code>{}</code></dt><dd>{}</dd>", Escaped(key),
                         reason.is_string() ? Escaped(reason.get_ref<const std::string&>()) : "");
  }
  return fmt::format("<details><summary>{} not measured, and why</summary><dl class=\"reasons\">{}</dl></details>",
                     Counted(static_cast<double>(reasons.size()), "figure", "figures"), items);
}

}  // namespace

std::string TrustCard(const PageInput& input) {
  const Json& quality = Field(input.document, "quality");
  std::string items;
  for (const TrustItem& item : TrustItems(input.document)) {
    items +=
        fmt::format("<li><span class=\"sign {}\">{}</span> {}</li>\n", WordOf(item.mark), SignOf(item.mark), item.html);
  }
  if (items.empty()) items = "<li><span class=\"sign watch\">▲</span> Nothing is known about their quality</li>";
  return fmt::format(
      "<section class=\"card trust\" id=\"trust\" aria-label=\"Can I trust these numbers?\"><ul><li><b>Can I trust "
      "these numbers?</b></li>\n{}</ul>{}{}</section>\n",
      items, Warnings(quality), NotMeasured(quality));
}

}  // namespace crema
