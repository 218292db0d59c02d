#include "collector/charts/time_charts.h"

#include "collector/charts/families.h"
#include "collector/diagnosis/evidence.h"
#include "collector/format/human_numbers.h"
#include "collector/plot_data/attempt_list.h"

namespace crema {
namespace {

/// Rows of a step line: each value holds until the next one, the last one until the end.
Json StepRows(const Timeline& steps, double wall_seconds, double factor) {
  Json rows = Json::array();
  for (const TimelinePoint& step : Reduced(steps, wall_seconds, kMostSteps)) {
    if (step.seconds > wall_seconds) break;
    rows.push_back({{"t", Rounded(step.seconds)}, {"v", Rounded(step.value * factor)}});
  }
  if (!rows.empty()) rows.push_back({{"t", Rounded(wall_seconds)}, {"v", rows.back()["v"]}});
  return rows;
}

/// The steps of one worker, from the run's start on.
Timeline StepsOf(const SampledSteps& reader, const std::string& worker, const Timeline& points) {
  Timeline steps = reader.Of(worker, points);
  for (TimelinePoint& step : steps) step.seconds = std::max(0.0, step.seconds);
  return steps;
}

/// Adds a value that held from `from` to `to`.
void AddTo(std::vector<SeriesBin>* bins, double bin_seconds, double from, double to, double value) {
  const double last = static_cast<double>(bins->size()) * bin_seconds;
  to = std::min(to, last);
  if (!(to > from)) return;
  const size_t end = std::min(bins->size(), static_cast<size_t>(std::ceil(to / bin_seconds)));
  for (auto bin = static_cast<size_t>(from / bin_seconds); bin < end; ++bin) {
    const double begin = std::max(from, static_cast<double>(bin) * bin_seconds);
    const double stop = std::min(to, static_cast<double>(bin + 1) * bin_seconds);
    if (stop <= begin) continue;
    (*bins)[bin].integral += value * (stop - begin);
    (*bins)[bin].covered_seconds += stop - begin;
  }
}

void AddSteps(const Timeline& steps, double stop, double bin_seconds, std::vector<SeriesBin>* bins) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const double until = i + 1 < steps.size() ? std::min(stop, steps[i + 1].seconds) : stop;
    AddTo(bins, bin_seconds, steps[i].seconds, until, steps[i].value);
  }
}

}  // namespace

TimePanel::TimePanel(double wall_seconds, std::string_view y_title, double factor)
    : wall_seconds_(wall_seconds),
      factor_(factor),
      values_({{"title", y_title}, {"time", TimeAxis(wall_seconds)}, {"areas and lines", Json::array()}}) {}

void TimePanel::Add(const Timeline& steps, std::string_view type, std::string_view style, const std::string& words) {
  Json mark = {{"type", type}, {"style", style}, {"steps", StepRows(steps, wall_seconds_, factor_)}};
  if (type == "area") mark["opacity"] = 0.22;
  for (const Json& row : mark["steps"]) largest_ = std::max(largest_, row["v"].get<double>());
  values_["areas and lines"].push_back(std::move(mark));
  if (!words.empty()) AddMeaning(style, words);
}

void TimePanel::AddMeaning(std::string_view style, const std::string& words) {
  meaning_styles_.push_back(style == "mean" ? "ink" : style);
  meanings_.push_back(words);
}

void TimePanel::AddFilledLine(const Timeline& steps, std::string_view style, const std::string& words) {
  AddArea(steps, style);
  AddLine(steps, style, words);
}

void TimePanel::AddMean(double value) {
  values_["levels"].push_back({{"v", Rounded(value)}});
  AddMeaning("ink", fmt::format("mean {} (dashed)", HumanCount(value)));
}

Json TimePanel::Take(double height) {
  values_["height"] = height;
  if (largest_ >= kExactBelow) values_["axis"] = NumberLabels(largest_);
  if (!meanings_.empty()) {
    values_["first meaning"] = meanings_.front();
    values_["meanings"] = ColourScale(meanings_, meaning_styles_);
  }
  return FilledTemplate("time_panel", values_);
}

