// Charts of what `crema history`, `predict`, `scaling` and `compare` found.

#include "collector/charts/drawing.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/prediction/prediction.h"
#include "collector/records/json_fields.h"
#include "fmt/format.h"

namespace crema {
namespace {

double Value(const Json& row, std::string_view key) { return NumberField(row, key).value_or(0); }

/// A chart without figures, or before it has them.
Chart StudyChart(std::string_view name, std::string_view title) {
  return {std::string(name), std::string(title), "", nullptr, ""};
}

std::string Written(const Json& history, double value) {
  return HumanQuantity(TextField(history, "metric"), value, TextField(history, "unit"));
}

Json RunRows(const Json& history) {
  Json rows = Json::array();
  for (const Json& run : ListField(history, "runs")) {
    rows.push_back({{"run", rows.size() + 1},
                    {"value", Rounded(Value(run, "value"))},
                    {"start", TextField(run, "start")},
                    {"directory", ShownName(TextField(run, "directory"))},
                    {"commit", ShownName(TextField(run, "commit"))},
                    {"text", Written(history, Value(run, "value"))}});
  }
  return rows;
}

Json LevelRows(const Json& history) {
  return Mapped<Json>(ListField(history, "levels"), [&](const Json& level) {
    const double first = Value(level, "first") + 1;
    return Json{{"run", first - 0.5},
                {"last", first + Value(level, "runs") - 0.5},
                {"value", Rounded(Value(level, "value"))},
                {"text", Written(history, Value(level, "value"))}};
  });
}

/// In which runs a level may have begun.
Json ChangeRows(const Json& history) {
  return Mapped<Json>(ListField(history, "changes"), [](const Json& change) {
    return Json{{"run", Value(change, "earliest") + 0.5},
                {"last", Value(change, "latest") + 1.5},
                {"start", TextField(change, "start")},
                {"commit", ShownName(TextField(change, "commit"))}};
  });
}

Json ChangeBar(const PredictedRow* row) {
  const PredictedValue& time = row->wall_time;
  return {{"change", ShownName(row->change)},  {"wall_time", Rounded(time.value)},
          {"low", Rounded(time.low)},          {"high", Rounded(time.high)},
          {"time", HumanDuration(time.value)}, {"range", HumanDurationRange(time.low, time.high)}};
}

constexpr int kStepsOfLine = 60;

bool IsTrue(const Json& row, std::string_view key) { return Field(row, key) == true; }

std::string_view KindOfPoint(const Json& point) {
  if (IsTrue(point, "predicted")) return "predicted";
  return IsTrue(point, "cores_vary") ? "measured, cores came and went" : "measured";
}

Json PointRows(const Json& points) {
  Json rows = Json::array();
  for (const Json& point : points) {
    Json row = {{"cores", Rounded(Value(point, "cores"))},
                {"speedup", Rounded(Value(point, "speedup"))},
                {"kind", KindOfPoint(point)},
                {"run", ShownName(TextField(point, "name"))},
                {"time", HumanDuration(Value(point, "wall_time"))},
                {"efficiency", HumanPercent(Value(point, "efficiency"))}};
    if (const auto low = NumberField(point, "low"), high = NumberField(point, "high"); low > 0 && high > 0) {
      const double work = Value(point, "speedup") * Value(point, "wall_time");
      row["least"] = Rounded(work / *high);
      row["most"] = Rounded(work / *low);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json LineRows(const Json& scaling, std::vector<std::string>* names) {
  const Json& points = ListField(scaling, "points");
  double fewest = Value(points.front(), "cores"), most = 0;
  for (const Json& point : points) {
    fewest = std::min(fewest, Value(point, "cores"));
    most = std::max(most, Value(point, "cores"));
  }
  const double speedup_of_first = Value(points.front(), "speedup");
  // the throughput that is a speed-up of 1
  const double unit = speedup_of_first > 0 ? Value(points.front(), "throughput") / speedup_of_first : 0;
  Json rows = Json::array();
  const auto add_line = [&](const std::string& name, auto speedup) {
    names->push_back(name);
    for (int i = 0; i <= kStepsOfLine; ++i) {
      const double cores = fewest + (most - fewest) * i / kStepsOfLine;
      rows.push_back({{"cores", Rounded(cores)}, {"speedup", Rounded(speedup(cores))}, {"line", name}});
    }
  };
  add_line("ideal", [&](double cores) { return cores / fewest; });
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

Json ScalingBody(const Json& scaling) {
  std::vector<std::string> lines;
  Json line_rows = LineRows(scaling, &lines);
  const Json rows = PointRows(ListField(scaling, "points"));
  std::vector<std::string> kinds;
  for (const Json& row : rows) {
    const std::string kind = TextField(row, "kind");
    if (absl::c_find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  const auto point_colours = Mapped<std::string_view>(kinds, [](const std::string& kind) {
    return kind == "measured" ? "cpu" : kind == "predicted" ? "unknown" : "wait";
  });
  std::vector<std::string_view> line_colours = {"baseline", "others", "cpu"};
  line_colours.resize(lines.size());
  return FilledTemplate("scaling", {{"lines", std::move(line_rows)},
                                    {"points", rows},
                                    {"laws", ColourScale(lines, line_colours)},
                                    {"kinds", ColourScale(kinds, point_colours)}});
}

constexpr size_t kMostDifferences = 40;
constexpr double kLeastShown = 0.001;  // of the time before, in sum

/// Sections that differ by something, with those they are in; the largest where there are too many.
std::vector<const Json*> ShownRows(const Json& tree) {
  double all = SumOf<double>(tree, [](const Json& row) { return Value(row, "depth") == 0 ? Value(row, "before") : 0; });
  std::vector<double> sizes = Mapped<double>(tree, [](const Json& row) { return std::fabs(Value(row, "difference")); });
  std::sort(sizes.rbegin(), sizes.rend());
  const double least = std::max(kLeastShown * all, sizes.size() > kMostDifferences ? sizes[kMostDifferences] : 0);
  std::vector<const Json*> shown;
  for (const Json& row : tree) {
    if (shown.size() < kMostDifferences && std::fabs(Value(row, "difference")) >= least) shown.push_back(&row);
  }
  return shown;
}

}  // namespace

Chart MakeHistoryChart(const Json& history) {
  Chart chart = StudyChart("history", "When did it change?");
  const Json& runs = ListField(history, "runs");
  if (runs.empty()) {
    chart.reason = "no run can be used";
    return chart;
  }
  const Json& sentences = ListField(history, "sentences");
  if (!sentences.empty() && sentences.front().is_string()) chart.subtitle = sentences.front().get<std::string>();
  std::string finding = chart.subtitle;
  if (!finding.empty()) finding.pop_back();  // its full stop
  const std::string source = "crema · " + Counted(runs.size(), "run", "runs");
  const std::string metric = TextField(history, "metric"), unit = TextField(history, "unit");
  chart.spec = SpecificationOf(chart, finding, source,
                               FilledTemplate("history", {{"title", unit.empty() ? metric : metric + " (" + unit + ")"},
                                                          {"runs", RunRows(history)},
                                                          {"levels", LevelRows(history)},
                                                          {"changes", ChangeRows(history)}}));
  return chart;
}

Chart MakePredictionChart(const Prediction& prediction) {
  Chart chart = StudyChart("prediction", "What would help?");
  const auto rows = PlacesWhere(prediction.rows, &PredictedRow::has_answer);
  if (rows.empty()) {
    chart.reason = prediction.refused.empty() ? "no change can be predicted" : prediction.refused;
    return chart;
  }
  const std::string measured = HumanDuration(prediction.measured);
  const std::string finding = fmt::format("{} {} instead of {} (dashed)", ShownName(rows.front()->change),
                                          HumanDuration(rows.front()->wall_time.value), measured);
  chart.subtitle = finding + ". Predicted by replaying the run's own chunks; bars: 90 % of such runs.";
  chart.spec = SpecificationOf(chart, finding, "crema · predicted from one run",
                               FilledTemplate("prediction", {{"changes", Mapped<Json>(rows, ChangeBar)},
                                                             {"measured", Rounded(prediction.measured)},
                                                             {"measured time", measured}}));
  return chart;
}

Chart MakeScalingChart(const Json& scaling) {
  Chart chart = StudyChart("scaling", "How much faster is it on more cores?");
  if (ListField(scaling, "points").empty()) {
    chart.reason = TextField(scaling, "refused");
    return chart;
  }
  std::string finding = TextField(scaling, "sentence");
  chart.subtitle = finding;
  if (!finding.empty()) finding.pop_back();  // its full stop
  const size_t runs = ListField(scaling, "points").size();
  const bool is_predicted = TextField(scaling, "kind") == "predicted";
  const std::string source = "crema · " + (is_predicted ? "predicted from one run" : Counted(runs, "run", "runs"));
  chart.spec = SpecificationOf(chart, finding, source, ScalingBody(scaling));
  return chart;
}

Chart MakeSectionTreeChart(const Json& comparison) {
  Chart chart = StudyChart("section_differences", "Which sections took longer?");
  const std::vector<const Json*> shown = ShownRows(ListField(comparison, "section_tree"));
  if (shown.empty()) {
    chart.reason = "no section differs by a thousandth of the time in chunks";
    return chart;
  }
  std::string finding;
  Json values = Json::array();
  for (const Json* row : shown) {
    const double difference = Value(*row, "difference");
    const std::string_view kind = difference < 0 ? "less" : "more";
    values.push_back({{"path", ShownName(TextField(*row, "path"))},
                      {"difference", Rounded(difference)},
                      {"self", Rounded(Value(*row, "self_difference"))},
                      {"kind", kind},
                      {"before", HumanDuration(Value(*row, "before"))},
                      {"after", HumanDuration(Value(*row, "after"))}});
    if (finding.empty() && !(Value(*row, "depth") > 0)) {
      finding = fmt::format("{} took {} {}", TextField(*row, "path"), HumanDuration(std::fabs(difference)), kind);
    }
  }
  chart.subtitle = finding;
  chart.spec = SpecificationOf(chart, finding, "crema · compare",
                               FilledTemplate("section_differences", {{"sections", std::move(values)}}));
  return chart;
}

}  // namespace crema
