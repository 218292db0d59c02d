// Charts of metrics by name: Dask's fine metrics and activities; then datasets and files, and the user's own metrics.

#include "collector/charts/families.h"
#include "collector/diagnosis/between_runs.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

constexpr size_t kMostFunctions = 20;
constexpr size_t kMostActivities = 12;
constexpr std::string_view kTransfers = "between workers";
constexpr std::string_view kInTasks = "inside tasks";
constexpr char kOthers[] = "(others)";

/// Sum over spans and workers of what one function spent on one activity.
struct FineSum {
  std::string_view place;  ///< inside tasks, or between workers
  std::string function;
  std::string activity;
  double seconds = 0;
};

std::vector<FineSum> ReadFine(const Measurement& measurement, bool with_transfers) {
  std::vector<FineSum> sums;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const FineRow& row : measurement.fine) {
    const bool is_transfer = row.IsTransfer();
    if (!row.value.has_value() || row.unit != "seconds" || (is_transfer && !with_transfers)) continue;
    const std::string activity = row.activity.has_value() ? row.activity.str() : "(no name)";
    const std::string function = row.function.has_value() ? row.function.str() : row.context.str();
    // what Dask counts beside all spans is no task's
    if (function == "N/A") continue;
    const auto [place, is_new] = places.try_emplace({function, activity}, sums.size());
    if (is_new) sums.push_back({is_transfer ? kTransfers : kInTasks, function, activity, 0});
    sums[place->second].seconds += *row.value;
  }
  EraseWhere(&sums, [](const FineSum& sum) { return !(sum.seconds > 0); });
  return sums;
}

double TotalOf(const std::vector<FineSum>& sums) { return SumOf<double>(sums, &FineSum::seconds); }

/// Names by their sums, largest first. Beyond `most` all others share one name, which replaces theirs in `sums`.
std::vector<std::string> RankedNames(std::string FineSum::*name, size_t most, std::vector<FineSum>* sums) {
  std::map<std::string, double> totals;
  for (const FineSum& sum : *sums) totals[sum.*name] += sum.seconds;
  auto names = Mapped<std::string>(totals, [](const auto& total) { return total.first; });
  SortLargestFirst(&names, [&](const std::string& a) { return totals[a]; });
  if (names.size() <= most) return names;
  names.resize(most - 1);
  for (FineSum& sum : *sums) {
    if (absl::c_find(names, sum.*name) == names.end()) sum.*name = kOthers;
  }
  names.emplace_back(kOthers);
  return names;
}

/// Computing comes first, waiting next: these have the budget's colours. All others come after them.
struct Activities {
  std::vector<std::string> order;  ///< as recorded
  Json scale;

  Activities(std::vector<std::string> ranked, ShownNames* names) : order(std::move(ranked)) {
    static const std::vector<std::string_view> kFurther = {"overhead", "opening", "events", "strongest", "limit",
                                                           "baseline", "others",  "data",   "muted",     "watch"};
    const auto rank = [](const std::string& name) {
      return name == "thread-cpu" ? 0 : name == "thread-noncpu" ? 1 : 2;
    };
    SortBy(&order, [&](const std::string& a) { return rank(a); });
    std::vector<std::string> shown;
    std::vector<std::string_view> colours;
    size_t next = 0;
    for (const std::string& name : order) {
      shown.push_back(names->Of(name));
      colours.push_back(rank(name) == 0   ? "cpu"
                        : rank(name) == 1 ? "wait"
                        : name == kOthers ? "idle"
                                          : kFurther[next++ % kFurther.size()]);
    }
    scale = ColourScale(shown, colours);
  }
};

/// What a chart found: `names` are sorted.
std::string Finding(const Measurement& measurement, double total, const std::vector<std::string>& names) {
  std::string finding = fmt::format("{} in all; most in {}", HumanDuration(total), ShownName(names.front()));
  const auto coverage = measurement.quality.fine_metrics_coverage;
  return coverage.has_value() ? finding + fmt::format("; covers {} of task time", HumanPercent(*coverage)) : finding;
}

