// Where the core-seconds went, the key figures with what is good and what is not, and what chunks wait for together.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart_template.h"
#include "collector/charts/families.h"
#include "collector/insight/budget_rows.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/insight/key_figures.h"
#include "collector/insight/run_evidence.h"
#include "collector/measurement/budget_parts.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Those groups that the budget has, each in its colour.
Json GroupColours(const BudgetRows& budget) {
  std::vector<std::string> names;
  std::vector<std::string_view> colours;
  for (const BudgetGroupKind& known : kBudgetGroups) {
    if (std::none_of(budget.groups.begin(), budget.groups.end(),
                     [&](const BudgetGroup& group) { return group.group == known.group; })) {
      continue;
    }
    names.emplace_back(known.group);
    colours.push_back(known.colour);
  }
  return ColourScale(names, colours);
}

/// As the budget names it elsewhere.
std::string SpokenPart(std::string part) {
  if (const BudgetPartKind* kind = FindBudgetPart(part)) return std::string(kind->name);
  std::replace(part.begin(), part.end(), '_', ' ');
  return part;
}

}  // namespace

Drawing DrawActivityBreakdown(const ChartInput& input) {
  const std::optional<BudgetRows> budget = ReadBudget(*input.measurement);
  if (!budget.has_value())
    return NotDrawn("no core-seconds were measured: " + input.measurement->WhyNotMeasured("core_seconds"));
  const std::optional<BudgetRows> other = input.baseline == nullptr ? std::nullopt : ReadBudget(*input.baseline);
  Json values = {{"groups", GroupColours(*budget)}};
  for (const BudgetPart& part : budget->parts) {
    Json row = {{"part", SpokenPart(part.part)},
                {"group", part.group},
                {"seconds", part.core_seconds},
                {"share", Rounded(100 * part.share)},
                {"words", fmt::format("{} · {}", HumanPercent(part.share, 1), HumanDuration(part.core_seconds))}};
    const double baseline = other.has_value() ? other->Share(part.part) : 0;
    if (other.has_value()) row["baseline"] = Rounded(100 * baseline);
    row["end"] = Rounded(100 * std::max(part.share, baseline));
    values["parts"].push_back(std::move(row));
  }
  if (other.has_value()) values["has baseline"] = true;
  return {FilledTemplate("activity_breakdown", values),
          fmt::format("{} of cores; the parts add up to 100 %{}", HumanDuration(budget->core_seconds),
                      other.has_value() ? "; grey ticks: baseline" : ""),
          ""};
}

namespace {

/// A figure in per cent with the parts of its scale.
struct Bullet {
  std::string label;
  std::optional<double> share;
  std::optional<KeyFigureBand> judged_as;
};

std::optional<double> Ratio(std::optional<double> part, std::optional<double> whole) {
  if (!part.has_value() || !whole.has_value() || !(*whole > 0)) return std::nullopt;
  return *part / *whole;
}

std::vector<Bullet> BulletsOf(const Measurement& run) {
  std::optional<double> failed = run.Metric("num_failed_attempts");
  if (failed.has_value()) *failed += run.Metric("num_lost_attempts").value_or(0);
  return {
      {"CPU efficiency", run.Metric("cpu_efficiency"), BandOf(KeyFigure::kCpuEfficiency)},
      {"cores busy", run.Metric("core_efficiency"), std::nullopt},
      {"balance before the tail", run.Metric("balance"), BandOf(KeyFigure::kBalance)},
      {"blocked, of chunk time", Ratio(run.Metric("io_overhead_pct"), 100), BandOf(KeyFigure::kWaiting)},
      {"fullest memory, of its limit", run.Metric("memory_utilization_max"), MemoryBand(run.run.engine)},
      {"failed or lost, of attempts", Ratio(failed, run.Metric("num_attempts")), BandOf(KeyFigure::kFailedAttempts)}};
}

std::string_view SignOf(Mark mark) { return mark == Mark::kGood ? "✓" : mark == Mark::kWatch ? "▲" : "✕"; }

void AddZones(const Bullet& bullet, double top, Json* zones) {
  if (!bullet.judged_as.has_value()) return;
  const KeyFigureBand& band = *bullet.judged_as;
  const std::array<double, 4> edges = {0, 100 * std::min(band.good, band.bad), 100 * std::max(band.good, band.bad),
                                       top};
  std::array<std::string_view, 3> names = {"good", "watch", "bad"};
  if (band.more_is_better) std::swap(names.front(), names.back());
  for (size_t i = 0; i < names.size(); ++i) {
    if (edges[i + 1] <= edges[i]) continue;
    zones->push_back({{"figure", bullet.label}, {"from", edges[i]}, {"to", edges[i + 1]}, {"zone", names[i]}});
  }
}

}  // namespace

