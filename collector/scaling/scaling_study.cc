#include "collector/scaling/scaling_study.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/run_head.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSameWork = 1.01;           // most over least: a few failed chunks
constexpr double kSameWorkPerCore = 1.1;     // most over least
constexpr double kCoresStayed = 0.9;         // of the most, on average: workers need some time to start
constexpr double kMuchOversubscribed = 0.1;  // of the core-seconds

/// A run as it was read, before it is known what its work is counted in.
struct ReadRun {
  const Measurement* measurement = nullptr;
  ScalingPoint point;
};

std::string WhyLeftOut(const Measurement& measurement) {
  const RunEnding ending = StateOf(measurement).ending;
  if (ending == RunEnding::kRunning) return "it has not ended";
  if (ending == RunEnding::kKilled) return "it was killed";
  if (!(measurement.Metric("wall_time") > 0)) return "its wall time is not known";
  if (!(measurement.Metric("total_cores") > 0)) return measurement.WhyNotMeasured("total_cores");
  if (!(measurement.Metric("num_chunks") > 0)) return "it has no chunk with a result";
  return "";
}

ScalingPoint PointOf(const Measurement& measurement) {
  ScalingPoint point;
  point.name = RunName(measurement);
  point.wall_time = *measurement.Metric("wall_time");
  point.core_seconds = measurement.Metric("core_seconds").value_or(0);
  const double average = *measurement.Metric("total_cores");
  const double most = measurement.Metric("peak_cores").value_or(average);
  point.cores_vary = average < kCoresStayed * most;
  point.cores = point.cores_vary ? average : most;
  return point;
}

std::set<std::string> DatasetsOf(const Measurement& measurement) {
  std::set<std::string> names;
  for (const BreakdownRow& row : measurement.datasets) names.insert(row.name.str());
  return names;
}

void AddNotes(const std::vector<ReadRun>& runs, std::vector<std::string>* notes) {
  const Measurement& first = *runs.front().measurement;
  for (const ReadRun& run : runs) {
    const Measurement& measurement = *run.measurement;
    const StateInWords state = StateOf(measurement);
    if (state.ending == RunEnding::kFailed) notes->push_back(fmt::format("{}: {}", run.point.name, state.text));
    if (state.ending == RunEnding::kUnknown) {
      notes->push_back(run.point.name + ": nothing says how it ended, so it may be incomplete");
    }
    if (DatasetsOf(measurement) != DatasetsOf(first)) {
      notes->push_back(fmt::format("{} processed other datasets than {}", run.point.name, runs.front().point.name));
    }
    const double chunks = measurement.Metric("num_chunks").value_or(0);
    if (chunks < run.point.cores) {
      notes->push_back(fmt::format("{} had only {} for {}: the other cores had nothing to do", run.point.name,
                                   Counted(chunks, "chunk", "chunks"), Counted(run.point.cores, "core", "cores")));
    }
    const double beyond = measurement.Metric("oversubscribed_core_seconds").value_or(0);
    if (beyond > kMuchOversubscribed * run.point.core_seconds) {
      notes->push_back(fmt::format("{} had more chunks open than the {} that crema counted", run.point.name,
                                   Counted(run.point.cores, "core", "cores")));
    }
  }
}

/// Sets the work: events, if all know them.
std::string_view SetWork(std::vector<ReadRun>* runs) {
  const bool have_events = std::all_of(runs->begin(), runs->end(),
                                       [](const ReadRun& run) { return run.measurement->Metric("total_events") > 0; });
  const std::string_view work = have_events ? "events" : "chunks";
  for (ReadRun& run : *runs) {
    run.point.work = *run.measurement->Metric(have_events ? "total_events" : "num_chunks");
    run.point.throughput = run.point.work / run.point.wall_time;
  }
  return work;
}

template <typename Value>
double MostOverLeast(const std::vector<ScalingPoint>& points, Value value) {
  double least = value(points.front()), most = least;
  for (const ScalingPoint& point : points) {
    least = std::min(least, value(point));
    most = std::max(most, value(point));
  }
  return most / least;
}

ScalingKind KindOf(const std::vector<ScalingPoint>& points) {
  if (MostOverLeast(points, [](const ScalingPoint& p) { return p.work; }) <= kSameWork) return ScalingKind::kStrong;
  const double per_core = MostOverLeast(points, [](const ScalingPoint& p) { return p.work / p.cores; });
  return per_core <= kSameWorkPerCore ? ScalingKind::kWeak : ScalingKind::kMixed;
}