constexpr size_t kMostDatasets = 40;
constexpr size_t kMostFiles = 30;

struct NamedRate {
  std::string name;
  double value = 0;
  std::optional<double> baseline;
  std::string words;
};

/// Horizontal bars with their figures; the baseline's as grey ticks.
Json Bars(const std::vector<NamedRate>& rates, std::string_view title, std::string_view style) {
  Json values = {{"title", title}, {"style", style}};
  ShownNames names;
  for (const NamedRate& rate : rates) {
    Json row = {{"name", names.Of(rate.name)},
                {"v", rate.value},
                {"words", rate.words},
                {"end", std::max(rate.value, rate.baseline.value_or(0))}};
    if (rate.baseline.has_value()) {
      row["baseline"] = *rate.baseline;
      values["has baseline"] = true;
    }
    values["rates"].push_back(std::move(row));
  }
  return FilledTemplate("rates", values);
}

}  // namespace

Drawing DrawFineByFunction(const ChartInput& input) {
  std::vector<FineSum> sums = ReadFine(*input.measurement, /*with_transfers=*/false);
  if (sums.empty()) return NotDrawn(input, "fine", "no activity in seconds was recorded");
  const std::vector<std::string> functions = RankedNames(&FineSum::function, kMostFunctions, &sums);
  ShownNames function_names, activity_names;
  const Activities activities(RankedNames(&FineSum::activity, kMostActivities, &sums), &activity_names);
  Json rows = Json::array();
  for (const std::string& function : functions) {
    for (size_t i = 0; i < activities.order.size(); ++i) {
      const double seconds = SumOf<double>(sums, [&](const FineSum& sum) {
        return sum.function == function && sum.activity == activities.order[i] ? sum.seconds : 0;
      });
      if (!(seconds > 0)) continue;
      rows.push_back({{"function", function_names.Of(function)},
                      {"activity", activity_names.Of(activities.order[i])},
                      {"order", i},
                      {"v", seconds}});
    }
  }
  return {FilledTemplate("fine_by_function", {{"sums", std::move(rows)}, {"activities", activities.scale}}),
          Finding(*input.measurement, TotalOf(sums), functions)};
}

Drawing DrawFineByActivity(const ChartInput& input) {
  std::vector<FineSum> sums = ReadFine(*input.measurement, /*with_transfers=*/true);
  if (sums.empty()) return NotDrawn(input, "fine", "no activity in seconds was recorded");
  const std::vector<std::string> activities = RankedNames(&FineSum::activity, 2 * kMostActivities, &sums);
  ShownNames names;
  Json rows = Json::array();
  for (const std::string& activity : activities) {
    std::map<std::string_view, double> by_place;
    for (const FineSum& sum : sums) {
      if (sum.activity == activity) by_place[sum.place] += sum.seconds;
    }
    for (const auto& [place, seconds] : by_place) {
      rows.push_back({{"activity", names.Of(activity)}, {"place", place}, {"v", seconds}});
    }
  }
  return {FilledTemplate("fine_by_activity", {{"sums", std::move(rows)}}),
          Finding(*input.measurement, TotalOf(sums), activities)};
}

// Datasets and files beside one another, and what was read of them.

Drawing DrawDatasetRates(const ChartInput& input) {
  std::map<std::string, Number> baseline;
  if (input.baseline != nullptr) {
    for (const BreakdownRow& row : input.baseline->datasets) baseline[row.name] = row.event_rate;
  }
  std::vector<NamedRate> rates;
  for (const BreakdownRow& row : input.measurement->datasets) {
    if (!row.event_rate.has_value()) continue;
    rates.push_back({row.name, *row.event_rate, baseline[row.name], HumanRate(*row.event_rate)});
  }
  if (rates.empty()) return NotDrawn(input, "datasets", kNoEvents);
  SortLargestFirst(&rates, &NamedRate::value);
  if (rates.size() > kMostDatasets) rates.erase(rates.begin(), rates.end() - kMostDatasets);
  return {Bars(rates, "events per second of a busy lane [1/s]", "events"),
          fmt::format("fastest {} in {}, slowest {} in {}", rates.front().words, ShownName(rates.front().name),
                      rates.back().words, ShownName(rates.back().name))};
}