Drawing DrawEfficiencySummary(const ChartInput& input) {
  const std::vector<Bullet> bullets = BulletsOf(*input.measurement);
  std::vector<Bullet> others = input.baseline == nullptr ? std::vector<Bullet>() : BulletsOf(*input.baseline);
  others.resize(bullets.size());
  double top = 100;
  for (size_t i = 0; i < bullets.size(); ++i) {
    if (!bullets[i].share.has_value()) continue;
    top = std::max({top, 100 * *bullets[i].share, 100 * others[i].share.value_or(0)});
  }
  Json figures = Json::array(), bars = Json::array(), zones = Json::array(), baselines = Json::array();
  std::string finding;
  for (size_t i = 0; i < bullets.size(); ++i) {
    const auto& [label, share, judged_as] = bullets[i];
    if (!share.has_value()) continue;
    if (figures.empty()) finding = fmt::format("{} {}", label, HumanPercent(*share));
    figures.push_back(label);
    AddZones(bullets[i], top, &zones);
    std::string words = HumanPercent(*share, 1);
    std::string_view sign;
    if (judged_as.has_value()) {
      const Mark mark = MarkOf(*judged_as, *share);
      sign = SignOf(mark);
      words += fmt::format(" · {} ({})", ToString(mark), GoodHint(*judged_as));
    }
    bars.push_back(
        {{"figure", label}, {"share", Rounded(100 * *share)}, {"words", words}, {"sign", sign}, {"end", top}});
    if (others[i].share.has_value())
      baselines.push_back({{"figure", label}, {"share", Rounded(100 * *others[i].share)}});
  }
  if (bars.empty())
    return NotDrawn("no key figure was measured: " + input.measurement->WhyNotMeasured("cpu_efficiency"));
  if (input.baseline != nullptr) finding += "; grey ticks: baseline";
  return {FilledTemplate("efficiency_summary", {{"figures", std::move(figures)},
                                                {"top", top},
                                                {"zones", std::move(zones)},
                                                {"bars", std::move(bars)},
                                                {"baselines", std::move(baselines)}}),
          finding, ""};
}

Drawing DrawContention(const ChartInput& input) {
  constexpr double kMilliseconds = 1e3;
  if (input.measurement->contention.empty()) return NotDrawn("no chunk ended");
  const ContentionRow& found = input.measurement->contention.front();
  if (found.points.empty() || !found.slope.has_value()) {
    return NotDrawn(found.reason.empty() ? "not measured" : found.reason.str());
  }
  const auto row = [](double lanes, double seconds) {
    return Json{{"lanes", Rounded(lanes)}, {"blocked", Rounded(kMilliseconds * seconds)}};
  };
  Json points = Json::array(), line = Json::array();
  for (const LanePoint& point : found.points) points.push_back(row(point.lanes, point.seconds));
  // the line goes through the middle of the points
  const LanePoint& middle = found.points[found.points.size() / 2];
  for (const LanePoint& end : {found.points.front(), found.points.back()}) {
    line.push_back(row(end.lanes, middle.seconds + *found.slope * (end.lanes - middle.lanes)));
  }
  const double low = found.slope_low.value_or(0), high = found.slope_high.value_or(0);
  std::string finding;
  if (low > 0) {
    finding = fmt::format("yes: something that all chunks share serves about {} events a second ({} to {})",
                          HumanCount(1 / *found.slope), HumanCount(1 / high), HumanCount(1 / low));
  } else if (high <= 0) {
    finding = "no";
  } else {
    finding =
        fmt::format("no more than chance explains; at most {} an event for each further chunk", HumanDuration(high));
  }
  return {FilledTemplate("contention", {{"line", std::move(line)}, {"points", std::move(points)}}), finding, ""};
}

}  // namespace crema