/// Against the mean of the runs with the fewest cores. `points`: by cores.
void SetRatios(std::vector<ScalingPoint>* points) {
  const double fewest = points->front().cores;
  double throughput = 0, cost = 0, count = 0;
  for (const ScalingPoint& point : *points) {
    if (point.cores != fewest) break;
    throughput += point.throughput;
    cost += point.core_seconds / point.work;
    ++count;
  }
  for (ScalingPoint& point : *points) {
    point.speedup = point.throughput / (throughput / count);
    point.efficiency = point.speedup / (point.cores / fewest);
    point.cost = point.core_seconds / point.work / (cost / count);
  }
}

void SetLaws(ScalingStudy* study) {
  std::vector<LawPoint> points;
  for (const ScalingPoint& point : study->points) {
    if (!point.cores_vary) points.push_back({point.cores, point.throughput});
  }
  for (const LawKind kind : {LawKind::kAmdahl, LawKind::kUsl}) {
    absl::StatusOr<ScalingLaw> law = FitLaw(kind, points);
    if (law.ok()) {
      study->laws.push_back(*law);
    } else {
      study->why_no_law = std::string(law.status().message());
    }
  }
}

std::string CoresText(double cores) { return Counted(cores, "core", "cores"); }

std::string RangeText(const FittedNumber& number) {
  return number.high.has_value() ? fmt::format("{} to {}", HumanCount(number.low), HumanCount(*number.high))
                                 : fmt::format("{} or more", HumanCount(number.low));
}

Json OrNull(const std::optional<double>& value) { return value.has_value() ? Json(*value) : Json(); }

Json AsJson(const FittedNumber& number) {
  return {{"value", OrNull(number.value)}, {"low", number.low}, {"high", OrNull(number.high)}};
}

Json AsJson(const ScalingPoint& point, bool is_predicted) {
  return {{"name", point.name},
          {"cores", point.cores},
          {"cores_vary", point.cores_vary},
          {"predicted", is_predicted},
          {"wall_time", point.wall_time},
          {"low", OrNull(point.low)},
          {"high", OrNull(point.high)},
          {"work", point.work},
          {"throughput", point.throughput},
          {"speedup", point.speedup},
          {"efficiency", point.efficiency},
          {"core_seconds", point.core_seconds},
          {"cost", point.cost}};
}

}  // namespace

std::string_view ToString(ScalingKind kind) {
  switch (kind) {
    case ScalingKind::kStrong:
      return "strong";
    case ScalingKind::kWeak:
      return "weak";
    case ScalingKind::kMixed:
      break;
  }
  return "mixed";
}

ScalingStudy StudyScaling(const std::vector<const Measurement*>& measurements) {
  ScalingStudy study;
  std::vector<ReadRun> runs;
  for (const Measurement* measurement : measurements) {
    const std::string reason = WhyLeftOut(*measurement);
    if (reason.empty()) {
      runs.push_back({measurement, PointOf(*measurement)});
    } else {
      study.left_out.push_back({RunName(*measurement), reason});
    }
  }
  if (runs.size() < 2) {
    study.refused = "fewer than two runs can be compared";
    return study;
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const ReadRun& a, const ReadRun& b) { return a.point.cores < b.point.cores; });
  study.work = SetWork(&runs);
  AddNotes(runs, &study.notes);
  for (const ReadRun& run : runs) study.points.push_back(run.point);
  study.kind = KindOf(study.points);
  SetRatios(&study.points);
  SetLaws(&study);
  study.best_measured = std::max_element(study.points.begin(), study.points.end(), [](const auto& a, const auto& b) {
                          return a.throughput < b.throughput;
                        })->cores;
  return study;
}