std::optional<double> SeriesOfWorkers::SumAt(size_t bin) const {
  double sum = 0, covered = 0;
  for (const WorkerSeries& series : workers) {
    sum += series.bins[bin].integral;
    covered += series.bins[bin].covered_seconds;
  }
  return covered > 0 ? std::optional<double>(sum / bin_seconds) : std::nullopt;
}

const WorkerSeries* SeriesOfWorkers::Find(std::string_view worker) const {
  return FindBy(workers, &WorkerSeries::worker, worker);
}

SeriesOfWorkers ReadWorkerSeries(const Measurement& measurement, std::string_view key, size_t bins) {
  SeriesOfWorkers read;
  const auto* timelines = measurement.timelines.Find(key);
  const double wall_seconds = measurement.Metric("wall_time").value_or(0);
  if (timelines == nullptr || !(wall_seconds > 0) || bins == 0) return read;
  read.bin_seconds = wall_seconds / static_cast<double>(bins);
  const std::map<std::string, double> stops = WorkerStops(measurement);
  const SampledSteps reader(measurement, key);
  for (const auto& [worker, points] : *timelines) {
    const Timeline steps = StepsOf(reader, worker, points);
    if (steps.empty()) continue;
    WorkerSeries series{worker, std::vector<SeriesBin>(bins), steps.front().value};
    for (const TimelinePoint& step : steps) series.peak = std::max(series.peak, step.value);
    const double stop = std::min(ValueOr(stops, worker, wall_seconds), wall_seconds);
    AddSteps(steps, stop, read.bin_seconds, &series.bins);
    read.workers.push_back(std::move(series));
  }
  return read;
}

Timeline SumOfSteps(const Measurement& measurement, std::string_view key) {
  const auto* timelines = measurement.timelines.Find(key);
  if (timelines == nullptr) return {};
  const double wall_seconds = measurement.Metric("wall_time").value_or(0);
  const std::map<std::string, double> stops = WorkerStops(measurement);
  const SampledSteps reader(measurement, key);
  std::map<double, double> changes;
  for (const auto& [worker, points] : *timelines) {
    double value = 0;
    for (const TimelinePoint& step : StepsOf(reader, worker, points)) {
      changes[step.seconds] += step.value - value;
      value = step.value;
    }
    const double stop = std::min(ValueOr(stops, worker, wall_seconds), wall_seconds);
    if (value != 0 && stop < wall_seconds) changes[stop] -= value;
  }
  Timeline steps;
  double sum = 0;
  for (const auto& [seconds, change] : changes) {
    sum += change;
    // what is left of a sum that came back to 0
    if (std::fabs(sum) < 1e-9) sum = 0;
    steps.push_back({seconds, sum});
  }
  return steps;
}

double LargestOf(const Timeline& steps) { return LargestBy(steps, &TimelinePoint::value).second; }

Timeline Reduced(Timeline steps, double wall_seconds, size_t most) {
  if (steps.size() <= most || !(wall_seconds > 0)) return steps;
  std::vector<SeriesBin> bins(most);
  const double bin_seconds = wall_seconds / static_cast<double>(most);
  AddSteps(steps, wall_seconds, bin_seconds, &bins);
  Timeline reduced;
  for (size_t i = 0; i < most; ++i) {
    if (const auto mean = bins[i].mean()) reduced.push_back({static_cast<double>(i) * bin_seconds, *mean});
  }
  return reduced;
}

WorkerNames NamesOfWorkers(const Measurement& measurement) {
  std::set<std::string> names;
  for (const WorkerRow& worker : measurement.workers) names.insert(worker.name);
  for (const char* series : {"worker_memory", "worker_cpu", "worker_active_tasks"}) {
    const auto* workers = measurement.timelines.Find(series);
    if (workers == nullptr) continue;
    for (const auto& [name, points] : *workers) names.insert(name);
  }
  return WorkerNames(names);
}

