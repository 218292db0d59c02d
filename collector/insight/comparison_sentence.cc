#include "collector/insight/comparison_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "absl/strings/str_join.h"
#include "collector/appearance/human_numbers.h"
#include "collector/insight/between_runs.h"
#include "collector/insight/elapsed_change.h"
#include "collector/insight/figure_change.h"
#include "collector/insight/run_trouble.h"
#include "collector/insight/thresholds.h"
#include "collector/measurement/budget_parts.h"

namespace crema {
namespace {

constexpr size_t kNamed = 3;  // parts of the elapsed time, and sections

std::string SignedTime(double seconds) {
  return fmt::format("{}{}", seconds < 0 ? "-" : "+", HumanDuration(std::fabs(seconds)));
}

/// "after took 11.0 s, before 10.0 s (+10 %): computing +0.61 s, tail +0.32 s."
std::string ElapsedWords(const ComparedSide& before, const ComparedSide& after) {
  const std::optional<ElapsedChange> change = CompareElapsed(before.documents, after.documents);
  if (!change.has_value() || change->before <= 0) {
    return fmt::format("Whether {} took longer than {} is not known: a run has no elapsed time.", after.name,
                       before.name);
  }
  const ElapsedDifference& difference = change->difference;
  std::string text = fmt::format("{} took {}, {} {} ({}", after.name, HumanDuration(change->after), before.name,
                                 HumanDuration(change->before), HumanChange(difference.seconds / change->before));
  if (difference.low.has_value()) {
    text += fmt::format("; {}, {} to {}", SignedTime(difference.seconds), SignedTime(*difference.low),
                        SignedTime(*difference.high));
  }
  text += ")";
  size_t named = 0;
  for (const ElapsedPart& part : change->parts) {
    if (named == kNamed || !kWorthNaming.Holds(std::fabs(part.difference.seconds) / change->before)) break;
    const BudgetPartKind* kind = FindBudgetPart(part.part);
    text += fmt::format("{}{} {}", named++ == 0 ? ": " : ", ", kind != nullptr ? kind->name : part.part,
                        SignedTime(part.difference.seconds));
  }
  return text + ".";
}

std::string EffectWords(const PairedChange& change) {
  std::string text;
  size_t named = 0;
  double rest = 0;
  for (const ChangeEffect& effect : change.effects) {
    if (effect.is_sure && named < kNamed && kWorthNaming.Holds(std::fabs(effect.change))) {
      text += fmt::format("{}{} {}", named++ == 0 ? ": " : ", ", effect.what, HumanChange(effect.change));
    } else {
      rest = std::max({rest, std::fabs(effect.low), std::fabs(effect.high)});
    }
  }
  if (named > 0 && named < change.effects.size()) text += fmt::format("; all else within ±{}", HumanPercent(rest));
  return text;
}

/// "The work in its chunks is 6.1 % longer (4.8 to 7.3 %): select +5.2 %; all else within ±0.6 %."
std::string WorkWords(const PairedChange& change) {
  const std::string_view what = change.is_of_work ? "The work in its chunks" : "The time in its chunks";
  const auto size = [](double share) { return HumanPercent(std::fabs(share), 1); };
  const std::string number = HumanChange(change.change);
  const std::string range = fmt::format("{} to {}", HumanChange(change.low), HumanChange(change.high));
  std::string text;
  switch (change.conclusion) {
    case ChangeConclusion::kSlower:
      text = fmt::format("{} is {} longer ({} to {})", what, size(change.change), size(change.low), size(change.high));
      break;
    case ChangeConclusion::kFaster:
      text = fmt::format("{} is {} shorter ({} to {})", what, size(change.change), size(change.high), size(change.low));
      break;
    case ChangeConclusion::kSame:
      text = fmt::format("{} is about as long: {} ({})", what, number, range);
      break;
    default:
      text = fmt::format("{} differs by {} ({}): whether it is longer is not known", what, number, range);
  }
  if (change.is_short_of_cpu && change.conclusion == ChangeConclusion::kUnclear) {
    text += ", because threads waited for CPUs, and others perhaps for them";
  }
  return text + EffectWords(change) + ".";
}

/// What the machine's other programs decide, and not the work.
std::string WaitingWords(const PairedChange& change, const ComparedSide& before) {
  double busy = 0;
  for (const Measurement* measurement : before.documents) {
    busy += measurement->Metric("busy_time").value_or(0) / static_cast<double>(before.documents.size());
  }
  const double more = change.after_waiting - change.before_waiting;
  if (!change.is_of_work || busy <= 0 || !kWorthNaming.Holds(std::fabs(more) / busy)) return "";
  return fmt::format(" Beside the work, its chunks waited {} for a CPU, those of {} {}.",
                     HumanDuration(change.after_waiting), before.name, HumanDuration(change.before_waiting));
}

std::string PairWords(const PairedChange& change) {
  const auto pairs = static_cast<double>(change.pairs);
  std::string text =
      change.paired_by == "none"
          ? fmt::format(" Not paired, because chunks have no ranges: {} a side.", Counted(pairs, "chunk", "chunks"))
          : fmt::format(" Paired by {} ({}).", change.paired_by, Counted(pairs, "pair", "pairs"));
  const double least = std::min(change.before_share, change.after_share);
  if (!kAllOfTheInput.Holds(least)) {
    text += fmt::format(" This is of the input that both have: {} of the first and {} of the second one's time.",
                        HumanPercent(change.before_share), HumanPercent(change.after_share));
  }
  if (!change.between_runs.has_value()) {
    return text + fmt::format(" The range assumes that equal runs differ by ±{}; several runs a side measure it.",
                              HumanPercent(kBetweenRuns));
  }
  std::vector<std::string> needed;
  for (const double effect : kEffectsOfRuns) {
    const size_t runs = RunsNeeded(effect, *change.between_runs);
    needed.push_back(fmt::format("{} {}", HumanPercent(effect), runs > 0 ? std::to_string(runs) : "over 1 000"));
  }
  return text + fmt::format(
                    " {} and {} runs; equal ones differ by {} (standard deviation). Runs a side that see a change: {}.",
                    change.runs_before, change.runs_after, HumanPercent(*change.between_runs),
                    absl::StrJoin(needed, ", "));
}

/// The largest of a side; nullopt: not known of all its runs.
std::optional<double> PeakOf(const ComparedSide& side, std::string_view key) {
  std::optional<double> peak;
  for (const Measurement* measurement : side.documents) {
    const std::optional<double> one = measurement->Metric(key);
    if (!one.has_value()) return std::nullopt;
    peak = std::max(peak.value_or(0), *one);
  }
  return peak;
}

std::string MemoryWords(const ComparedSide& before, const ComparedSide& after) {
  for (const char* key : {"process_peak_rss_bytes", "peak_memory_bytes"}) {
    const std::optional<double> was = PeakOf(before, key), now = PeakOf(after, key);
    if (!was.has_value() || !now.has_value() || *was <= 0) continue;
    const double change = *now / *was - 1;
    if (std::fabs(change) <= kNotableChange) return "";
    return fmt::format(" Peak memory is {}, was {} ({}).", HumanMemory(*now), HumanMemory(*was), HumanChange(change));
  }
  return "";
}

/// What else may explain a difference.
std::string SurroundingsWords(const ComparedSide& before, const ComparedSide& after) {
  const auto hosts_of = [](const ComparedSide& side) {
    std::set<std::string> hosts;
    for (const Measurement* measurement : side.documents) {
      for (const BreakdownRow& row : measurement->hosts) hosts.insert(row.name);
    }
    return hosts;
  };
  std::string words;
  const std::set<std::string> was = hosts_of(before), now = hosts_of(after);
  if (was != now && was.size() == 1 && now.size() == 1) {
    words += fmt::format(" They ran on other hosts: {} on {}, {} on {}.", after.name, *now.begin(), before.name,
                         *was.begin());
  } else if (was != now && !was.empty() && !now.empty()) {
    words += " They ran on other hosts.";
  }
  const std::optional<double> cores = PeakOf(after, "peak_cores"), cores_before = PeakOf(before, "peak_cores");
  if (cores.has_value() && cores_before.has_value() && *cores != *cores_before) {
    words += fmt::format(" {} had {}, {} {}.", after.name, Counted(*cores, "core", "cores"), before.name,
                         HumanCount(*cores_before));
  }
  return words;
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
  std::string words = ElapsedWords(before, after);
  if (!same_events) words += " The two did not process the same events.";
  if (paired != nullptr && paired->conclusion != ChangeConclusion::kNotKnown) {
    words += " " + WorkWords(*paired) + WaitingWords(*paired, before) + PairWords(*paired);
  } else {
    words +=
        fmt::format(" Whether its work took longer is not known{}.", paired == nullptr ? "" : ": " + paired->why_not);
  }
  return words + MemoryWords(before, after) + SurroundingsWords(before, after) + TroubleWords(before) +
         TroubleWords(after);
}

}  // namespace crema
