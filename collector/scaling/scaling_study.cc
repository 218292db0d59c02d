#include "collector/scaling/scaling_study.h"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/minima.hpp>

#include "collector/comparison/comparison.h"
#include "collector/diagnosis/evidence.h"
#include "collector/diagnosis/run_head.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/thresholds.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostKappa = 1;    // two cores would be slower than half of one
constexpr double kMostCores = 1e9;  // where the search for a number of cores ends
constexpr int kSteps = 200;         // over the interval of sigma
constexpr int kHalvings = 60;       // of an interval: beyond a double's digits

/// The points as (throughput of a core, cores), and the best lambda in closed form: with g the throughput of a core
/// times what the law divides by, a point's relative error is 1 - g / lambda.
class Errors {
 public:
  explicit Errors(std::vector<LawPoint> points) : points_(std::move(points)) {}

  double Factor(const LawPoint& point, double sigma, double kappa) const {
    const double n = point.cores;
    return point.throughput / n * (1 + sigma * (n - 1) + kappa * n * (n - 1));
  }

  /// 1 / lambda.
  double BestInverse(double sigma, double kappa) const {
    double sum = 0, squares = 0;
    for (const LawPoint& point : points_) {
      const double factor = Factor(point, sigma, kappa);
      sum += factor;
      squares += factor * factor;
    }
    return sum / squares;
  }

  double Sum(double sigma, double kappa) const {
    const double inverse = BestInverse(sigma, kappa);
    return SumOf<double>(points_,
                         [&](const LawPoint& point) { return std::pow(1 - inverse * Factor(point, sigma, kappa), 2); });
  }

  /// By how much 1 / lambda may differ from the best before the sum exceeds `cut`.
  double HalfWidthOfInverse(double sigma, double kappa, double cut) const {
    double squares =
        SumOf<double>(points_, [&](const LawPoint& point) { return std::pow(Factor(point, sigma, kappa), 2); });
    return std::sqrt(std::max(0.0, cut - Sum(sigma, kappa)) / squares);
  }

  /// With this sigma: least squares of 1 = x u + y v, where u and v are what belongs to 1 / lambda and kappa / lambda.
  double BestKappa(double sigma) const {
    double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
    for (const LawPoint& point : points_) {
      const double u = Factor(point, sigma, 0);
      const double v = Factor(point, sigma, 1) - u;
      uu += u * u, uv += u * v, vv += v * v, u1 += u, v1 += v;
    }
    const double x = u1 * vv - v1 * uv, y = v1 * uu - u1 * uv;
    if (!(y > 0)) return 0;
    return x > 0 ? std::min(kMostKappa, y / x) : kMostKappa;
  }

 private:
  std::vector<LawPoint> points_;
};

/// Where `is_inside` ends on the way from `inside` to `outside`; `outside` where it does not end.
double Edge(double inside, double outside, const std::function<bool(double)>& is_inside) {
  if (is_inside(outside)) return outside;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (inside + outside) / 2;
    (is_inside(middle) ? inside : outside) = middle;
  }
  return inside;
}

/// The minimum of a function that falls, then rises.
double Lowest(double low, double high, const std::function<double(double)>& function) {
  double best = boost::math::tools::brent_find_minima(function, low, high, std::numeric_limits<double>::digits).first;
  for (const double end : {low, high}) {
    if (function(end) <= function(best)) best = end;
  }
  return best;
}

double Relative(double cores, double sigma, double kappa) {
  return cores / (1 + sigma * (cores - 1) + kappa * cores * (cores - 1));
}

double Fastest(double sigma, double kappa) {
  if (kappa <= 0) return kInfinity;
  const double peak = std::max(1.0, std::sqrt(std::max(0.0, 1 - sigma) / kappa));
  if (peak >= kMostCores) return kInfinity;
  const double below = std::floor(peak);
  return Relative(below, sigma, kappa) >= Relative(below + 1, sigma, kappa) ? below : below + 1;
}

