// The chunks' durations and memory: distributions, dependence on events, the slowest.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/colours.h"
#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/log_histogram.h"
#include "collector/charts/shown_names.h"
#include "collector/detail/run_detail.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostPoints = 2'000;
constexpr size_t kMostSlow = 30;
constexpr size_t kMostFits = 5;    // as many colours are told apart by all eyes
constexpr int kWidestLabel = 420;  // pixels: it is the end of a file's name that tells chunks apart

const ValueShape* FindShape(const RunDetail* detail, std::string_view quantity) {
  return detail == nullptr ? nullptr : detail->FindDistribution(quantity);
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

/// Those that the document has of the distribution of durations.
std::vector<HistogramMark> DurationMarks(const Measurement& measurement) {
  std::vector<HistogramMark> marks;
  for (const auto& [key, label] : {std::pair<std::string_view, std::string_view>{"chunk_duration_p50", "median"},
                                   {"chunk_duration_p95", "p95"},
                                   {"chunk_duration_p99", "p99"},
                                   {"chunk_duration_max", "longest"}}) {
    if (const auto value = measurement.Metric(key); value.has_value() && *value > 0) {
      marks.push_back({*value, fmt::format("{} {}", label, HumanDuration(*value))});
    }
  }
  return marks;
}

std::string WhyNoDurations(const ChartInput& input) {
  if (input.detail == nullptr) return "the single chunks are not known: this is a measurement without its records";
  return input.detail->why_no_attempts.empty() ? "no chunk ended well" : input.detail->why_no_attempts;
}

}  // namespace

Drawing DrawRuntimeDistribution(const ChartInput& input) {
  const ValueShape* shape = FindShape(input.detail, "duration_seconds");
  if (shape == nullptr || shape->bins() == 0) return NotDrawn(WhyNoDurations(input));
  const std::vector<HistogramMark> marks = DurationMarks(*input.measurement);
  std::string finding = Counted(static_cast<double>(shape->count), "chunk", "chunks");
  for (const HistogramMark& mark : marks) finding += ", " + mark.words;
  return {LogHistogram(*input.detail, *shape, 1, "duration of a chunk (logarithmic) [s]", marks,
                       FindShape(input.baseline_detail, "duration_seconds")),
          finding, ""};
}

namespace {

bool IsMeasuredPoint(const DetailAttempt& attempt) {
  return attempt.state == AttemptState::kOk && attempt.duration_ns.has_value() && attempt.events.has_value();
}

/// Each attempt as a point, as far as they are to be seen one by one; else those that stand out.
Json AttemptPoints(const RunDetail& detail, bool all) {
  Json values = Json::array();
  for (const DetailAttempt& attempt : detail.attempts) {
    const bool stands_out = !attempt.straggler_reason.empty();
    if (!IsMeasuredPoint(attempt) || (!all && !stands_out) || values.size() >= kMostPoints) continue;
    values.push_back({{"events", *attempt.events},
                      {"seconds", Rounded(Seconds(*attempt.duration_ns))},
                      {"kind", stands_out ? "straggler" : "chunk"},
                      {"dataset", ShownName(detail.datasets[attempt.dataset].name)},
                      {"file", ShownName(detail.files[attempt.file])},
                      {"reason", std::string(attempt.straggler_reason)}});
  }
  return values;
}

/// Cells of a grid that hold something.
Json GridCells(const CountGrid& grid, double x_factor, double y_factor) {
  Json values = Json::array();
  const double width = (grid.x_max - grid.x_min) / grid.columns, height = (grid.y_max - grid.y_min) / grid.rows;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const int64_t count =
          grid.cells[static_cast<size_t>(row) * static_cast<size_t>(grid.columns) + static_cast<size_t>(column)];
      if (count == 0) continue;
      values.push_back({{"x", Rounded((grid.x_min + column * width) * x_factor)},
                        {"x2", Rounded((grid.x_min + (column + 1) * width) * x_factor)},
                        {"y", Rounded((grid.y_min + row * height) * y_factor)},
                        {"y2", Rounded((grid.y_min + (row + 1) * height) * y_factor)},
                        {"count", count}});
    }
  }
  return values;
}

Json EventAxis(const CountGrid& grid) {
  Json axis = {{"tickCount", 8}};
  LabelNumbers(grid.x_max, &axis);
  return axis;
}

Json GridLayer(const CountGrid& grid, double x_factor, double y_factor, const std::string& x_title,
               const std::string& y_title) {
  Json x = Quantity("x", x_title), y = Quantity("y", y_title);
  x["axis"] = EventAxis(grid);
  Json colour = Quantity("count", "chunks");
  colour["scale"] = {{"type", "log"}};
  colour["legend"] = {{"gradientLength", 160}, {"gradientThickness", 10}, {"tickCount", 4}};
  LabelNumbers(static_cast<double>(grid.count), &colour["legend"]);
  return {{"data", InlineData(GridCells(grid, x_factor, y_factor))},
          {"mark", {{"type", "rect"}}},
          {"encoding",
           {{"x", x},
            {"x2", {{"field", "x2"}}},
            {"y", y},
            {"y2", {{"field", "y2"}}},
            {"color", std::move(colour)},
            {"tooltip", Tooltip({{"x", x_title}, {"y", y_title}, {"count", "chunks"}})}}}};
}

