// Where the core-seconds went, and the key figures with what is good and what is not.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
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

/// The colours of those groups that are in `groups`.
Json BudgetColours(std::string_view field, const std::vector<std::string>& groups) {
  std::vector<std::string> names;
  std::vector<std::string_view> colours;
  for (const BudgetGroupKind& known : kBudgetGroups) {
    if (std::find(groups.begin(), groups.end(), known.group) == groups.end()) continue;
    names.emplace_back(known.group);
    colours.push_back(known.colour);
  }
  return NamedColours(field, names, colours);
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
  Json values = Json::array();
  for (const BudgetPart& part : budget->parts) {
    Json value = {{"part", SpokenPart(part.part)},
                  {"group", part.group},
                  {"seconds", part.core_seconds},
                  {"share", Rounded(100 * part.share)},
                  {"words", fmt::format("{} · {}", HumanPercent(part.share, 1), HumanDuration(part.core_seconds))}};
    const double baseline = other.has_value() ? other->Share(part.part) : 0;
    if (other.has_value()) value["baseline"] = Rounded(100 * baseline);
    value["end"] = Rounded(100 * std::max(part.share, baseline));
    values.push_back(std::move(value));
  }
  std::vector<std::string> groups;
  for (const BudgetGroup& group : budget->groups) groups.push_back(group.group);
  const Json y = Names("part", "");
  Json share = Quantity("share", "share of all core-seconds [%]");
  share["scale"] = {{"domainMin", 0}};
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "bar"}, {"height", {{"band", 0.7}}}}},
                    {"encoding",
                     {{"y", y},
                      {"x", share},
                      {"color", BudgetColours("group", groups)},
                      {"tooltip", Tooltip({{"part", "part", "nominal"},
                                           {"group", "group", "nominal"},
                                           {"seconds", "core-seconds [s]"},
                                           {"share", "share [%]"}})}}}});
  if (other.has_value()) {
    layers.push_back({{"mark", {{"type", "tick"}, {"style", "baseline"}, {"thickness", 3}}},
                      {"encoding", {{"y", y}, {"x", Quantity("baseline", "share of all core-seconds [%]")}}}});
  }
  layers.push_back({{"mark", {{"type", "text"}, {"style", "label"}, {"align", "left"}, {"dx", 5}}},
                    {"encoding",
                     {{"y", y},
                      {"x", Quantity("end", "share of all core-seconds [%]")},
                      {"text", {{"field", "words"}, {"type", "nominal"}}}}}});
  Json body = {{"width", 560},
               {"height", {{"step", 24}}},
               {"data", InlineData(std::move(values))},
               {"layer", std::move(layers)}};
  return {std::move(body),
          fmt::format("{} of cores; the parts add up to 100 %{}", HumanDuration(budget->core_seconds),
                      other.has_value() ? "; grey ticks: baseline" : ""),
          ""};
}

namespace {

/// A figure in per cent with the parts of its scale.
struct Bullet {
  std::string label;
  std::optional<double> share;
  std::optional<double> baseline;
  std::optional<KeyFigureBand> judged_as;
};

std::optional<double> FailedShare(const Measurement& measurement) {
  const auto failed = measurement.Metric("num_failed_attempts"), attempts = measurement.Metric("num_attempts");
  if (!failed.has_value() || !attempts.has_value() || !(*attempts > 0)) return std::nullopt;
  return (*failed + measurement.Metric("num_lost_attempts").value_or(0)) / *attempts;
}

std::optional<double> WaitingShare(const Measurement& measurement) {
  const auto percent = measurement.Metric("io_overhead_pct");
  return percent.has_value() ? std::optional<double>(*percent / 100) : std::nullopt;
}

std::optional<double> MetricOrNull(const Measurement* measurement, std::string_view key) {
  return measurement == nullptr ? std::nullopt : measurement->Metric(key);
}

std::vector<Bullet> ReadBullets(const Measurement& measurement, const Measurement* baseline) {
  std::vector<Bullet> bullets = {
      {"CPU efficiency", measurement.Metric("cpu_efficiency"), MetricOrNull(baseline, "cpu_efficiency"),
       BandOf(KeyFigure::kCpuEfficiency)},
      {"cores busy", measurement.Metric("core_efficiency"), MetricOrNull(baseline, "core_efficiency"), std::nullopt},
      {"balance before the tail", measurement.Metric("balance"), MetricOrNull(baseline, "balance"),
       BandOf(KeyFigure::kBalance)},
      {"blocked, of chunk time", WaitingShare(measurement),
       baseline == nullptr ? std::nullopt : WaitingShare(*baseline), BandOf(KeyFigure::kWaiting)},
      {"fullest memory, of its limit", measurement.Metric("memory_utilization_max"),
       MetricOrNull(baseline, "memory_utilization_max"), MemoryBand(measurement.run.engine)},
      {"failed or lost, of attempts", FailedShare(measurement),
       baseline == nullptr ? std::nullopt : FailedShare(*baseline), BandOf(KeyFigure::kFailedAttempts)}};
  bullets.erase(std::remove_if(bullets.begin(), bullets.end(), [](const Bullet& b) { return !b.share.has_value(); }),
                bullets.end());
  return bullets;
}

std::string_view WordOf(Mark mark) { return mark == Mark::kGood ? "good" : mark == Mark::kWatch ? "watch" : "bad"; }

std::string_view SignOf(Mark mark) { return mark == Mark::kGood ? "✓" : mark == Mark::kWatch ? "▲" : "✕"; }

void AddZones(const Bullet& bullet, double top, Json* zones) {
  if (!bullet.judged_as.has_value()) return;
  const KeyFigureBand& band = *bullet.judged_as;
  const double first = 100 * std::min(band.good, band.bad), second = 100 * std::max(band.good, band.bad);
  const std::array<std::string, 3> names = band.more_is_better ? std::array<std::string, 3>{"bad", "watch", "good"}
                                                               : std::array<std::string, 3>{"good", "watch", "bad"};
  const std::array<double, 4> edges = {0, first, second, top};
  for (size_t i = 0; i < names.size(); ++i) {
    if (edges[i + 1] <= edges[i]) continue;
    zones->push_back({{"figure", bullet.label}, {"from", edges[i]}, {"to", edges[i + 1]}, {"zone", names[i]}});
  }
}

}  // namespace