ScalingStudy PredictScaling(const Measurement& measurement, const ObservedRun& run) {
  ScalingStudy study;
  study.is_predicted = true;
  study.why_no_law = "one run alone: what is between its points is a prediction, not a measurement";
  study.refused = WhyLeftOut(measurement);
  if (!study.refused.empty()) return study;
  std::vector<ReadRun> runs = {{&measurement, PointOf(measurement)}};
  study.work = SetWork(&runs);
  AddNotes(runs, &study.notes);
  const ScalingPoint& measured = runs.front().point;
  std::vector<RunChange> changes;
  for (const double factor : {0.5, 2.0, 4.0, 8.0}) {
    const double cores = factor * run.cores();
    if (cores >= 1) changes.push_back({ChangeKind::kCores, cores, ""});
  }
  const Prediction prediction = Predict(run, changes);
  study.refused = prediction.refused;
  if (!study.refused.empty()) return study;
  study.points.push_back(measured);
  for (size_t i = 0; i < prediction.rows.size(); ++i) {
    const PredictedRow& row = prediction.rows[i];
    const std::string name = "predicted for " + CoresText(changes[i].number);
    if (!row.why_not.empty()) {
      study.left_out.push_back({name, row.why_not});
      continue;
    }
    ScalingPoint point;
    point.name = name;
    point.cores = changes[i].number;
    point.wall_time = row.wall_time.value;
    point.low = row.wall_time.low;
    point.high = row.wall_time.high;
    point.core_seconds = row.core_seconds.value;
    point.work = measured.work;
    point.throughput = point.work / point.wall_time;
    study.points.push_back(point);
  }
  std::stable_sort(study.points.begin(), study.points.end(),
                   [](const ScalingPoint& a, const ScalingPoint& b) { return a.cores < b.cores; });
  SetRatios(&study.points);
  return study;
}

std::string ScalingSentence(const ScalingStudy& study) {
  if (!study.refused.empty()) return "Nothing can be told: " + study.refused + ".";
  const ScalingPoint &first = study.points.front(), &last = study.points.back();
  if (first.cores == last.cores)
    return fmt::format("All runs had {}: nothing is told of others.", CoresText(first.cores));
  std::string what = "As much work for each core";
  if (study.kind == ScalingKind::kStrong) what = "The same work";
  if (study.kind == ScalingKind::kMixed) what = "Different work";
  if (study.is_predicted) what = "Predicted from one run, not measured";
  std::string text = fmt::format("{}: on {}, {} per second are {} times those on {}, an efficiency of {}.", what,
                                 CoresText(last.cores), study.work, HumanFactor(last.speedup), CoresText(first.cores),
                                 HumanPercent(last.efficiency));
  if (study.laws.empty()) return text;
  const ScalingLaw& law = study.laws.back();
  if (law.worthwhile.value.has_value()) {
    text += fmt::format(" By the fit, core {} ({}) is the last that brings at least half of what the first does",
                        HumanCount(*law.worthwhile.value), RangeText(law.worthwhile));
  } else {
    text += " By the fit, each core more brings at least half of what the first does";
  }
  if (law.fastest.value.has_value()) {
    text += fmt::format("; the most events per second come from {} ({}).", CoresText(*law.fastest.value),
                        RangeText(law.fastest));
  } else {
    text += law.fastest.high.has_value() || std::isfinite(law.fastest.low)
                ? fmt::format("; the rate rises with each core (a maximum may be at {}).", RangeText(law.fastest))
                : "; the rate rises with each core.";
  }
  return text;
}

Json ScalingAsJson(const ScalingStudy& study) {
  Json points = Json::array(), fits = Json::array(), left_out = Json::array();
  for (const ScalingPoint& point : study.points) points.push_back(AsJson(point, point.low.has_value()));
  for (const ScalingLaw& law : study.laws) {
    fits.push_back({{"law", law.name},
                    {"lambda", AsJson(law.lambda)},
                    {"sigma", AsJson(law.sigma)},
                    {"kappa", AsJson(law.kappa)},
                    {"error", law.error},
                    {"fastest", AsJson(law.fastest)},
                    {"worthwhile", AsJson(law.worthwhile)}});
  }
  for (const LeftOutRun& run : study.left_out) left_out.push_back({{"name", run.name}, {"reason", run.reason}});
  const bool has_laws = !study.laws.empty();
  return {{"schema", "crema.scaling/1"},
          {"kind", study.is_predicted ? "predicted" : ToString(study.kind)},
          {"work", study.work},
          {"sentence", ScalingSentence(study)},
          {"points", std::move(points)},
          {"fits", std::move(fits)},
          {"not_fitted", has_laws || study.why_no_law.empty() ? Json() : Json(study.why_no_law)},
          {"best_cores",
           {{"measured", OrNull(study.best_measured)},
            {"fastest", has_laws ? AsJson(study.laws.back().fastest) : Json()},
            {"worthwhile", has_laws ? AsJson(study.laws.back().worthwhile) : Json()}}},
          {"notes", study.notes},
          {"left_out", std::move(left_out)},
          {"refused", study.refused.empty() ? Json() : Json(study.refused)}};
}

}  // namespace crema
