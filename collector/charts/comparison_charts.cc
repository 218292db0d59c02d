// One metric of two runs.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/compared_metrics.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
#include "collector/insight/figure_change.h"
#include "collector/measurement/catalog.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::string RunName(const Measurement& measurement, std::string_view role) {
  const Text& name = measurement.run.name;
  return fmt::format("{} ({})", ShownName(name.empty() ? "run" : name.str()), role);
}

void AddRun(const Measurement& measurement, std::string_view role, std::string_view metric, std::string_view unit,
            Json* values) {
  const double value = measurement.Metric(metric).value_or(0);
  Json row = {
      {"run", RunName(measurement, role)}, {"role", role}, {"v", value}, {"words", HumanQuantity(metric, value, unit)}};
  row["end"] = value;
  if (const auto half = HalfIntervalOfMean(measurement, metric)) {
    row["low"] = value - *half;
    row["high"] = value + *half;
    row["end"] = value + *half;
    row["words"] = fmt::format("{} ± {}", HumanQuantity(metric, value, unit), HumanQuantity(metric, *half, unit));
  }
  values->push_back(std::move(row));
}

}  // namespace

Drawing DrawComparedMetric(const ChartInput& input, std::string_view metric) {
  if (input.baseline == nullptr) return NotDrawn("there is no second run; give one with --baseline");
  const auto value = input.measurement->Metric(metric), other = input.baseline->Metric(metric);
  if (!value.has_value()) return NotDrawn("this run: " + input.measurement->WhyNotMeasured(metric));
  if (!other.has_value()) return NotDrawn("baseline: " + input.baseline->WhyNotMeasured(metric));
  Json values = Json::array();
  const MetricDefinition* definition = FindMetric(metric);
  const std::string unit = definition == nullptr ? "" : definition->unit;
  AddRun(*input.baseline, "baseline", metric, unit, &values);
  AddRun(*input.measurement, "this run", metric, unit, &values);
  const std::string title = unit.empty() ? std::string(metric) : fmt::format("{} [{}]", metric, unit);
  const Json y = Names("run", "");
  Json colour = NamedColours("role", {"baseline", "this run"}, {"baseline", "cpu"});
  colour["legend"] = nullptr;
  Json x = Quantity("v", title);
  x["axis"] = {{"tickCount", 6}};
  LabelNumbers(std::max(std::fabs(*value), std::fabs(*other)), &x["axis"]);
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "bar"}, {"height", {{"band", 0.6}}}}},
                    {"encoding", {{"y", y}, {"x", x}, {"color", colour}}}});
  Json interval = {{"mark", {{"type", "rule"}, {"strokeWidth", 2}}},
                   {"encoding", {{"y", y}, {"x", Quantity("low", title)}, {"x2", {{"field", "high"}}}}}};
  interval["transform"] = Json::array();
  interval["transform"].push_back({{"filter", "isValid(datum.low)"}});
  layers.push_back(std::move(interval));
  layers.push_back(
      {{"mark", {{"type", "text"}, {"style", "label"}, {"align", "left"}, {"dx", 6}}},
       {"encoding", {{"y", y}, {"x", Quantity("end", title)}, {"text", {{"field", "words"}, {"type", "nominal"}}}}}});
  const bool has_interval = HalfIntervalOfMean(*input.measurement, metric).has_value();
  Json body = {{"width", 520},
               {"height", {{"step", 44}}},
               {"data", InlineData(std::move(values))},
               {"layer", std::move(layers)}};
  std::string finding = "no change in per cent: the baseline is 0";
  if (*other != 0) finding = HumanChange((*value - *other) / std::fabs(*other)) + " against the baseline";
  finding += has_interval ? "; lines: 95 % interval of the mean" : "; no interval: one value a run";
  return {std::move(body), finding, ""};
}

}  // namespace crema
