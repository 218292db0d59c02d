// Every attempt where and when it ran, and those that failed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/colours.h"
#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/lane_cells.h"
#include "collector/charts/log_histogram.h"
#include "collector/charts/shown_names.h"
#include "collector/detail/run_detail.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostCells = 12'000;     // with the pale parts that show waiting, below 20,000
constexpr double kNotableWaiting = 0.32;  // share of a chunk from which its waiting is drawn
constexpr size_t kMostFailures = 2'000;
constexpr size_t kMostLabels = 64;

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string Why(const ChartInput& input) {
  if (input.detail == nullptr) return "the single chunks are not known: this is a measurement without its records";
  return input.detail->why_no_attempts;
}

bool IsFailure(const DetailAttempt& attempt) {
  return attempt.state == AttemptState::kFailed || attempt.state == AttemptState::kLost;
}

/// One label a row; the workers' name stands at its first lane only.
std::vector<std::string> RowLabels(const RunDetail& detail) {
  std::vector<std::string> labels;
  ShownNames names;
  for (const DetailRow& row : detail.rows) {
    labels.push_back(row.lanes > 1 || detail.row_kind != "thread"
                         ? names.Of(row.label)
                         : names.Of(fmt::format("{} · {}", row.label, row.lane)));
  }
  return labels;
}

Json RowAxis(const std::vector<std::string>& labels) {
  Json y = Names("row", "");
  y["scale"] = {{"domain", labels}, {"paddingInner", labels.size() > kMostLabels ? 0.0 : 0.15}};
  y["axis"] = {{"labels", labels.size() <= kMostLabels}, {"ticks", false}, {"domain", false}, {"labelOverlap", true}};
  return y;
}

Json FailureMarks(const RunDetail& detail, const std::vector<std::string>& labels) {
  Json values = Json::array();
  for (const DetailAttempt& attempt : detail.attempts) {
    if (!IsFailure(attempt) || attempt.row >= labels.size() || values.size() >= kMostFailures) continue;
    values.push_back({{"from", Rounded(Seconds(attempt.stop_ns()))}, {"row", labels[attempt.row]}});
  }
  return values;
}

}  // namespace

Drawing DrawChunkTimeline(const ChartInput& input) {
  if (input.detail == nullptr || !input.detail->why_no_attempts.empty()) return NotDrawn(Why(input));
  const RunDetail& detail = *input.detail;
  const LaneCells lanes = LaneCellsOf(detail, kMostCells);
  const std::vector<std::string> labels = RowLabels(detail), slots = SlotNames(detail);
  Json boxes = Json::array(), waiting = Json::array();
  for (const LaneCell& cell : lanes.cells) {
    if (cell.row >= labels.size() || cell.slot >= slots.size()) continue;
    boxes.push_back({{"row", labels[cell.row]},
                     {"from", Rounded(cell.start_seconds)},
                     {"to", Rounded(cell.stop_seconds)},
                     {"dataset", slots[cell.slot]}});
    if (cell.waiting_seconds > kNotableWaiting * (cell.stop_seconds - cell.start_seconds)) {
      waiting.push_back({{"row", labels[cell.row]},
                         {"from", Rounded(cell.start_seconds)},
                         {"to", Rounded(std::min(cell.stop_seconds, cell.start_seconds + cell.waiting_seconds))}});
    }
  }
  const Json x = TimeAxis("from", detail.seconds), x2 = {{"field", "to"}}, y = RowAxis(labels);
  const double step = std::clamp(560.0 / static_cast<double>(std::max<size_t>(labels.size(), 1)), 2.0, 20.0);
  Json layers = Json::array();
  layers.push_back(
      {{"data", InlineData(std::move(boxes))},
       {"mark", {{"type", "rect"}, {"stroke", ColourNamed("card")}, {"strokeWidth", step >= 6 ? 0.5 : 0.0}}},
       {"encoding",
        {{"x", x},
         {"x2", x2},
         {"y", y},
         {"color", SlotColours(slots, "dataset")},
         {"tooltip", Tooltip({{"row", "thread", "nominal"},
                              {"dataset", "dataset", "nominal"},
                              {"from", "from [s]"},
                              {"to", "to [s]"}})}}}});
  if (!waiting.empty()) {
    layers.push_back({{"data", InlineData(std::move(waiting))},
                      {"mark", {{"type", "rect"}, {"style", "card"}, {"opacity", 0.55}}},
                      {"encoding", {{"x", x}, {"x2", x2}, {"y", y}}}});
  }
  Json failures = FailureMarks(detail, labels);
  if (!failures.empty()) {
    layers.push_back(
        {{"data", InlineData(std::move(failures))},
         {"mark",
          {{"type", "point"}, {"style", "limit"}, {"shape", "cross"}, {"angle", 45}, {"filled", true}, {"size", 60}}},
         {"encoding", {{"x", x}, {"y", y}}}});
  }
  std::string finding = fmt::format("{} attempts on {} {}s", ExactCount(static_cast<double>(detail.attempts_seen)),
                                    labels.size(), detail.row_kind);
  finding += lanes.is_exact ? "; pale left part: waiting, from 32 % on" : "; each box: the dataset busy longest";
  finding += "; red cross: failed";
  return {{{"width", 720}, {"height", {{"step", step}}}, {"layer", std::move(layers)}}, finding, ""};
}