Drawing DrawEfficiencySummary(const ChartInput& input) {
  const std::vector<Bullet> bullets = ReadBullets(*input.measurement, input.baseline);
  if (bullets.empty())
    return NotDrawn("no key figure was measured: " + input.measurement->WhyNotMeasured("cpu_efficiency"));
  double top = 100;
  for (const Bullet& bullet : bullets) top = std::max({top, 100 * *bullet.share, 100 * bullet.baseline.value_or(0)});
  Json values = Json::array(), zones = Json::array(), baselines = Json::array();
  for (const Bullet& bullet : bullets) {
    AddZones(bullet, top, &zones);
    std::string words = HumanPercent(*bullet.share, 1);
    std::string sign;
    if (bullet.judged_as.has_value()) {
      const Mark mark = MarkOf(*bullet.judged_as, *bullet.share);
      sign = SignOf(mark);
      words += fmt::format(" · {} ({})", WordOf(mark), GoodHint(*bullet.judged_as));
    }
    values.push_back({{"figure", bullet.label},
                      {"share", Rounded(100 * *bullet.share)},
                      {"words", words},
                      {"sign", sign},
                      {"end", top}});
    if (bullet.baseline.has_value()) {
      baselines.push_back({{"figure", bullet.label}, {"share", Rounded(100 * *bullet.baseline)}});
    }
  }
  Json labels = Json::array();
  for (const Bullet& bullet : bullets) labels.push_back(bullet.label);
  Json y = Names("figure", "");
  y["scale"] = {{"domain", std::move(labels)}};
  Json x = Quantity("share", "[%]"), from = Quantity("from", "[%]");
  x["scale"] = from["scale"] = {{"domain", {0, top}}, {"nice", false}};
  Json zone_colour = NamedColours("zone", {"good", "watch", "bad"}, {"good", "watch", "bad"});
  zone_colour["legend"] = nullptr;
  const Json data = InlineData(std::move(values));
  Json layers = Json::array();
  layers.push_back({{"data", InlineData(std::move(zones))},
                    {"mark", {{"type", "bar"}, {"height", {{"band", 0.8}}}}},
                    {"encoding", {{"y", y}, {"x", from}, {"x2", {{"field", "to"}}}, {"color", zone_colour}}}});
  layers.push_back(
      {{"data", data},
       {"mark", {{"type", "bar"}, {"style", "cpu"}, {"height", {{"band", 0.36}}}}},
       {"encoding", {{"y", y}, {"x", x}, {"tooltip", Tooltip({{"figure", "figure", "nominal"}, {"share", "[%]"}})}}}});
  if (!baselines.empty()) {
    layers.push_back({{"data", InlineData(std::move(baselines))},
                      {"mark", {{"type", "tick"}, {"style", "baseline"}, {"thickness", 3}}},
                      {"encoding", {{"y", y}, {"x", x}}}});
  }
  // the sign by itself: a font that lacks it would be replaced for the words too
  for (const auto& [field, shift] : {std::pair<std::string_view, int>{"sign", 10}, {"words", 26}}) {
    layers.push_back(
        {{"data", data},
         {"mark", {{"type", "text"}, {"style", "label"}, {"align", "left"}, {"dx", shift}}},
         {"encoding", {{"y", y}, {"x", Quantity("end", "[%]")}, {"text", {{"field", field}, {"type", "nominal"}}}}}});
  }
  Json body = {{"width", 420}, {"height", {{"step", 34}}}, {"layer", std::move(layers)}};
  return {std::move(body),
          fmt::format("{} {}", bullets.front().label, HumanPercent(*bullets.front().share)) +
              (input.baseline == nullptr ? "" : "; grey ticks: baseline"),
          ""};
}

}  // namespace crema
