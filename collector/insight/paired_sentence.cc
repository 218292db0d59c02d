#include "collector/insight/paired_sentence.h"

#include <algorithm>
#include <cmath>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/between_runs.h"
#include "collector/insight/thresholds.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kNamedEffects = 3;

std::string Size(double share) { return HumanPercent(std::fabs(share), 1); }

std::string Conclusion(const PairedChange& change, const std::string& baseline_name, const std::string& name) {
  const std::string number = HumanChange(change.change);
  const std::string range = fmt::format("{} to {}", HumanChange(change.low), HumanChange(change.high));
  switch (change.conclusion) {
    case ChangeConclusion::kSlower:
      return fmt::format("{} is {} slower than {} in its chunks ({} to {})", name, Size(change.change), baseline_name,
                         Size(change.low), Size(change.high));
    case ChangeConclusion::kFaster:
      return fmt::format("{} is {} faster than {} in its chunks ({} to {})", name, Size(change.change), baseline_name,
                         Size(change.high), Size(change.low));
    case ChangeConclusion::kSame:
      return fmt::format("{} took about as long as {} in its chunks: {} ({})", name, baseline_name, number, range);
    default:
      return fmt::format("{} took {} in its chunks ({}): whether it is slower than {} cannot be told", name, number,
                         range, baseline_name);
  }
}

std::string EffectWords(const PairedChange& change) {
  std::string text;
  size_t named = 0;
  double rest = 0;
  for (const ChangeEffect& effect : change.effects) {
    if (effect.is_sure && named < kNamedEffects && kWorthNaming.Holds(std::fabs(effect.change))) {
      text += fmt::format("{}{} {}", named++ == 0 ? "" : ", ", effect.what, HumanChange(effect.change));
    } else {
      rest = std::max({rest, std::fabs(effect.low), std::fabs(effect.high)});
    }
  }
  if (named > 0 && named < change.effects.size()) text += fmt::format("; all else within ±{}", HumanPercent(rest));
  return text;
}

std::string PairWords(const PairedChange& change) {
  const auto pairs = static_cast<double>(change.pairs);
  std::string text =
      change.paired_by == "none"
          ? fmt::format("Not paired, because chunks tell no ranges: {} a side.", Counted(pairs, "chunk", "chunks"))
          : fmt::format("Paired by {} ({}).", change.paired_by, Counted(pairs, "pair", "pairs"));
  const double least = std::min(change.before_share, change.after_share);
  if (!kAllOfTheInput.Holds(least)) {
    text += fmt::format(" This is of the input that both have: {} of the first and {} of the second one's time.",
                        HumanPercent(change.before_share), HumanPercent(change.after_share));
  }
  return text;
}

std::string RunWords(const PairedChange& change) {
  if (!change.between_runs.has_value()) {
    return fmt::format("Equal runs are taken to differ by ±{}: one run a side does not tell it.",
                       HumanPercent(kBetweenRuns));
  }
  std::string needed;
  for (const double effect : kEffectsOfRuns) {
    const size_t runs = RunsNeeded(effect, *change.between_runs);
    needed += fmt::format("{}{} {}", needed.empty() ? "" : ", ", HumanPercent(effect),
                          runs > 0 ? std::to_string(runs) : "over 1 000");
  }
  return fmt::format("{} and {} runs; equal ones differ by {} (standard deviation). Runs a side that see a change: {}.",
                     change.runs_before, change.runs_after, HumanPercent(*change.between_runs), needed);
}

}  // namespace

std::string PairedSentence(const PairedChange& change, const std::string& baseline_name, const std::string& name) {
  if (change.conclusion == ChangeConclusion::kNotKnown) return "";
  const std::string effects = EffectWords(change);
  std::string text = Conclusion(change, baseline_name, name);
  if (!effects.empty()) text += (change.conclusion == ChangeConclusion::kSame ? "; " : ": ") + effects;
  return fmt::format("{}. {} {}", text, PairWords(change), RunWords(change));
}

}  // namespace crema
