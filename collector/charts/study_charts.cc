// Charts of what `crema history`, `predict`, `scaling` and `compare` found.

#include "collector/charts/drawing.h"
#include "collector/comparison/comparison.h"
#include "collector/format/human_numbers.h"
#include "collector/history/run_history.h"
#include "collector/idioms/sequences.h"
#include "collector/scaling/scaling_study.h"

namespace crema {
namespace {

/// A chart without figures, or before it has them.
Chart StudyChart(std::string_view name, std::string_view title) {
  return {std::string(name), std::string(title), "", nullptr, ""};
}

/// A sentence without its full stop.
std::string WithoutStop(const std::string& sentence) {
  return sentence.substr(0, std::max<size_t>(sentence.size(), 1) - 1);
}

Json RunRows(const RunHistory& history) {
  Json rows = Json::array();
  for (size_t i = 0; i < history.runs.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    rows.push_back({{"run", i + 1},
                    {"value", Rounded(history.ValueOf(i))},
                    {"start", run.Start()},
                    {"directory", ShownName(run.directory)},
                    {"commit", ShownName(run.commit)},
                    {"text", history.Written(history.ValueOf(i))}});
  }
  return rows;
}

Json LevelRows(const RunHistory& history) {
  return Mapped<Json>(history.levels, [&](const HistoryLevel& level) {
    return Json{{"run", static_cast<double>(level.place.begin) + 0.5},
                {"last", static_cast<double>(level.place.end) + 0.5},
                {"value", Rounded(level.value)},
                {"text", history.Written(level.value)}};
  });
}

/// In which runs a level may have begun.
Json ChangeRows(const RunHistory& history) {
  Json rows = Json::array();
  for (size_t i = 1; i < history.levels.size(); ++i) {
    const Segment& place = history.levels[i].place;
    const HistoryRun& first = history.runs[place.begin];
    rows.push_back({{"run", static_cast<double>(place.earliest) + 0.5},
                    {"last", static_cast<double>(place.latest) + 1.5},
                    {"start", first.Start()},
                    {"commit", ShownName(first.commit)}});
  }
  return rows;
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
std::vector<const SectionDifference*> ShownSections(const std::vector<SectionDifference>& tree) {
  using Row = SectionDifference;
  const auto all = SumOf<double>(tree, [](const Row& row) { return row.depth == 0 ? row.before : 0; });
  std::vector<double> sizes = Mapped<double>(tree, [](const Row& row) { return std::fabs(row.difference()); });
  std::sort(sizes.rbegin(), sizes.rend());
  const double least = std::max(kLeastShown * all, sizes.size() > kMostDifferences ? sizes[kMostDifferences] : 0);
  auto shown = PlacesWhere(tree, [&](const Row& row) { return std::fabs(row.difference()) >= least; });
  if (shown.size() > kMostDifferences) shown.resize(kMostDifferences);
  return shown;
}

}  // namespace

Chart MakeHistoryChart(const RunHistory& history) {
  Chart chart = StudyChart("history", "When did it change?");
  if (history.runs.empty()) {
    chart.reason = "no run can be used";
    return chart;
  }
  const std::vector<std::string> sentences = HistorySentences(history);
  if (!sentences.empty()) chart.subtitle = sentences.front();
  const std::string source = "crema · " + Counted(history.runs.size(), "run", "runs");
  const std::string title = history.unit.empty() ? history.metric : history.metric + " (" + history.unit + ")";
  chart.spec = SpecificationOf(chart, WithoutStop(chart.subtitle), source,
                               FilledTemplate("history", {{"title", title},
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
  const std::string source =
      "crema · " + (scaling.is_predicted ? "predicted from one run" : Counted(scaling.points.size(), "run", "runs"));
  chart.spec = SpecificationOf(chart, WithoutStop(chart.subtitle), source, ScalingBody(scaling));
  return chart;
}

Chart MakeSectionTreeChart(const std::vector<SectionDifference>& tree) {
  Chart chart = StudyChart("section_differences", "Which sections took longer?");
  const std::vector<const SectionDifference*> shown = ShownSections(tree);
  if (shown.empty()) {
    chart.reason = "no section differs by a thousandth of the time in chunks";
    return chart;
  }
  std::string finding;
  Json values = Json::array();
  for (const SectionDifference* row : shown) {
    const double difference = row->difference();
    const std::string_view kind = difference < 0 ? "less" : "more";
    values.push_back({{"path", ShownName(row->path)},
                      {"difference", Rounded(difference)},
                      {"self", Rounded(row->self_difference)},
                      {"kind", kind},
                      {"before", HumanDuration(row->before)},
                      {"after", HumanDuration(row->after)}});
    if (finding.empty() && row->depth == 0) {
      finding = fmt::format("{} took {} {}", row->path, HumanDuration(std::fabs(difference)), kind);
    }
  }
  chart.subtitle = finding;
  chart.spec = SpecificationOf(chart, finding, "crema · compare",
                               FilledTemplate("section_differences", {{"sections", std::move(values)}}));
  return chart;
}

}  // namespace crema
