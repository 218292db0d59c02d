// What the page says of the run that it is compared with: in its head, and under each key figure.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/comparison.h"
#include "collector/insight/figure_change.h"
#include "collector/insight/run_head.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kShownPoints = 0.0005;  // what a tenth of a percentage point is rounded from

/// `3.1 %` of a share is `3.1 points`.
std::string InPoints(std::string text) { return text.replace(text.rfind('%'), 1, "points"); }

/// `+12.0 %`, `-3.1 points`, `+2`.
std::string SignedChange(ChangeOf kind, double change) {
  if (kind == ChangeOf::kFailures) return (change < 0 ? "" : "+") + HumanCount(change);
  return kind == ChangeOf::kShare ? InPoints(HumanChange(change)) : HumanChange(change);
}

std::string Noise(ChangeOf kind, double noise) {
  if (kind == ChangeOf::kFailures) return HumanFactor(noise);
  return kind == ChangeOf::kShare ? InPoints(HumanPercent(noise, 1)) : HumanPercent(noise);
}

/// With all digits, so that no difference is rounded away.
std::string InFull(const std::optional<double>& value) { return value.has_value() ? ExactNumber(*value) : "none"; }

/// Why a change has no colour.
std::string WhyPlain(ChangeOf kind, const FigureChange& change) {
  const bool is_noise = change.noise.has_value() && std::fabs(*change.change) <= *change.noise;
  if (is_noise) return ": within the noise, \u00b1" + Noise(kind, *change.noise);
  return kind == ChangeOf::kShare ? ": under 5 points" : ": under 5 %";
}

}  // namespace

std::string ChangeLine(const PageInput& input, const ChangedFigure& figure, std::string (*words)(double)) {
  if (input.baseline == nullptr) return "";
  const std::optional<FigureChange> change = ChangeSince(*input.baseline, input.measurement, figure);
  if (!change.has_value()) {
    if (!input.measurement.Metric(figure.key).has_value()) return "";
    return "<p class=\"change\">not measured in the baseline</p>";
  }
  const std::string before = Escaped(words(change->before));
  if (!change->change.has_value()) return "<p class=\"change\">baseline " + before + "</p>";
  const bool is_same =
      figure.kind == ChangeOf::kShare ? std::fabs(*change->change) < kShownPoints : *change->change == 0;
  if (is_same) return "<p class=\"change\">as in the baseline</p>";
  const std::string text = fmt::format("{} from {}", Escaped(SignedChange(figure.kind, *change->change)), before);
  const bool is_of_other_work = figure.key == "wall_time" && !HaveSameEvents(*input.baseline, input.measurement);
  if (is_of_other_work) return fmt::format("<p class=\"change\">{}: of other events</p>", text);
  if (!change->is_better.has_value()) {
    return fmt::format("<p class=\"change\">{}{}</p>", text, Escaped(WhyPlain(figure.kind, *change)));
  }
  const char* word = *change->is_better ? "better" : "worse";
  return fmt::format("<p class=\"change {}\">{} {}: {}</p>", word, *change->is_better ? "✓" : "✕", text, word);
}

std::string BaselineLine(const PageInput& input) {
  if (input.baseline == nullptr) return "";
  const std::optional<RunTimes> times = TimesOf(input.baseline->run, {"%a %d %b %Y", ", "});
  std::string html = fmt::format("<p class=\"when\" id=\"baseline\">Baseline: {}{}. Charts show it in grey.",
                                 Name(RunName(*input.baseline), 80),
                                 times.has_value() ? ", " + Escaped(times->start) + " UTC" : std::string());
  constexpr size_t kMost = 3;
  const std::vector<ComparedValue> differing = Compare({input.baseline, &input.measurement}).Unequal();
  std::string unequal;
  for (size_t at = 0; at < std::min(kMost, differing.size()); ++at) {
    const ComparedValue& value = differing[at];
    unequal += fmt::format("{}{} {} before, {} now", unequal.empty() ? "" : "; ",
                           Name(value.label.empty() ? value.key : value.label), Escaped(InFull(value.values.front())),
                           Escaped(InFull(value.values.back())));
  }
  if (differing.size() > kMost) unequal += fmt::format("; {} more: crema compare shows them", differing.size() - kMost);
  if (!unequal.empty()) html += " <strong>What should be equal is not: " + unequal + ".</strong>";
  return html + "</p>";
}

}  // namespace crema