Drawing DrawFailuresTimeline(const ChartInput& input) {
  if (input.detail == nullptr || !input.detail->why_no_attempts.empty()) return NotDrawn(Why(input));
  const RunDetail& detail = *input.detail;
  static const std::vector<std::string> kKinds = {"failed", "lost", "repeated, ok"};
  Json values = Json::array();
  size_t failed = 0, lost = 0, repeated = 0;
  ShownNames names;
  for (const DetailAttempt& attempt : detail.attempts) {
    const bool is_repeat = attempt.state == AttemptState::kOk && attempt.attempt > 1;
    if (!IsFailure(attempt) && !is_repeat) continue;
    failed += attempt.state == AttemptState::kFailed ? 1 : 0;
    lost += attempt.state == AttemptState::kLost ? 1 : 0;
    repeated += is_repeat ? 1 : 0;
    if (values.size() >= kMostFailures) continue;
    const size_t kind = is_repeat ? 2 : attempt.state == AttemptState::kLost ? 1 : 0;
    values.push_back({{"t", Rounded(Seconds(attempt.stop_ns()))},
                      {"worker", names.Of(detail.workers[attempt.worker].name)},
                      {"kind", kKinds[kind]},
                      {"file", ShownName(detail.files[attempt.file])},
                      {"attempt", attempt.attempt},
                      {"error", attempt.error == 0 ? "" : ShownName(detail.errors[attempt.error])}});
  }
  if (values.empty()) return NotDrawn("no attempt failed, was lost or repeated");
  Json shape = {{"field", "kind"},
                {"type", "nominal"},
                {"title", nullptr},
                {"scale", {{"domain", kKinds}, {"range", {"cross", "triangle-down", "circle"}}}}};
  Json body = {{"width", 640},
               {"height", {{"step", 22}}},
               {"data", InlineData(std::move(values))},
               {"mark", {{"type", "point"}, {"filled", true}, {"size", 70}, {"opacity", 0.85}}},
               {"encoding",
                {{"x", TimeAxis("t", detail.seconds)},
                 {"y", Names("worker", "")},
                 {"color", NamedColours("kind", kKinds, {"limit", "overhead", "events"})},
                 {"shape", std::move(shape)},
                 {"tooltip", Tooltip({{"kind", "what", "nominal"},
                                      {"worker", "worker", "nominal"},
                                      {"file", "file", "nominal"},
                                      {"attempt", "attempt at its chunk"},
                                      {"t", "at [s]"},
                                      {"error", "error", "nominal"}})}}}};
  std::string finding = fmt::format("{} failed, {} lost, {} repeated with success", failed, lost, repeated);
  if (detail.failed_left_out > 0) finding += fmt::format("; {} more not drawn", detail.failed_left_out);
  return {std::move(body), finding, ""};
}

}  // namespace crema
