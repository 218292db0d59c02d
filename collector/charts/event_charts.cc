// The latency of events that go from thread to thread: how it is distributed, and where it went as time went on.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/drawing.h"
#include "collector/charts/families.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kNoEvents[] = "no event was recorded; TrackEvent records those of task frameworks";
constexpr size_t kMostDatasets = 5;  // everybody can distinguish so many colours

}  // namespace

Drawing DrawEventLatencies(const ChartInput& input) {
  std::vector<const EventLatencyRow*> rows;
  for (const EventLatencyRow& row : input.measurement->events) {
    if (row.histogram.has_value()) rows.push_back(&row);
  }
  if (rows.empty()) {
    return NotDrawn(input.measurement->events.empty() ? kNoEvents : "the log does not hold all latencies");
  }
  std::stable_sort(rows.begin(), rows.end(), [](const EventLatencyRow* a, const EventLatencyRow* b) {
    return a->events.value_or(0) > b->events.value_or(0);
  });
  const std::vector<double>& edges = rows.front()->histogram->edges;
  std::vector<double> below(edges.size() - 1);
  Json bars = Json::array();
  std::vector<std::pair<double, std::string>> marks;
  std::vector<std::string> datasets;
  ShownNames names;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ValueHistogram& histogram = *rows[i]->histogram;
    if (histogram.edges != edges) continue;
    const std::string dataset = i + 1 < kMostDatasets || rows.size() == kMostDatasets
                                    ? rows[i]->dataset.has_value() ? names.Of(rows[i]->dataset.str()) : "(no dataset)"
                                    : "other datasets";
    if (datasets.empty() || datasets.back() != dataset) datasets.push_back(dataset);
    for (size_t bin = 0; bin < below.size(); ++bin) {
      const auto count = static_cast<double>(histogram.counts[bin]);
      if (count == 0) continue;
      bars.push_back({{"from", Rounded(edges[bin])},
                      {"to", Rounded(edges[bin + 1])},
                      {"dataset", dataset},
                      {"count", count},
                      {"below", below[bin]},
                      {"above", below[bin] + count}});
      below[bin] += count;
    }
  }
  const EventLatencyRow& most = *rows.front();
  std::string finding = Counted(most.events.value_or(0), "event", "events");
  if (rows.size() > 1) finding = datasets.front() + ": " + finding;
  for (const auto& [value, label] : {std::pair(most.p50_seconds, "median"), std::pair(most.p95_seconds, "p95"),
                                     std::pair(most.max_seconds, "longest")}) {
    if (!value.has_value()) continue;
    const std::string words = fmt::format("{} {}", label, HumanDuration(*value));
    finding += ", " + words;
    if (rows.size() == 1) marks.emplace_back(*value, words);
  }
  const bool is_log = edges.front() > 0;
  return {FilledTemplate("runtime_distribution",
                         {{"title", is_log ? "latency of an event (logarithmic) [s]" : "latency of an event [s]"},
                          {"scale", is_log ? "log" : "linear"},
                          {"things", "events"},
                          {"bars", std::move(bars)},
                          {"datasets", datasets},
                          {"top", 1.3 * *std::max_element(below.begin(), below.end())},
                          {"baseline", Json::array()},
                          {"sides", MarksWithWords(marks, edges.front(), edges.back(), is_log)}}),
          finding, ""};
}

Drawing DrawEventLatencyTimeline(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const auto* lines = measurement.timelines.Find("event_latency");
  if (lines == nullptr || lines->empty() || lines->front().second.size() < 2) return NotDrawn(kNoEvents);
  struct Part {
    std::string_view key;
    std::string words;
    Number EventLatencyRow::*seconds;
  };
  const Part parts[] = {{"active", "at work", &EventLatencyRow::active_seconds},
                        {"queued", "queued", &EventLatencyRow::queued_seconds},
                        {"external", "external", &EventLatencyRow::external_seconds},
                        {"rest", "nothing ready", &EventLatencyRow::rest_seconds}};
  double latency = 0;
  for (const EventLatencyRow& row : measurement.events) latency += row.latency_seconds.value_or(0);
  std::vector<std::string> names;
  Json rows = Json::array();
  std::string finding;
  for (const Part& part : parts) {
    for (const auto& [key, line] : *lines) {
      for (size_t i = 0; key == part.key && i < line.size(); ++i) {
        rows.push_back({{"t", Rounded(std::max(0.0, line[i].seconds))},
                        {"part", part.words},
                        {"order", names.size()},
                        {"seconds", std::isfinite(line[i].value) ? Rounded(line[i].value) : 0.0}});
      }
    }
    double seconds = 0;
    for (const EventLatencyRow& row : measurement.events) seconds += (row.*part.seconds).value_or(0);
    if (latency > 0) {
      finding += fmt::format("{}{} {}", names.empty() ? "" : ", ", part.words, HumanPercent(seconds / latency));
    }
    names.push_back(part.words);
  }
  return {FilledTemplate(
              "activity_timeline",
              {{"parts", std::move(rows)},
               {"field", "seconds"},
               {"title", "mean latency of events [s]"},
               {"time", TimeAxis(measurement.Metric("wall_time").value_or(lines->front().second.back().seconds))},
               {"kinds", ColourScale(names, {"cpu", "wait", "outside", "idle"})}}),
          finding, ""};
}

}  // namespace crema