Drawing DrawFileReadRates(const ChartInput& input) {
  std::vector<NamedRate> rates;
  std::vector<std::string_view> paths;
  for (const BreakdownRow& row : input.measurement->files) {
    paths.push_back(row.name.str());
    const Number &bytes = row.bytes_read, &seconds = row.duration_sum;
    if (!bytes.has_value() || !seconds.has_value() || !(*seconds > 0)) continue;
    const double rate = *bytes / *seconds / 1e6;
    rates.push_back({row.name, rate, std::nullopt, fmt::format("{}/s · {}", HumanData(rate * 1e6), HumanData(*bytes))});
  }
  if (rates.empty()) return NotDrawn(input, "files", kNoBytesRead);
  SortBy(&rates, &NamedRate::value);
  const size_t all = rates.size();
  if (all > kMostFiles) rates.resize(kMostFiles);
  for (NamedRate& rate : rates) rate.name = std::string(ShortestUniqueEnd(rate.name, paths));
  std::string finding = fmt::format("slowest: {} a second of chunk time from {}", HumanData(rates.front().value * 1e6),
                                    ShownName(rates.front().name));
  if (all > kMostFiles) finding += fmt::format("; the {} slowest of {} files", kMostFiles, all);
  return {Bars(rates, "data read per second of chunk time [MB/s]", "data"), finding};
}

Drawing DrawBytesAccessed(const ChartInput& input) {
  Json values = {{"values", Json::array()}};
  std::vector<std::string> names;
  std::vector<std::string_view> colours;
  std::string finding;
  // sorted values: the x axis is the share of chunks that have at most this much
  const auto add = [&](std::string_view quantity, const std::string& name, std::string_view colour) {
    const ValueShape* shape = input.detail == nullptr ? nullptr : input.detail->FindDistribution(quantity);
    if (shape == nullptr) return;
    const auto count = static_cast<double>(shape->sorted.size());
    double rank = 0.5;
    for (const double value : shape->sorted) {
      values["values"].push_back({{"rank", Rounded(100 * rank / count)}, {"v", Rounded(value * 1e-6)}, {"name", name}});
      ++rank;
    }
    const std::string mean = HumanData(shape->sum / static_cast<double>(shape->count));
    finding +=
        finding.empty() ? fmt::format("{} {} a chunk on average", name, mean) : fmt::format(", {} {}", name, mean);
    names.push_back(name);
    colours.push_back(colour);
  };
  add("bytes_read", "as stored", "data");
  add("bytes_uncompressed", "uncompressed", "wait");
  if (names.empty()) return NotDrawn(WhyNoChunks(input, kNoBytesRead));
  values["are few"] = values["values"].size() <= 20 * names.size();
  values["names"] = ColourScale(names, colours);
  values["legend"] = names.size() < 2 ? Json() : Json({{"symbolType", "stroke"}, {"symbolStrokeWidth", 3}});
  return {FilledTemplate("bytes_accessed_per_chunk", values), finding};
}

Drawing DrawDataAccess(const ChartInput& input) {
  Json shares = Json::array();
  std::string finding;
  for (const auto& [key, label] : {std::pair<std::string_view, std::string_view>{"branches_read_share", "branches"},
                                   {"bytes_read_share", "bytes"}}) {
    const auto share = input.measurement->Metric(key);
    if (!share.has_value()) continue;
    shares.push_back(
        {{"what", label}, {"share", Rounded(100 * *share)}, {"words", HumanPercent(*share, 1)}, {"all", 100}});
    finding += fmt::format("{}{} of all {}", finding.empty() ? "" : ", ", HumanPercent(*share, 1), label);
  }
  if (shares.empty()) return NotDrawn(input.measurement->WhyNotMeasured("bytes_read_share"));
  return {FilledTemplate("data_access_percentage", {{"shares", std::move(shares)}}),
          finding + " were read, mean over files"};
}