// As time went on: chunks and tasks that were open, events, data and chunks done. Rates are from the attempts, spread
// evenly over their time.

namespace {

double WallSeconds(const Measurement& measurement) { return measurement.Metric("wall_time").value_or(0); }

/// Integral over the run, by its seconds.
double MeanOf(const Timeline& steps, double wall_seconds) {
  double integral = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double until = i + 1 < steps.size() ? std::min(steps[i + 1].seconds, wall_seconds) : wall_seconds;
    integral += steps[i].value * std::max(0.0, until - steps[i].seconds);
  }
  return integral / wall_seconds;
}

/// A panel with the baseline's sum over workers, if there is a baseline.
TimePanel PanelWithBaseline(const ChartInput& input, std::string_view title, std::string_view key) {
  TimePanel panel(WallSeconds(*input.measurement), title);
  if (input.baseline == nullptr) return panel;
  Timeline steps = SumOfSteps(*input.baseline, key);
  if (steps.empty()) return panel;
  steps.push_back({WallSeconds(*input.baseline), 0});
  panel.AddLine(steps, "baseline", "baseline");
  return panel;
}

constexpr double kLeastNamed = 0.01;  // of the core-seconds
constexpr size_t kMostBins = 160;     // of 4 pixels: finer ones show the chunks' grain, not the rate

/// Neighbouring bins taken together, so that at most `kMostBins` are left.
struct CoarseBins {
  size_t together;
  double bin_seconds;

  explicit CoarseBins(const TimeBins& bins)
      : together(std::max<size_t>(1, (bins.busy_seconds.size() + kMostBins - 1) / kMostBins)),
        bin_seconds(bins.bin_seconds * static_cast<double>(together)) {}

  std::vector<double> Sums(const std::vector<double>& values) const {
    std::vector<double> sums((values.size() + together - 1) / together, 0);
    for (size_t i = 0; i < values.size(); ++i) sums[i / together] += values[i];
    return sums;
  }
};

double TotalOfBins(const std::vector<double>& values) { return absl::c_accumulate(values, 0.0); }

struct Rate {
  std::string_view title;  ///< of the axis, with its unit
  std::string_view style;
  double factor;  ///< from the quantity per second to the axis's unit
  std::vector<double> TimeBins::*quantity;

  /// Per second, as steps; 0 after the last bin.
  Timeline StepsOf(const TimeBins& bins) const {
    const CoarseBins coarse(bins);
    Timeline steps;
    double seconds = bins.start_seconds;
    for (const double sum : coarse.Sums(bins.*quantity)) {
      steps.push_back({std::max(0.0, seconds), sum / coarse.bin_seconds});
      seconds += coarse.bin_seconds;
    }
    steps.push_back({seconds, 0});
    return steps;
  }
};

const Rate kEventRate = {"events per second [1/s]", "events", 1, &TimeBins::events};

/// In the unit in which the run's mean is a number to be read.
Rate DataRateOf(const RunDetail& detail) {
  const double mean = 8 * TotalOfBins(detail.over_time.bytes_read) / detail.seconds;
  if (mean >= 1e8) return {"data read [Gbit/s]", "data", 8e-9, &TimeBins::bytes_read};
  if (mean >= 1e5) return {"data read [Mbit/s]", "data", 8e-6, &TimeBins::bytes_read};
  return {"data read [kbit/s]", "data", 8e-3, &TimeBins::bytes_read};
}

bool HasBins(const RunDetail* detail) { return detail != nullptr && !detail->over_time.busy_seconds.empty(); }

