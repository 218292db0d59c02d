#include "collector/insight/comparison_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/figure_change.h"
#include "collector/insight/thresholds.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNamedSections = 3;

constexpr ChangedFigure kWallTime = {"wall_time", ChangeOf::kRate, false};
constexpr ChangedFigure kEventRate = {"event_rate_wall_khz", ChangeOf::kRate, true};

std::map<std::string, double> OwnersSelfTimes(const Json& document) {
  std::map<std::string, double> times;
  for (const Json& row : ListField(document, "sections")) {
    const Json& helper = Field(row, "helper");
    if (helper.is_boolean() && helper.get<bool>()) continue;
    times[TextField(row, "path")] += NumberField(row, "self").value_or(0);
  }
  return times;
}

// Sections' self times, `(other)` among them, add up to the time in chunks; so do their differences.
std::string SectionWords(const Json& baseline, const Json& document) {
  const auto before = Metric(baseline, "busy_time"), now = Metric(document, "busy_time");
  if (!before.has_value() || !now.has_value() || *before <= 0) return "";
  std::map<std::string, double> differences = OwnersSelfTimes(document);
  for (const auto& [path, seconds] : OwnersSelfTimes(baseline)) differences[path] -= seconds;
  std::vector<std::pair<double, std::string>> shares;
  for (const auto& [path, seconds] : differences) shares.emplace_back(seconds / *before, path);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return std::fabs(a.first) > std::fabs(b.first); });
  std::string words = fmt::format("Time in chunks {}", HumanChange(*now / *before - 1));
  size_t named = 0;
  for (; named < std::min(shares.size(), kNamedSections) && kWorthNaming.Holds(std::fabs(shares[named].first));
       ++named) {
    words += fmt::format("{} {} {}", named == 0 ? ":" : ",", shares[named].second, HumanChange(shares[named].first));
  }
  if (named > 0 && named < shares.size()) {
    words += fmt::format("; each other section within ±{}", HumanPercent(std::fabs(shares[named].first)));
  }
  return " " + words + ".";
}

}  // namespace

std::string ComparisonSentence(const Json& baseline, const std::string& baseline_name, const Json& document,
                               const std::string& name, const PairedChange* paired) {
  const bool same_events = HaveSameEvents(baseline, document);
  const ChangedFigure& figure = same_events ? kWallTime : kEventRate;
  const std::optional<FigureChange> change = ChangeSince(baseline, document, figure);
  const std::string other_work = same_events ? "" : "The two did not process the same events. ";
  if (!change.has_value() || !change->change.has_value()) {
    return other_work + fmt::format("Whether {} is slower or faster than {} is not known: {}.", name, baseline_name,
                                    same_events ? "a wall time is missing" : "an event rate is missing");
  }
  const double now = Metric(document, figure.key).value_or(0);
  const auto value = [&](double of) { return same_events ? HumanDuration(of) : HumanRate(1000 * of); };
  const std::string figures = fmt::format("{}, was {}", value(now), value(change->before));
  std::string words;
  if (!change->is_better.has_value()) {
    words = fmt::format("{} took about as long as {}{} ({}, {}).", name, baseline_name, same_events ? "" : " per event",
                        HumanChange(*change->change), figures);
  } else {
    words = fmt::format("{} is {} {} than {} ({}).", name, HumanPercent(std::fabs(*change->change)),
                        *change->is_better ? "faster" : "slower", baseline_name, figures);
  }
  const std::string by_pieces = paired != nullptr ? PairedSentence(*paired, name) : "";
  if (!by_pieces.empty()) return other_work + words + " " + by_pieces;
  return other_work + words + (same_events ? SectionWords(baseline, document) : "");
}

}  // namespace crema