// What the user's code recorded: metrics of its own, and the cut flow; and one metric of two runs.

namespace {

constexpr size_t kMostRows = 40;

void AddRow(const std::string& name, const CustomMetricFigures& figures, Json* values) {
  if (!figures.min.has_value() || !figures.max.has_value()) return;
  values->push_back({{"name", name},
                     {"min", *figures.min},
                     {"max", *figures.max},
                     {"p50", RealOf(figures.p50)},
                     {"p95", RealOf(figures.p95)},
                     {"mean", RealOf(figures.mean)},
                     {"sum", RealOf(figures.sum)},
                     {"count", RealOf(figures.count)}});
}

// How often values of about one size came; null where the records do not say.
Json HistogramPanel(const CustomMetricRow& metric, const std::string& title) {
  if (!metric.histogram.has_value() || metric.histogram->counts.size() < 2) return {};
  const auto& [edges, counts] = *metric.histogram;
  const bool logarithmic = edges[0] > 0 && edges.back() - edges[edges.size() - 2] > 2 * (edges[1] - edges[0]);
  Json values = {{"title", title}, {"scale", logarithmic ? "log" : "linear"}};
  for (size_t i = 0; i < counts.size(); ++i) {
    values["bins"].push_back({{"from", edges[i]}, {"to", edges[i + 1]}, {"count", counts[i]}});
  }
  for (const Number& value : {metric.p50, metric.p95}) {
    if (value.has_value()) values["quantiles"].push_back({{"at", *value}});
  }
  return FilledTemplate("custom_histogram", values);
}

/// Every cut has to keep this share of the first cut's events. A smaller bar would look like a line.
constexpr double kLeastSeenShare = 0.01;

void AddRun(const Measurement& measurement, std::string_view role, std::string_view metric, std::string_view unit,
            Json* rows) {
  const double value = measurement.Metric(metric).value_or(0);
  const Text& name = measurement.run.name;
  Json row = {{"run", fmt::format("{} ({})", ShownName(name.empty() ? "run" : name.str()), role)},
              {"role", role},
              {"v", value},
              {"words", HumanQuantity(metric, value, unit)},
              {"end", value}};
  if (const auto half = HalfIntervalOfMean(measurement, metric)) {
    row["low"] = value - *half;
    row["high"] = row["end"] = value + *half;
    row["words"] = fmt::format("{} ± {}", HumanQuantity(metric, value, unit), HumanQuantity(metric, *half, unit));
  }
  rows->push_back(std::move(row));
}

}  // namespace

Drawing DrawCustomMetric(const CustomMetricRow& metric) {
  Json values = Json::array();
  AddRow("all datasets", metric, &values);
  ShownNames names;
  names.Of("all datasets");
  if (metric.by_dataset.size() > 1) {
    for (const auto& [dataset, figures] : metric.by_dataset) {
      if (values.size() < kMostRows) AddRow(names.Of(dataset), figures, &values);
    }
  }
  if (values.empty()) return NotDrawn("the metric has no finite value");
  const std::string title = metric.unit.empty() ? "value" : fmt::format("value [{}]", ShownName(metric.unit));
  const bool is_one_row = values.size() == 1;
  Json body = FilledTemplate("custom_ranges", {{"ranges", std::move(values)}, {"title", title}});
  std::string how = "; line: least to most, bar: median to p95, dot: mean";
  if (metric.quantiles_of == "chunk means") how += "; median and p95 are of chunk means";
  if (Json histogram = HistogramPanel(metric, title); !histogram.is_null()) {
    how = "; lines: median and p95";
    if (!is_one_row) how += "; below, line: least to most, bar: median to p95, dot: mean";
    body = is_one_row ? std::move(histogram)
                      : Json{{"vconcat", Json::array({std::move(histogram), std::move(body)})}, {"spacing", 14}};
  }
  std::string finding = Counted(metric.count.value_or(0), "value", "values");
  if (metric.sum.has_value()) finding += ", sum " + HumanCount(*metric.sum);
  return {std::move(body), finding + how};
}