double Worthwhile(double sigma, double kappa) {
  const auto is_worth_it = [&](double cores) {
    return Relative(cores, sigma, kappa) - Relative(cores - 1, sigma, kappa) >= 0.5;
  };
  double inside = 1, outside = 2;
  while (is_worth_it(outside)) {
    inside = outside;
    outside *= 2;
    if (outside > kMostCores) return kInfinity;
  }
  while (outside - inside > 1) {
    const double middle = std::floor((inside + outside) / 2);
    (is_worth_it(middle) ? inside : outside) = middle;
  }
  return inside;
}

struct Range {
  double low = kInfinity, high = -kInfinity;

  void Add(double value) { low = std::min(low, value), high = std::max(high, value); }
  FittedNumber Around(double value) const { return {value, low, high}; }
};

/// A run as it was read, before it is known what its work is counted in.
struct ReadRun {
  const Measurement* measurement = nullptr;
  ScalingPoint point;
};

std::string WhyLeftOut(const Measurement& measurement) {
  if (std::string why = WhyNotWhole(measurement); !why.empty()) return why;
  if (!(measurement.Metric("wall_time") > 0)) return "its wall time is not known";
  if (!(measurement.Metric("total_cores") > 0)) return measurement.WhyNotMeasured("total_cores");
  if (!(measurement.Metric("num_chunks") > 0)) return "it has no chunk with a result";
  return "";
}

ScalingPoint PointOf(const Measurement& measurement, std::string name) {
  ScalingPoint point;
  point.name = std::move(name);
  point.wall_time = *measurement.Metric("wall_time");
  point.core_seconds = measurement.Metric("core_seconds").value_or(0);
  const double average = *measurement.Metric("total_cores");
  const double most = measurement.Metric("peak_cores").value_or(average);
  point.cores_vary = average < kCoresStayed * most;
  point.cores = *point.cores_vary ? average : most;
  if (const ObservedEvents events = EventsOf(measurement); events.count > 0) {
    point.streams = events.streams;
    point.latency = events.latency;
  }
  return point;
}

std::set<std::string> DatasetsOf(const Measurement& measurement) {
  std::set<std::string> names;
  for (const BreakdownRow& row : measurement.datasets) names.insert(row.name.str());
  return names;
}

std::string CoresText(const ScalingPoint& point) { return CoresWithLanes(*point.cores, point.lanes); }

void AddNotes(const std::vector<ReadRun>& runs, std::vector<std::string>* notes) {
  const Measurement& first = *runs.front().measurement;
  for (const ReadRun& run : runs) {
    const Measurement& measurement = *run.measurement;
    const auto note = [&](const std::string& what) { notes->push_back(run.point.name.str() + what); };
    if (DatasetsOf(measurement) != DatasetsOf(first)) {
      note(" processed other datasets than " + runs.front().point.name.str());
    }
    if (const double chunks = measurement.Metric("num_chunks").value_or(0); chunks < *run.point.cores) {
      note(fmt::format(" had only {} for {}: the other cores had nothing to do", Counted(chunks, "chunk", "chunks"),
                       CoresText(run.point)));
    }
    if (const double without = ShareWithoutCpu(measurement); kShortOfCpu.Holds(without)) {
      note(
          fmt::format(" had no CPU for {} of the time in which chunks were ready to compute: others used its cores, or "
                      "more threads ran than it had. So its rate is not that of its cores",
                      HumanPercent(without)));
    }
    const double beyond = measurement.Metric("oversubscribed_core_seconds").value_or(0);
    if (beyond > kMuchOversubscribed * *run.point.core_seconds) {
      note(fmt::format(" had more chunks open than the {} that crema counted", CoresText(run.point)));
    }
  }
}