std::string FitWords(const DetailFit& fit) {
  return fmt::format("{} + {} per event", HumanDuration(fit.fixed_seconds), HumanDuration(fit.seconds_per_event));
}

/// Lines of the datasets that took most time, each over the events that its chunks have: it says nothing of others.
/// They have the datasets' colours, and the legend says which is which and what it tells.
std::vector<Json> FitLayers(const RunDetail& detail) {
  std::vector<DetailFit> fits;
  for (const DetailFit& fit : detail.fits) {
    if (fit.slope_known && SlotOf(detail, fit.dataset) < kMostFits) fits.push_back(fit);
  }
  if (fits.empty()) return {};
  std::stable_sort(fits.begin(), fits.end(),
                   [](const DetailFit& a, const DetailFit& b) { return a.points > b.points; });
  if (fits.size() > kMostFits) fits.resize(kMostFits);
  Json values = Json::array();
  std::vector<std::string> lines;
  std::vector<std::string_view> colours;
  ShownNames names;
  for (const DetailFit& fit : fits) {
    lines.push_back(fmt::format("{}: {}", names.Of(detail.datasets[fit.dataset].name), FitWords(fit)));
    colours.push_back(DatasetColours()[SlotOf(detail, fit.dataset)].name);
    for (const double events : {fit.events_min, fit.events_max}) {
      values.push_back({{"line", lines.back()},
                        {"events", Rounded(events)},
                        {"seconds", Rounded(std::max(0.0, fit.fixed_seconds + fit.seconds_per_event * events))}});
    }
  }
  const Json x = Quantity("events", "events in the chunk"), y = Quantity("seconds", "duration [s]");
  Json colour = NamedColours("line", lines, colours);
  // inside the picture: large chunks that took no time are rare, and the page is no longer for it
  colour["legend"] = {{"orient", "top-left"}, {"columns", 1}, {"symbolType", "stroke"}, {"symbolStrokeWidth", 3}};
  // on a rim of the card's colour it is seen on points of its own colour, too
  return {{{"data", InlineData(values)},
           {"mark", {{"type", "line"}, {"style", "card"}, {"strokeWidth", 5}}},
           {"encoding", {{"x", x}, {"y", y}, {"detail", {{"field", "line"}, {"type", "nominal"}}}}}},
          {{"data", InlineData(std::move(values))},
           {"mark", {{"type", "line"}, {"strokeWidth", 2}}},
           {"encoding",
            {{"x", x},
             {"y", y},
             {"color", std::move(colour)},
             {"tooltip", Tooltip({{"line", "fit of dataset", "nominal"}})}}}}};
}

}  // namespace

Drawing DrawRuntimeVsEvents(const ChartInput& input) {
  if (input.detail == nullptr || !input.detail->why_no_attempts.empty()) return NotDrawn(WhyNoDurations(input));
  const RunDetail& detail = *input.detail;
  const CountGrid* grid = detail.FindGrid("events", "duration_seconds");
  if (grid == nullptr || grid->count == 0) return NotDrawn("no chunk told both its events and its duration");
  const bool all = detail.is_exact && detail.attempts.size() <= kMostPoints;
  Json layers = Json::array();
  if (!all) layers.push_back(GridLayer(*grid, 1, 1, "events in the chunk", "duration [s]"));
  Json points = AttemptPoints(detail, all);
  double least_events = grid->x_max;
  for (const Json& point : points) least_events = std::min(least_events, point["events"].get<double>());
  if (!points.empty()) {
    Json x = Quantity("events", "events in the chunk");
    x["axis"] = EventAxis(*grid);
    // chunks of one size would stand at the edge
    if (all && least_events > grid->x_max / 2) x["scale"] = {{"zero", false}, {"padding", 12}};
    Json colour = all ? NamedColours("kind", {"chunk", "straggler"}, {"cpu", "wait"})
                      : NamedColours("kind", {"straggler"}, {"wait"});
    colour["legend"] = {{"symbolOpacity", 1}};
    layers.push_back({{"data", InlineData(std::move(points))},
                      {"mark", {{"type", "circle"}, {"size", 18}, {"opacity", 0.55}}},
                      {"encoding",
                       {{"x", std::move(x)},
                        {"y", Quantity("seconds", "duration [s]")},
                        {"color", std::move(colour)},
                        {"tooltip", Tooltip({{"dataset", "dataset", "nominal"},
                                             {"file", "file", "nominal"},
                                             {"events", "events"},
                                             {"seconds", "duration [s]"},
                                             {"reason", "why slow", "nominal"}})}}}});
  }
  std::vector<Json> fits = FitLayers(detail);
  std::string finding = Counted(static_cast<double>(grid->count), "chunk", "chunks");
  if (!fits.empty()) finding += "; lines: fits, by dataset";
  for (Json& fit : fits) layers.push_back(std::move(fit));
  if (!all) finding += "; colour: how many chunks";
  return {{{"width", 640},
           {"height", 300},
           {"layer", std::move(layers)},
           {"resolve", {{"scale", {{"color", "independent"}}}}}},
          finding,
          ""};
}

