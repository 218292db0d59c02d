#include "collector/insight/comparison_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/between_runs.h"
#include "collector/insight/elapsed_change.h"
#include "collector/insight/figure_change.h"
#include "collector/insight/paired_sentence.h"
#include "collector/insight/run_trouble.h"
#include "collector/insight/thresholds.h"

namespace crema {
namespace {

constexpr size_t kNamedSections = 3;

constexpr ChangedFigure kWallTime = {"wall_time", ChangeOf::kRate, false};
constexpr ChangedFigure kEventRate = {"event_rate_wall_khz", ChangeOf::kRate, true};

std::map<std::string, double> OwnersSelfTimes(const Measurement& measurement) {
  std::map<std::string, double> times;
  for (const SectionRow& row : measurement.sections) {
    if (row.helper.value_or(false)) continue;
    times[row.path.str()] += row.self.value_or(0);
  }
  return times;
}

// Sections' self times, `(other)` among them, add up to the time in chunks; so do their differences.
std::string SectionWords(const Measurement& baseline, const Measurement& measurement) {
  const auto before = baseline.Metric("busy_time"), now = measurement.Metric("busy_time");
  if (!before.has_value() || !now.has_value() || *before <= 0) return "";
  std::map<std::string, double> differences = OwnersSelfTimes(measurement);
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

/// Slower, faster, about as long, or that nobody can tell, by what two documents say of one figure.
std::string FigureWords(const Measurement& baseline, const std::string& baseline_name, const Measurement& measurement,
                        const std::string& name, bool same_events) {
  const ChangedFigure& figure = same_events ? kWallTime : kEventRate;
  const std::optional<FigureChange> change = ChangeSince(baseline, measurement, figure);
  if (!change.has_value() || !change->change.has_value()) {
    return fmt::format("Whether {} is slower or faster than {} is not known: {}.", name, baseline_name,
                       same_events ? "a wall time is missing" : "an event rate is missing");
  }
  const double now = measurement.Metric(figure.key).value_or(0);
  const auto value = [&](double of) { return same_events ? HumanDuration(of) : HumanRate(1000 * of); };
  const std::string figures = fmt::format("{}, was {}", value(now), value(change->before));
  const std::string per_event = same_events ? "" : " per event";
  if (!change->noise.has_value()) {
    return fmt::format("Whether {} is slower than {}{} cannot be told: too few chunks to give a range ({}).", name,
                       baseline_name, per_event, figures);
  }
  const double half = std::sqrt(*change->noise * *change->noise + kBetweenRuns * kBetweenRuns);
  const double low = *change->change - half, high = *change->change + half;
  const std::string range = fmt::format("{} to {}", HumanChange(low), HumanChange(high));
  if (change->is_better.has_value() && (low > 0 || high < 0)) {
    return fmt::format("{} is {} {} than {}{} ({}; {}).", name, HumanPercent(std::fabs(*change->change)),
                       *change->is_better ? "faster" : "slower", baseline_name, per_event, range, figures);
  }
  if (std::max(std::fabs(low), std::fabs(high)) <= kNotableChange + kBetweenRuns) {
    return fmt::format("{} took about as long as {}{}: {} ({}; {}).", name, baseline_name, per_event,
                       HumanChange(*change->change), range, figures);
  }
  return fmt::format("{} differs from {}{} by {} ({}; {}): whether it is slower cannot be told.", name, baseline_name,
                     per_event, HumanChange(*change->change), range, figures);
}

/// The same of mean wall times of several runs a side.
std::string MeanWords(const std::optional<ElapsedChange>& elapsed, const std::string& baseline_name,
                      const std::string& name) {
  if (!elapsed.has_value() || elapsed->before <= 0 || !elapsed->difference.low.has_value()) {
    return fmt::format("Whether {} is slower or faster than {} is not known: a wall time is missing.", name,
                       baseline_name);
  }
  const double low = *elapsed->difference.low / elapsed->before, high = *elapsed->difference.high / elapsed->before;
  const std::string change = HumanChange(elapsed->difference.seconds / elapsed->before);
  const std::string range = fmt::format("{} to {}", HumanChange(low), HumanChange(high));
  if (low <= 0 && high >= 0) {
    return fmt::format("{} took {} of the elapsed time of {} ({}): whether it is slower cannot be told.", name, change,
                       baseline_name, range);
  }
  return fmt::format("{} is {} than {} by {} of the elapsed time ({}).", name, low > 0 ? "slower" : "faster",
                     baseline_name, change, range);
}

std::string TroubleWords(const ComparedSide& side) {
  std::string words;
  for (const Measurement* measurement : side.documents) {
    const RunTrouble trouble = FindRunTrouble(*measurement);
    const std::string state = measurement->run.state.str();
    std::string clauses = state == "running" || state == "killed" ? "it is " + state : "";
    if (clauses == "it is killed") clauses = "it was killed";
    for (const std::string& clause : trouble.clauses) clauses += (clauses.empty() ? "" : "; ") + clause;
    if (clauses.empty()) continue;
    words += fmt::format(
        " {} is not complete ({}): only what it did is compared, and its elapsed time is not that of "
        "the whole.",
        side.name, clauses);
  }
  return words;
}

}  // namespace

std::string ComparisonSentence(const ComparedSide& before, const ComparedSide& after, const PairedChange* paired) {
  bool same_events = true;
  for (const ComparedSide* side : {&before, &after}) {
    for (const Measurement* measurement : side->documents) {
      same_events = same_events && HaveSameEvents(*before.documents.front(), *measurement);
    }
  }
  const std::optional<ElapsedChange> elapsed = CompareElapsed(before.documents, after.documents);
  const bool one_a_side = before.documents.size() == 1 && after.documents.size() == 1;
  const bool by_pieces = paired != nullptr && paired->conclusion != ChangeConclusion::kNotKnown;
  std::string words;
  if (by_pieces) {
    words = PairedSentence(*paired, before.name, after.name);
  } else if (one_a_side) {
    words = FigureWords(*before.documents.front(), before.name, *after.documents.front(), after.name, same_events);
  } else {
    words = MeanWords(elapsed, before.name, after.name);
  }
  const std::string elapsed_words = by_pieces || !one_a_side ? ElapsedWords(elapsed) : "";
  if (!elapsed_words.empty()) words += " " + elapsed_words;
  if (!same_events) words += " The two did not process the same events.";
  if (!by_pieces && one_a_side && same_events) {
    words += SectionWords(*before.documents.front(), *after.documents.front());
  }
  if (paired != nullptr && !by_pieces) words += " Piece by piece nothing can be told: " + paired->why_not + ".";
  return words + TroubleWords(before) + TroubleWords(after);
}

}  // namespace crema