Drawing DrawCutFlow(const ChartInput& input) {
  Json values = Json::array();
  ShownNames names;
  double first = 0, last = 0, least = 0;
  const std::vector<CutRow>& cuts = input.measurement->cuts;
  const bool is_list = CutRow::AreList(cuts);
  for (const CutRow& row : cuts) {
    if (!row.events.has_value()) continue;
    const Number& step = row.step_efficiency;
    last = *row.events;
    std::string words = HumanCount(last);
    if (!values.empty() && step.has_value())
      words += fmt::format(" · {} of {}", HumanPercent(*step), is_list ? "the step before" : "its input");
    first = values.empty() ? last : std::max(first, last);
    if (last > 0) least = least > 0 ? std::min(least, last) : last;
    values.push_back({{"cut", names.Of(row.Label())},
                      {"events", last},
                      {"drawn", last},
                      {"step", RealOf(step)},
                      {"total", RealOf(row.total_efficiency)},
                      {"words", words}});
  }
  if (values.empty()) return NotDrawn(WhyNoRows("cuts", *input.measurement));
  const bool is_logarithmic = least > 0 && least < kLeastSeenShare * first;
  Json filled = {{"title", "events after the cut"}, {"event labels", NumberLabels(first)}, {"dx", 5}};
  filled["mark"] = {{"type", "bar"}, {"style", "events"}, {"height", {{"band", 0.7}}}};
  if (is_logarithmic) {
    constexpr double kBelowOne = 0.5;  // such an axis has no 0
    for (Json& value : values) value["drawn"] = std::max(value["drawn"].get<double>(), kBelowOne);
    filled["title"] = "events after the cut (logarithmic)";
    filled["scale"] = {{"type", "log"}, {"domainMin", kBelowOne}, {"nice", false}};
    // a bar's length says nothing there
    filled["mark"] = {{"type", "point"}, {"style", "events"}, {"filled", true}, {"size", 70}};
    filled["dx"] = 9;
  }
  const std::string count = Counted(static_cast<double>(values.size()), "cut", "cuts");
  filled["cuts"] = std::move(values);
  return {FilledTemplate("cut_flow", filled),
          !is_list ? count + ", each of its own input"
                   : fmt::format("{} of {} events are left{}", HumanCount(last), HumanCount(first),
                                 first > 0 ? fmt::format(" ({})", HumanPercent(last / first)) : "")};
}

Drawing DrawComparedMetric(const ChartInput& input, std::string_view metric) {
  if (input.baseline == nullptr) return NotDrawn("there is no second run; give one with --baseline");
  const auto value = input.measurement->Metric(metric), other = input.baseline->Metric(metric);
  if (!value.has_value()) return NotDrawn("this run: " + input.measurement->WhyNotMeasured(metric));
  if (!other.has_value()) return NotDrawn("baseline: " + input.baseline->WhyNotMeasured(metric));
  Json rows = Json::array();
  const MetricDefinition* definition = FindMetric(metric);
  const std::string unit = definition == nullptr ? "" : definition->unit;
  AddRun(*input.baseline, "baseline", metric, unit, &rows);
  AddRun(*input.measurement, "this run", metric, unit, &rows);
  std::string finding = "no change in per cent: the baseline is 0";
  if (*other != 0) finding = HumanChange((*value - *other) / std::fabs(*other)) + " against the baseline";
  const bool has_interval = HalfIntervalOfMean(*input.measurement, metric).has_value();
  finding += has_interval ? "; lines: 95 % interval of the mean" : "; no interval: one value a run";
  return {FilledTemplate("compared_metric",
                         {{"runs", std::move(rows)},
                          {"title", unit.empty() ? std::string(metric) : fmt::format("{} [{}]", metric, unit)},
                          {"value labels", NumberLabels(std::max(std::fabs(*value), std::fabs(*other)))}}),
          finding};
}

}  // namespace crema