/// Null where the quantity is 0.
Json RatePanel(const ChartInput& input, const Rate& rate) {
  constexpr double kHeight = 170;
  const RunDetail& detail = *input.detail;
  const double sum = TotalOfBins(detail.over_time.*rate.quantity);
  if (!(sum > 0)) return {};
  TimePanel panel(detail.seconds, rate.title, rate.factor);
  if (HasBins(input.baseline_detail) && TotalOfBins(input.baseline_detail->over_time.*rate.quantity) > 0) {
    panel.AddLine(rate.StepsOf(input.baseline_detail->over_time), "baseline", "baseline");
  }
  panel.AddFilledLine(rate.StepsOf(detail.over_time), rate.style);
  if (detail.seconds > 0) panel.AddMean(sum / detail.seconds * rate.factor);
  return panel.Take(kHeight);
}

/// What the budget knows of the time in which no chunk was open, that nobody takes it for idle.
std::string UsedWithoutChunk(const Measurement& measurement) {
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  if (!budget.has_value()) return "";
  const double used = budget->Share("outside_chunk") + budget->Share("process_cpu") +
                      budget->Share("process_cpu_wait") + budget->Share("framework");
  if (used < kLeastNamed) return "";
  return fmt::format("; no chunk was open in {} more, which tasks around chunks, the framework and processes took",
                     HumanPercent(used));
}

}  // namespace

Drawing DrawConcurrency(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const Timeline open = SumOfSteps(measurement, "worker_open_chunks");
  const double wall_seconds = WallSeconds(measurement);
  if (open.empty() || !(wall_seconds > 0))
    return NotDrawn("it is not known when which chunk was open: " + WhyNoRows("contention", measurement));
  TimePanel panel = PanelWithBaseline(input, "chunks open at once", "worker_open_chunks");
  panel.AddFilledLine(open, "cpu", "chunks open");
  std::string finding = fmt::format("{} chunks open on average", HumanCount(MeanOf(open, wall_seconds)));
  if (const Timeline cores = SumOfSteps(measurement, "worker_cores"); !cores.empty()) {
    panel.AddLine(cores, "mean", "cores");
    finding += fmt::format(", of {} cores", HumanCount(MeanOf(cores, wall_seconds)));
  }
  return {panel.Take(), finding};
}

Drawing DrawTotalActiveTasks(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const Timeline active = SumOfSteps(measurement, "worker_active_tasks");
  const double wall_seconds = WallSeconds(measurement);
  if (active.empty() || !(wall_seconds > 0))
    return NotDrawn("no scheduler reported how many tasks each worker had; measure the run through its engine");
  TimePanel panel = PanelWithBaseline(input, "tasks on workers", "worker_active_tasks");
  panel.AddFilledLine(active, "wait", "queued or executing");
  if (const Timeline executing = SumOfSteps(measurement, "worker_executing"); !executing.empty()) {
    panel.AddFilledLine(executing, "cpu", "executing");
  }
  return {panel.Take(), fmt::format("{} at most on workers, {} on average", Counted(LargestOf(active), "task", "tasks"),
                                    HumanCount(MeanOf(active, wall_seconds)))};
}

Drawing DrawThroughput(const ChartInput& input) {
  if (!HasBins(input.detail)) return NotDrawn(WhyNoChunks(input));
  Json panels = Json::array();
  std::string finding;
  if (Json events = RatePanel(input, kEventRate); !events.is_null()) {
    panels.push_back(std::move(events));
    finding = HumanCount(TotalOfBins(input.detail->over_time.events)) + " events";
  }
  if (Json data = RatePanel(input, DataRateOf(*input.detail)); !data.is_null()) {
    panels.push_back(std::move(data));
    finding += (finding.empty() ? "" : ", ") + HumanData(TotalOfBins(input.detail->over_time.bytes_read)) + " read";
  }
  if (panels.empty()) return NotDrawn("no chunk recorded its events (SetEvents) or bytes read (AddBytesRead)");
  finding += " in " + HumanDuration(input.detail->seconds);
  return {FilledTemplate("panels", {{"panels", std::move(panels)}, {"spacing", 18}}), finding};
}