void NoteStreams(const std::vector<ScalingPoint>& points, std::vector<std::string>* notes) {
  double least = kInfinity, most = 0;
  for (const ScalingPoint& point : points) {
    if (!point.streams.has_value()) return;
    least = std::min(least, *point.streams / *point.cores);
    most = std::max(most, *point.streams / *point.cores);
  }
  if (most <= kSameStreams * least) return;
  notes->push_back(
      fmt::format("{:.2g} to {:.2g} events were open for each core: the rates differ for that, too", least, most));
}

/// Sets the work: events, if all know them.
std::string_view SetWork(std::vector<ReadRun>* runs) {
  const bool have_events =
      absl::c_all_of(*runs, [](const ReadRun& run) { return run.measurement->Metric("total_events") > 0; });
  const std::string_view work = have_events ? "events" : "chunks";
  for (ReadRun& run : *runs) {
    run.point.work = *run.measurement->Metric(have_events ? "total_events" : "num_chunks");
    run.point.throughput = *run.point.work / *run.point.wall_time;
  }
  return work;
}

double MostOverLeast(const std::vector<double>& values) {
  const auto [least, most] = absl::c_minmax_element(values);
  return *most / *least;
}

ScalingKind KindOf(const std::vector<ScalingPoint>& points) {
  if (MostOverLeast(Mapped<double>(points, [](const ScalingPoint& point) { return *point.work; })) <= kSameWork)
    return ScalingKind::kStrong;
  const double per_core =
      MostOverLeast(Mapped<double>(points, [](const ScalingPoint& point) { return *point.work / *point.cores; }));
  return per_core <= kSameWorkPerCore ? ScalingKind::kWeak : ScalingKind::kMixed;
}

/// Against the mean of the runs with the fewest cores. `points`: by cores.
void SetRatios(std::vector<ScalingPoint>* points) {
  const double fewest = *points->front().cores;
  double throughput = 0, cost = 0, count = 0;
  for (const ScalingPoint& point : *points) {
    if (*point.cores != fewest) break;
    throughput += *point.throughput;
    cost += *point.core_seconds / *point.work;
    ++count;
  }
  for (ScalingPoint& point : *points) {
    point.speedup = *point.throughput / (throughput / count);
    point.efficiency = *point.speedup / (*point.cores / fewest);
    point.cost = *point.core_seconds / *point.work / (cost / count);
  }
}

/// A maximum is claimed only where runs were repeated, so that their scatter is known, and this excludes that the rate
/// rises with each core.
void SetLaws(ScalingStudy* study) {
  std::vector<LawPoint> points;
  std::map<double, int> runs_on;
  for (const ScalingPoint& point : study->points) {
    if (*point.cores_vary) continue;
    points.push_back({*point.cores, *point.throughput});
    ++runs_on[*point.cores];
  }
  const auto several = absl::c_count_if(runs_on, [](const auto& each) { return each.second > 1; });
  for (const LawKind kind : {LawKind::kAmdahl, LawKind::kUsl}) {
    if (absl::StatusOr<ScalingLaw> law = FitLaw(kind, points); law.ok()) {
      if (several < kRepeatedCounts || !(*law->kappa.low > 0)) law->fastest.value = {};
      study->laws.push_back(*law);
    } else {
      study->why_no_law = std::string(law.status().message());
      if (points.size() < study->points.size()) study->why_no_law += " (runs whose cores came and went do not count)";
    }
  }
}

std::string RangeText(const FittedNumber& number) {
  return number.high.has_value() ? fmt::format("{} to {}", HumanCount(*number.low), HumanCount(*number.high))
                                 : fmt::format("{} or more", HumanCount(*number.low));
}

template <class Row>
Json AsJson(const Row& row) {
  Json json;
  WriteValue(row, &json);
  return json;
}

Cell CoresCell(const void* row) {
  const auto* point = static_cast<const ScalingPoint*>(row);
  return (*point->cores_vary ? "on average " : "") + HumanCount(*point->cores);
}

