// How fast the run went: events, data and chunks as time went on. From the attempts, spread evenly over their time.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/time_lines.h"
#include "collector/charts/worker_series.h"
#include "collector/detail/run_detail.h"
#include "collector/insight/budget_rows.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastNamed = 0.01;  // of the core-seconds
constexpr size_t kMostBins = 160;     // of 4 pixels: finer ones show the chunks' grain, not the rate

/// Neighbouring bins taken together, so that at most `kMostBins` are left.
struct CoarseBins {
  size_t together = 1;
  double bin_seconds = 0;

  explicit CoarseBins(const TimeBins& bins) {
    together = std::max<size_t>(1, (bins.busy_seconds.size() + kMostBins - 1) / kMostBins);
    bin_seconds = bins.bin_seconds * static_cast<double>(together);
  }

  std::vector<double> Sums(const std::vector<double>& values) const {
    std::vector<double> sums((values.size() + together - 1) / together, 0);
    for (size_t i = 0; i < values.size(); ++i) sums[i / together] += values[i];
    return sums;
  }
};

/// Quantity per second as steps; 0 after its last bin.
Timeline RateSteps(const TimeBins& bins, const std::vector<double>& values) {
  const CoarseBins coarse(bins);
  Timeline steps;
  double seconds = bins.start_seconds;
  for (const double sum : coarse.Sums(values)) {
    steps.push_back({std::max(0.0, seconds), sum / coarse.bin_seconds});
    seconds += coarse.bin_seconds;
  }
  steps.push_back({seconds, 0});
  return steps;
}

double SumOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

std::string WhyNoAttempts(const ChartInput& input) {
  if (input.detail == nullptr) return "the single chunks are not known: this is a measurement without its records";
  return input.detail->why_no_attempts.empty() ? "no chunk was recorded" : input.detail->why_no_attempts;
}

bool HasBins(const RunDetail* detail) { return detail != nullptr && !detail->over_time.busy_seconds.empty(); }

struct Rate {
  std::string title;  ///< of the axis, with its unit
  std::string_view style;
  double factor;  ///< from the quantity per second to the axis's unit
  std::vector<double> TimeBins::*quantity;
};

const Rate kEventRate = {"events per second [1/s]", "events", 1, &TimeBins::events};

/// In the unit in which the run's mean is a number to be read.
Rate DataRateOf(const RunDetail& detail) {
  const double mean = 8 * SumOf(detail.over_time.bytes_read) / detail.seconds;
  if (mean >= 1e8) return {"data read [Gbit/s]", "data", 8e-9, &TimeBins::bytes_read};
  if (mean >= 1e5) return {"data read [Mbit/s]", "data", 8e-6, &TimeBins::bytes_read};
  return {"data read [kbit/s]", "data", 8e-3, &TimeBins::bytes_read};
}

bool HasRate(const RunDetail* detail, const Rate& rate) {
  return HasBins(detail) && SumOf(detail->over_time.*rate.quantity) > 0;
}

Json RatePanel(const ChartInput& input, const Rate& rate) {
  constexpr double kHeight = 170;
  const RunDetail& detail = *input.detail;
  TimePanel panel(detail.seconds, std::string(rate.title));
  if (HasRate(input.baseline_detail, rate)) {
    const TimeBins& bins = input.baseline_detail->over_time;
    panel.AddLine(RateSteps(bins, bins.*rate.quantity), "baseline", rate.factor);
    panel.AddMeaning("baseline", "baseline");
  }
  const std::vector<double>& values = detail.over_time.*rate.quantity;
  const Timeline steps = RateSteps(detail.over_time, values);
  panel.AddArea(steps, rate.style, rate.factor);
  panel.AddLine(steps, rate.style, rate.factor);
  if (detail.seconds > 0) {
    const double mean = SumOf(values) / detail.seconds * rate.factor;
    panel.AddLevel(mean, "mean", fmt::format("mean {} (dashed)", HumanCount(mean)));
  }
  return panel.Take(kHeight);
}

/// What the budget knows of the time in which no chunk was open, that nobody takes it for idle.
std::string UsedWithoutChunk(const Measurement& measurement) {
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  if (!budget.has_value()) return "";
  const double used = budget->Share("outside_chunk") + budget->Share("process_cpu") + budget->Share("framework");
  if (used < kLeastNamed) return "";
  return fmt::format("; no chunk was open in {} more, used for opening, the framework and CPU outside chunks",
                     HumanPercent(used));
}

}  // namespace