Drawing DrawProgressTail(const ChartInput& input) {
  if (!HasBins(input.detail)) return NotDrawn(WhyNoChunks(input));
  const TimeBins& bins = input.detail->over_time;
  const double all = TotalOfBins(bins.finished_chunks), seconds = input.detail->seconds;
  if (!(all > 0)) return NotDrawn("no chunk came to a result");
  Timeline done = {{0, 0}};
  double sum = 0;
  for (size_t i = 0; i < bins.finished_chunks.size(); ++i) {
    sum += bins.finished_chunks[i];
    done.push_back({bins.start_seconds + static_cast<double>(i + 1) * bins.bin_seconds, sum / all});
  }
  TimePanel panel(seconds, "chunks done [%]", 100);
  panel.SetTop(100);
  const std::optional<double> tail = input.detail->tail_start_seconds;
  std::string finding = ExactCount(all) + " chunks done";
  if (tail.has_value() && *tail < seconds) {
    panel.AddArea({{0, 0}, {*tail, 1}}, "wait", "tail: cores run out of work");
    finding += fmt::format("; the tail began {} before the end ({} of the run)", HumanDuration(seconds - *tail),
                           HumanPercent((seconds - *tail) / seconds));
  }
  panel.AddLine(done, "cpu", "chunks done");
  return {panel.Take(), finding};
}

Drawing DrawActivityTimeline(const ChartInput& input) {
  if (!HasBins(input.detail)) return NotDrawn(WhyNoChunks(input));
  const TimeBins& bins = input.detail->over_time;
  const CoarseBins coarse(bins);
  const std::vector<double> busy = coarse.Sums(bins.busy_seconds), cpu = coarse.Sums(bins.cpu_seconds);
  const std::vector<double> cpu_wait = coarse.Sums(bins.cpu_wait_seconds), blocked = coarse.Sums(bins.blocked_seconds);
  const std::vector<double> lanes = coarse.Sums(bins.lanes_available);
  std::vector<std::string> parts = {"CPU in your code", "Waiting in your code", "No chunk open", "Not measured"};
  std::vector<std::string_view> colours = {"cpu", "wait", "idle", "unknown"};
  Json rows = Json::array();
  double computed = 0, waited = 0, available = 0, not_measured = 0;
  for (size_t i = 0; i < busy.size(); ++i) {
    const double waiting = cpu_wait[i] + blocked[i];
    const double rest = std::max(0.0, busy[i] - cpu[i] - waiting);
    // lanes are means over bins; the last bin may hold fewer of them
    const size_t bins_here = std::min(coarse.together, bins.busy_seconds.size() - i * coarse.together);
    const double there = i < lanes.size() ? lanes[i] / static_cast<double>(bins_here) * coarse.bin_seconds : 0;
    const double seconds[] = {cpu[i], waiting, std::max(0.0, there - std::max(busy[i], cpu[i] + waiting)), rest};
    not_measured += rest;
    computed += cpu[i];
    waited += waiting;
    available += std::max(there, busy[i]);
    const double from = bins.start_seconds + static_cast<double>(i) * coarse.bin_seconds;
    for (size_t part = 0; part < parts.size(); ++part) {
      rows.push_back({{"t", Rounded(std::max(0.0, from))},
                      {"part", parts[part]},
                      {"order", part},
                      {"cores", Rounded(seconds[part] / coarse.bin_seconds)}});
    }
  }
  if (not_measured < 0.001 * available) {  // what rounding leaves
    parts.pop_back();
    colours.pop_back();
  }
  const std::string whole = available > 0
                                ? fmt::format("CPU {}, waiting {} of the cores' time",
                                              HumanPercent(computed / available), HumanPercent(waited / available))
                                : HumanDuration(computed) + " of CPU";
  return {FilledTemplate("activity_timeline", {{"parts", std::move(rows)},
                                               {"field", "cores"},
                                               {"title", "cores"},
                                               {"time", TimeAxis(input.detail->seconds)},
                                               {"kinds", ColourScale(parts, colours)}}),
          whole + UsedWithoutChunk(*input.measurement)};
}

}  // namespace crema