Cell RangeCell(const void* row) {
  const auto* point = static_cast<const ScalingPoint*>(row);
  return *point->predicted ? Cell(HumanDurationRange(*point->low, *point->high)) : Cell();
}

}  // namespace

absl::Span<const Column> FittedNumber::Columns() {
  static constexpr auto kColumns = FieldsOf<&FittedNumber::value, &FittedNumber::low, &FittedNumber::high>();
  return kColumns;
}

absl::Span<const Column> ScalingLaw::Columns() {
  using L = ScalingLaw;
  static constexpr auto kColumns =
      FieldsOf<&L::law, &L::lambda, &L::sigma, &L::kappa, &L::error, &L::fastest, &L::worthwhile>();
  return kColumns;
}

absl::Span<const Column> LeftOutRun::Columns() {
  static constexpr auto kColumns = FieldsOf<&LeftOutRun::name, &LeftOutRun::reason>();
  return kColumns;
}

absl::Span<const Column> ScalingPoint::Columns() {
  static constexpr std::array kColumns = {
      ColumnOf<&ScalingPoint::name>("run", Kind::kPath),
      ColumnOf<&ScalingPoint::cores>(Kind::kText).With(&Column::cell, &CoresCell),
      ColumnOf<&ScalingPoint::lanes>("chunks at once", Kind::kCount).OptIn(),
      FieldOf<&ScalingPoint::cores_vary>(),
      FieldOf<&ScalingPoint::predicted>(),
      ColumnOf<&ScalingPoint::wall_time>("wall time", Kind::kDuration),
      ColumnOf<&ScalingPoint::low>("90 % of runs").With(&Column::cell, &RangeCell).OptIn(),
      FieldOf<&ScalingPoint::high>(),
      FieldOf<&ScalingPoint::work>(),
      ColumnOf<&ScalingPoint::throughput>("rate", Kind::kRate, 2),
      ColumnOf<&ScalingPoint::speedup>("speed-up", Kind::kNumber),
      ColumnOf<&ScalingPoint::efficiency>(Kind::kShare),
      ColumnOf<&ScalingPoint::core_seconds>("core-seconds", Kind::kNumber, 1),
      ColumnOf<&ScalingPoint::cost>(Kind::kNumber, 3),
      ColumnOf<&ScalingPoint::streams>("events open", Kind::kNumber, 1).OptIn(),
      ColumnOf<&ScalingPoint::latency>(Kind::kDuration, 1).OptIn()};
  return kColumns;
}