Drawing DrawMemoryVsEvents(const ChartInput& input) {
  if (input.detail == nullptr || !input.detail->why_no_attempts.empty()) return NotDrawn(WhyNoDurations(input));
  const CountGrid* grid = input.detail->FindGrid("events", "rss_stop_bytes");
  if (grid == nullptr || grid->count == 0) return NotDrawn("no chunk told both its events and its process's memory");
  constexpr double kMebibyte = 1024.0 * 1024;
  Json layers = Json::array();
  layers.push_back(
      GridLayer(*grid, 1, 1 / kMebibyte, "events in the chunk", "memory of the process at the chunk's end [MiB]"));
  const auto slope = input.measurement->Metric("rss_slope");
  std::string finding = fmt::format("{} at most", HumanMemory(grid->y_max));
  if (slope.has_value()) finding += fmt::format("; grows by {} per 1 000 events", HumanMemory(*slope));
  return {{{"width", 640}, {"height", 280}, {"layer", std::move(layers)}}, finding, ""};
}

Drawing DrawSlowestChunks(const ChartInput& input) {
  if (input.detail == nullptr || !input.detail->why_no_attempts.empty()) return NotDrawn(WhyNoDurations(input));
  const RunDetail& detail = *input.detail;
  std::vector<const DetailAttempt*> slow;
  for (const DetailAttempt& attempt : detail.attempts) {
    if (attempt.duration_ns.has_value() && attempt.state == AttemptState::kOk) slow.push_back(&attempt);
  }
  if (slow.empty()) return NotDrawn(WhyNoDurations(input));
  std::stable_sort(slow.begin(), slow.end(),
                   [](const DetailAttempt* a, const DetailAttempt* b) { return *a->duration_ns > *b->duration_ns; });
  if (slow.size() > kMostSlow) slow.resize(kMostSlow);
  static const std::vector<std::string> kParts = {"CPU", "waiting", "not measured"};
  Json values = Json::array();
  ShownNames names;
  for (size_t i = 0; i < slow.size(); ++i) {
    const DetailAttempt& attempt = *slow[i];
    const double duration = Seconds(*attempt.duration_ns);
    const double cpu = std::min(duration, Seconds(attempt.cpu_ns.value_or(0)));
    const double waiting =
        std::min(duration - cpu, Seconds(attempt.cpu_wait_ns.value_or(0) + attempt.blocked_ns.value_or(0)));
    const std::string entries = attempt.entry_start.has_value()
                                    ? fmt::format(" from {}", HumanCount(static_cast<double>(*attempt.entry_start)))
                                    : fmt::format(" chunk {}", attempt.number);
    // two attempts may be at the same entries: their place tells them apart
    const std::string& file = detail.files[attempt.file];
    const std::string label = fmt::format("{}. {}{}", i + 1, ShownName(file.substr(file.rfind('/') + 1)), entries);
    const double seconds[] = {cpu, waiting, std::max(0.0, duration - cpu - waiting)};
    for (size_t part = 0; part < kParts.size(); ++part) {
      if (!(seconds[part] > 0)) continue;
      Json value = {{"chunk", label},
                    {"part", kParts[part]},
                    {"order", part},
                    {"seconds", Rounded(seconds[part])},
                    {"duration", Rounded(duration)},
                    {"dataset", ShownName(detail.datasets[attempt.dataset].name)},
                    {"worker", ShownName(detail.workers[attempt.worker].name)}};
      if (attempt.expected_seconds.has_value()) value["expected"] = Rounded(*attempt.expected_seconds);
      values.push_back(std::move(value));
    }
  }
  Json y = Names("chunk", "");
  y["axis"] = {{"labelLimit", kWidestLabel}};
  const Json tooltip = Tooltip({{"chunk", "chunk", "nominal"},
                                {"dataset", "dataset", "nominal"},
                                {"worker", "worker", "nominal"},
                                {"part", "part", "nominal"},
                                {"seconds", "of it [s]"},
                                {"duration", "duration [s]"},
                                {"expected", "expected for its events [s]"}});
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "bar"}, {"height", {{"band", 0.72}}}}},
                    {"encoding",
                     {{"y", y},
                      {"x", Quantity("seconds", "duration [s]")},
                      {"order", {{"field", "order"}, {"type", "quantitative"}}},
                      {"color", NamedColours("part", kParts, {"cpu", "wait", "idle"})},
                      {"tooltip", tooltip}}}});
  layers.push_back({{"mark", {{"type", "tick"}, {"style", "ink"}, {"thickness", 2}}},
                    {"encoding", {{"y", y}, {"x", Quantity("expected", "duration [s]")}}}});
  Json body = {{"width", 480},
               {"height", {{"step", 18}}},
               {"data", InlineData(std::move(values))},
               {"layer", std::move(layers)}};
  return {std::move(body),
          fmt::format("slowest {}; black tick: what its events let expect",
                      HumanDuration(Seconds(*slow.front()->duration_ns))),
          ""};
}

}  // namespace crema