Drawing DrawThroughput(const ChartInput& input) {
  if (!HasBins(input.detail)) return NotDrawn(WhyNoAttempts(input));
  Json panels = Json::array();
  std::string finding;
  if (HasRate(input.detail, kEventRate)) {
    panels.push_back(RatePanel(input, kEventRate));
    finding = HumanCount(SumOf(input.detail->over_time.events)) + " events";
  }
  if (const Rate data = DataRateOf(*input.detail); HasRate(input.detail, data)) {
    panels.push_back(RatePanel(input, data));
    finding += (finding.empty() ? "" : ", ") + HumanData(SumOf(input.detail->over_time.bytes_read)) + " read";
  }
  if (panels.empty()) return NotDrawn("no chunk told its events or how many bytes it read");
  finding += " in " + HumanDuration(input.detail->seconds);
  return {{{"vconcat", std::move(panels)}, {"spacing", 18}, {"resolve", {{"scale", {{"color", "independent"}}}}}},
          finding,
          ""};
}

Drawing DrawProgressTail(const ChartInput& input) {
  if (!HasBins(input.detail)) return NotDrawn(WhyNoAttempts(input));
  const TimeBins& bins = input.detail->over_time;
  const double all = SumOf(bins.finished_chunks);
  if (!(all > 0)) return NotDrawn("no chunk came to a result");
  Timeline done;
  double sum = 0;
  for (size_t i = 0; i < bins.finished_chunks.size(); ++i) {
    done.push_back({bins.start_seconds + static_cast<double>(i + 1) * bins.bin_seconds, 0});
    sum += bins.finished_chunks[i];
    done.back().value = sum / all;
  }
  done.insert(done.begin(), {0, 0});
  const double seconds = input.detail->seconds;
  TimePanel panel(seconds, "chunks done [%]");
  panel.SetTop(100);
  const std::optional<double> tail = input.detail->tail_start_seconds;
  std::string finding = ExactCount(all) + " chunks done";
  if (tail.has_value() && *tail < seconds) {
    panel.AddArea({{0, 0}, {*tail, 1}}, "wait", 100);
    panel.AddMeaning("wait", "tail: cores run out of work");
    finding += fmt::format("; the tail began {} before the end ({} of the run)", HumanDuration(seconds - *tail),
                           HumanPercent((seconds - *tail) / seconds));
  }
  panel.AddLine(done, "cpu", 100);
  panel.AddMeaning("cpu", "chunks done");
  return {panel.Take(), finding, ""};
}

Drawing DrawActivityTimeline(const ChartInput& input) {
  if (!HasBins(input.detail)) return NotDrawn(WhyNoAttempts(input));
  const TimeBins& bins = input.detail->over_time;
  const CoarseBins coarse(bins);
  const std::vector<double> busy = coarse.Sums(bins.busy_seconds), cpu = coarse.Sums(bins.cpu_seconds);
  const std::vector<double> cpu_wait = coarse.Sums(bins.cpu_wait_seconds), blocked = coarse.Sums(bins.blocked_seconds);
  const std::vector<double> lanes = coarse.Sums(bins.lanes_available);
  std::vector<std::string> parts = {"CPU in your code", "Waiting in your code", "No chunk open", "Not measured"};
  std::vector<std::string_view> colours = {"cpu", "wait", "idle", "unknown"};
  Json values = Json::array();
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
      values.push_back({{"t", Rounded(std::max(0.0, from))},
                        {"part", parts[part]},
                        {"order", part},
                        {"cores", Rounded(seconds[part] / coarse.bin_seconds)}});
    }
  }
  if (not_measured < 0.001 * available) {  // what rounding leaves
    parts.pop_back();
    colours.pop_back();
  }
  Json y = Quantity("cores", "cores");
  y["stack"] = "zero";
  Json body = {{"width", 640},
               {"height", 260},
               {"data", InlineData(std::move(values))},
               {"mark", {{"type", "area"}, {"interpolate", "step-after"}}},
               {"encoding",
                {{"x", TimeAxis("t", input.detail->seconds)},
                 {"y", std::move(y)},
                 {"order", {{"field", "order"}, {"type", "quantitative"}}},
                 {"color", NamedColours("part", parts, colours)}}}};
  const std::string whole = available > 0
                                ? fmt::format("CPU {}, waiting {} of the cores' time",
                                              HumanPercent(computed / available), HumanPercent(waited / available))
                                : HumanDuration(computed) + " of CPU";
  return {std::move(body), whole + UsedWithoutChunk(*input.measurement), ""};
}

}  // namespace crema