absl::StatusOr<ScalingLaw> FitLaw(LawKind kind, const std::vector<LawPoint>& points) {
  std::set<double> counts;
  for (const LawPoint& point : points) counts.insert(point.cores);
  if (counts.size() < kCoreCountsOfLaw) {
    return absl::FailedPreconditionError(fmt::format("a law needs {} different numbers of cores; there {} {}",
                                                     kCoreCountsOfLaw, counts.size() == 1 ? "is" : "are",
                                                     counts.size()));
  }
  const bool is_usl = kind == LawKind::kUsl;
  const Errors errors(points);
  const auto best_kappa = [&](double sigma) { return is_usl ? errors.BestKappa(sigma) : 0.0; };
  const auto profile = [&](double sigma) { return errors.Sum(sigma, best_kappa(sigma)); };
  const double sigma = Lowest(0, 1, profile), kappa = best_kappa(sigma);
  const double least = errors.Sum(sigma, kappa);
  const double freedom = static_cast<double>(points.size()) - (is_usl ? 3 : 2);
  const double t = boost::math::quantile(boost::math::students_t(freedom), 1 - kRangeTail);
  const double cut = least * (1 + t * t / freedom);

  Range sigmas, kappas, lambdas, fastest, worthwhile;
  const auto add = [&](double s, double k) {
    const double inverse = errors.BestInverse(s, k), half = errors.HalfWidthOfInverse(s, k, cut);
    sigmas.Add(s);
    kappas.Add(k);
    lambdas.Add(1 / (inverse + half));
    lambdas.Add(inverse > half ? 1 / (inverse - half) : kInfinity);
    fastest.Add(Fastest(s, k));
    worthwhile.Add(Worthwhile(s, k));
  };
  add(sigma, kappa);
  const auto is_inside = [&](double s) { return profile(s) <= cut; };
  const double low = Edge(sigma, 0, is_inside), high = Edge(sigma, 1, is_inside);
  for (int i = 0; i <= kSteps; ++i) {
    const double s = low + (high - low) * i / kSteps, middle = best_kappa(s);
    add(s, middle);
    if (!is_usl) continue;
    const auto is_inside_too = [&](double k) { return errors.Sum(s, k) <= cut; };
    if (!is_inside_too(middle)) continue;
    add(s, Edge(middle, 0, is_inside_too));
    add(s, Edge(middle, kMostKappa, is_inside_too));
  }
  ScalingLaw law;
  law.law = is_usl ? "usl" : "amdahl";
  law.lambda = lambdas.Around(1 / errors.BestInverse(sigma, kappa));
  law.sigma = sigmas.Around(sigma);
  law.kappa = kappas.Around(kappa);
  if (law.kappa.high.value_or(0) >= kMostKappa) law.kappa.high = {};
  law.error = std::sqrt(least / freedom);
  law.fastest = fastest.Around(Fastest(sigma, kappa));
  law.worthwhile = worthwhile.Around(Worthwhile(sigma, kappa));
  return law;
}

ScalingStudy StudyScaling(const std::vector<const Measurement*>& measurements,
                          const std::vector<std::string>& sources) {
  ScalingStudy study;
  std::vector<ReadRun> runs;
  const std::vector<std::string> names = NamesOfRuns(measurements, sources);
  for (size_t i = 0; i < names.size(); ++i) {
    if (const std::string reason = WhyLeftOut(*measurements[i]); reason.empty()) {
      runs.push_back({measurements[i], PointOf(*measurements[i], names[i])});
      runs.back().point.source = i;
    } else {
      study.left_out.push_back({names[i], reason});
    }
  }
  if (runs.size() < 2) {
    study.refused = "fewer than two runs can be compared";
    return study;
  }
  SortBy(&runs, [](const ReadRun& a) {
    return std::tuple(*a.point.cores, a.measurement->run.start_ns.value_or(0), a.point.name.str(), *a.point.wall_time);
  });
  study.work = SetWork(&runs);
  AddNotes(runs, &study.notes);
  for (const ReadRun& run : runs) study.points.push_back(run.point);
  NoteStreams(study.points, &study.notes);
  study.kind = KindOf(study.points);
  SetRatios(&study.points);
  SetLaws(&study);
  study.best_measured =
      LargestBy(study.points, [](const ScalingPoint& point) { return *point.throughput; }).first->cores;
  return study;
}

