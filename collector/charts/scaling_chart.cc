#include "collector/charts/scaling_chart.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart_template.h"
#include "collector/charts/drawing.h"
#include "collector/charts/shown_names.h"
#include "collector/records/loose_json.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStepsOfLine = 60;

bool IsTrue(const Json& row, std::string_view key) {
  const Json& field = Field(row, key);
  return field.is_boolean() && field.get<bool>();
}

std::string_view KindOf(const Json& point) {
  if (IsTrue(point, "predicted")) return "predicted";
  return IsTrue(point, "cores_vary") ? "measured, cores came and went" : "measured";
}

double Value(const Json& row, std::string_view key) { return NumberField(row, key).value_or(0); }

struct Span {
  double fewest = 0, most = 0;
};

Span SpanOf(const Json& points) {
  Span span = {Value(points.front(), "cores"), 0};
  for (const Json& point : points) {
    span.fewest = std::min(span.fewest, Value(point, "cores"));
    span.most = std::max(span.most, Value(point, "cores"));
  }
  return span;
}

/// The throughput that is a speed-up of 1.
double UnitOf(const Json& points) {
  const double speedup = Value(points.front(), "speedup");
  return speedup > 0 ? Value(points.front(), "throughput") / speedup : 0;
}

Json PointRows(const Json& points) {
  Json rows = Json::array();
  for (const Json& point : points) {
    Json row = {{"cores", Rounded(Value(point, "cores"))},
                {"speedup", Rounded(Value(point, "speedup"))},
                {"kind", KindOf(point)},
                {"run", ShownName(TextField(point, "name"))},
                {"time", HumanDuration(Value(point, "wall_time"))},
                {"efficiency", HumanPercent(Value(point, "efficiency"))}};
    const auto low = NumberField(point, "low"), high = NumberField(point, "high");
    if (low > 0 && high > 0) {
      const double work = Value(point, "speedup") * Value(point, "wall_time");
      row["least"] = Rounded(work / *high);
      row["most"] = Rounded(work / *low);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json LineRows(const Json& scaling, const Span& span, std::vector<std::string>* names) {
  const double unit = UnitOf(ListField(scaling, "points"));
  Json rows = Json::array();
  const auto add_line = [&](const std::string& name, auto speedup) {
    names->push_back(name);
    for (int i = 0; i <= kStepsOfLine; ++i) {
      const double cores = span.fewest + (span.most - span.fewest) * i / kStepsOfLine;
      rows.push_back({{"cores", Rounded(cores)}, {"speedup", Rounded(speedup(cores))}, {"line", name}});
    }
  };
  add_line("ideal", [&](double cores) { return cores / span.fewest; });
  for (const Json& fit : ListField(scaling, "fits")) {
    const double lambda = Value(Field(fit, "lambda"), "value"), sigma = Value(Field(fit, "sigma"), "value"),
                 kappa = Value(Field(fit, "kappa"), "value");
    add_line(TextField(fit, "law") == "usl" ? "USL" : "Amdahl", [=](double cores) {
      const double rate = lambda * cores / (1 + sigma * (cores - 1) + kappa * cores * (cores - 1));
      return unit > 0 ? rate / unit : 0;
    });
  }
  return rows;
}

Json Body(const Json& scaling) {
  const Json& points = ListField(scaling, "points");
  const Span span = SpanOf(points);
  std::vector<std::string> lines;
  Json line_rows = LineRows(scaling, span, &lines);
  const Json rows = PointRows(points);
  std::vector<std::string> kinds;
  for (const Json& row : rows) {
    const std::string kind = TextField(row, "kind");
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  std::vector<std::string_view> point_colours;
  for (const std::string& kind : kinds) {
    point_colours.push_back(kind == "measured" ? "cpu" : kind == "predicted" ? "unknown" : "wait");
  }
  std::vector<std::string_view> line_colours = {"baseline", "others", "cpu"};
  line_colours.resize(lines.size());
  return FilledTemplate("scaling", {{"lines", std::move(line_rows)},
                                    {"points", rows},
                                    {"laws", ColourScale(lines, line_colours)},
                                    {"kinds", ColourScale(kinds, point_colours)}});
}

}  // namespace

Chart MakeScalingChart(const Json& scaling) {
  Chart chart;
  chart.name = "scaling";
  chart.title = "How much faster is it on more cores?";
  if (ListField(scaling, "points").empty()) {
    chart.reason = TextField(scaling, "refused");
    return chart;
  }
  std::string finding = TextField(scaling, "sentence");
  chart.subtitle = finding;
  if (!finding.empty()) finding.pop_back();  // its full stop
  const size_t runs = ListField(scaling, "points").size();
  const bool is_predicted = TextField(scaling, "kind") == "predicted";
  const std::string source =
      "crema · " + (is_predicted ? "predicted from one run" : Counted(static_cast<double>(runs), "run", "runs"));
  chart.spec = SpecificationOf(chart, finding, source, Body(scaling));
  return chart;
}

}  // namespace crema
