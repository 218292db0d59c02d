// Charts of what `crema history`, `predict`, `scaling` and `compare` found.

#include "collector/charts/drawing.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/prediction/prediction.h"
#include "collector/records/json_fields.h"
#include "collector/scaling/scaling_study.h"
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

std::string KindOfPoint(const ScalingPoint& point) {
  if (*point.predicted) return "predicted";
  return *point.cores_vary ? "measured, cores came and went" : "measured";
}

Json PointRow(const ScalingPoint& point) {
  Json row = {{"cores", Rounded(*point.cores)},
              {"speedup", Rounded(*point.speedup)},
              {"kind", KindOfPoint(point)},
              {"run", ShownName(point.name)},
              {"time", HumanDuration(*point.wall_time)},
              {"efficiency", HumanPercent(*point.efficiency)}};
  if (point.low > 0 && point.high > 0) {
    const double work = *point.speedup * *point.wall_time;
    row["least"] = Rounded(work / *point.high);
    row["most"] = Rounded(work / *point.low);
  }
  return row;
}

Json LineRows(const ScalingStudy& scaling, std::vector<std::string>* names) {
  const ScalingPoint &first = scaling.points.front(), &last = scaling.points.back();
  const double fewest = *first.cores, most = *last.cores;
  const double unit = *first.throughput / *first.speedup;  // the throughput that is a speed-up of 1
  Json rows = Json::array();
  const auto add_line = [&](const std::string& name, auto speedup) {
    names->push_back(name);
    for (int i = 0; i <= kStepsOfLine; ++i) {
      const double cores = fewest + (most - fewest) * i / kStepsOfLine;
      rows.push_back({{"cores", Rounded(cores)}, {"speedup", Rounded(speedup(cores))}, {"line", name}});
    }
  };
  add_line("ideal", [&](double cores) { return cores / fewest; });
  for (const ScalingLaw& law : scaling.laws) {
    const double lambda = law.lambda.value.value_or(0), sigma = law.sigma.value.value_or(0),
                 kappa = law.kappa.value.value_or(0);
    add_line(law.law == "usl" ? "USL" : "Amdahl", [=](double cores) {
      return lambda * cores / (1 + sigma * (cores - 1) + kappa * cores * (cores - 1)) / unit;
    });
  }
  return rows;
}

Json ScalingBody(const ScalingStudy& scaling) {
  std::vector<std::string> lines, kinds;
  Json line_rows = LineRows(scaling, &lines);
  for (const ScalingPoint& point : scaling.points) {
    if (absl::c_find(kinds, KindOfPoint(point)) == kinds.end()) kinds.push_back(KindOfPoint(point));
  }
  const auto point_colours = Mapped<std::string_view>(kinds, [](const std::string& kind) {
    return kind == "measured" ? "cpu" : kind == "predicted" ? "unknown" : "wait";
  });
  std::vector<std::string_view> line_colours = {"baseline", "others", "cpu"};
  line_colours.resize(lines.size());
  return FilledTemplate("scaling", {{"lines", std::move(line_rows)},
                                    {"points", Mapped<Json>(scaling.points, PointRow)},
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

Chart MakeScalingChart(const ScalingStudy& scaling) {
  Chart chart = StudyChart("scaling", "How much faster is it on more cores?");
  if (scaling.points.empty()) {
    chart.reason = scaling.refused;
    return chart;
  }
  chart.subtitle = ScalingSentence(scaling);
  const std::string finding = chart.subtitle.substr(0, chart.subtitle.size() - 1);  // without its full stop
  const std::string source =
      "crema · " + (scaling.is_predicted ? "predicted from one run" : Counted(scaling.points.size(), "run", "runs"));
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