ScalingStudy PredictScaling(const Measurement& measurement, const ObservedRun& run) {
  ScalingStudy study;
  study.is_predicted = true;
  study.why_no_law = "one run alone: what is between its points is a prediction, not a measurement";
  study.refused = WhyLeftOut(measurement);
  if (!study.refused.empty()) return study;
  std::vector<ReadRun> runs = {{&measurement, PointOf(measurement, RunName(measurement))}};
  study.work = SetWork(&runs);
  AddNotes(runs, &study.notes);
  const ScalingPoint& measured = runs.front().point;
  std::vector<RunChange> changes;
  for (const double factor : {0.5, 2.0, 4.0, 8.0}) {
    if (const double cores = factor * run.cores(); cores >= 1) changes.push_back({ChangeKind::kCores, cores, ""});
  }
  const Prediction prediction = Predict(run, changes);
  study.refused = prediction.refused;
  if (!study.refused.empty()) return study;
  study.points.push_back(measured);
  if (prediction.basis.empty()) study.points.back().lanes = run.lanes();
  for (size_t i = 0; i < prediction.rows.size(); ++i) {
    const PredictedRow& row = prediction.rows[i];
    const std::string name = "predicted for " + CoresWithLanes(changes[i].number, row.lanes);
    if (!row.why_not.empty()) {
      study.left_out.push_back({name, row.why_not});
      continue;
    }
    ScalingPoint point;
    point.name = name;
    point.cores = changes[i].number;
    point.lanes = row.lanes;
    point.predicted = true;
    point.wall_time = row.wall_time.value;
    point.low = row.wall_time.low;
    point.high = row.wall_time.high;
    point.core_seconds = row.core_seconds.value;
    point.work = measured.work;
    point.throughput = *point.work / *point.wall_time;
    study.points.push_back(point);
  }
  SortBy(&study.points, &ScalingPoint::cores);
  SetRatios(&study.points);
  return study;
}

std::string ScalingSentence(const ScalingStudy& study) {
  if (!study.refused.empty()) return "No answer: " + study.refused + ".";
  const ScalingPoint &first = study.points.front(), &last = study.points.back();
  if (first.cores == last.cores) return fmt::format("All runs had {}: nothing is known of others.", CoresText(first));
  std::string what = "As much work for each core";
  if (study.kind == ScalingKind::kStrong) what = "The same work";
  if (study.kind == ScalingKind::kMixed) what = "Different work";
  if (study.is_predicted) what = "Predicted from one run, not measured";
  std::vector<double> speedups;
  for (const ScalingPoint& point : study.points) {
    if (point.cores == last.cores) speedups.push_back(*point.speedup);
  }
  std::string text = fmt::format("{}: on {}, {} per second are {} times those on {}, an efficiency of {}.", what,
                                 CoresText(last), study.work, HumanFactor(MeanOf(speedups)), CoresText(first),
                                 HumanPercent(MeanOf(speedups) * *first.cores / *last.cores));
  if (study.laws.empty()) return text;
  const ScalingLaw& law = study.laws.back();
  text += law.worthwhile.value.has_value()
              ? fmt::format(" By the fit, core {} ({}) is the last that brings at least half of what the first does",
                            HumanCount(*law.worthwhile.value), RangeText(law.worthwhile))
              : " By the fit, each core more brings at least half of what the first does";
  if (law.fastest.value.has_value()) {
    text += fmt::format("; the most {} per second come from {} ({}).", study.work,
                        Counted(*law.fastest.value, "core", "cores"), RangeText(law.fastest));
  } else {
    text += law.fastest.high.has_value() || law.fastest.low.has_value()
                ? fmt::format("; the runs do not show whether the rate has a maximum (it would be at {}).",
                              RangeText(law.fastest))
                : "; the rate rises with each core.";
  }
  return text;
}

Json ScalingAsJson(const ScalingStudy& study) {
  const bool has_laws = !study.laws.empty();
  constexpr std::string_view kKinds[] = {"strong", "weak", "mixed"};
  return {{"schema", "crema.scaling/1"},
          {"kind", study.is_predicted ? "predicted" : kKinds[static_cast<size_t>(study.kind)]},
          {"work", study.work},
          {"sentence", ScalingSentence(study)},
          {"points", AsJson(study.points)},
          {"fits", AsJson(study.laws)},
          {"not_fitted", TextOrNull(has_laws ? "" : study.why_no_law)},
          {"best_cores",
           {{"measured", JsonOf(study.best_measured)},
            {"fastest", has_laws ? AsJson(study.laws.back().fastest) : Json()},
            {"worthwhile", has_laws ? AsJson(study.laws.back().worthwhile) : Json()}}},
          {"notes", study.notes},
          {"left_out", AsJson(study.left_out)},
          {"refused", TextOrNull(study.refused)}};
}

}  // namespace crema
