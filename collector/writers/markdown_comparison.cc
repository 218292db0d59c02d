#include "collector/writers/markdown_comparison.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "collector/appearance/human_numbers.h"
#include "collector/measurement/budget_parts.h"
#include "collector/writers/display_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kMostRows = 20;

/// Names may hold anything: none of it is taken for markup.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char sign : PlainLine(text)) {
    if (sign == '<') {
      plain += "&lt;";
    } else if (sign == '&') {
      plain += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~!>").find(sign) != std::string_view::npos) plain += '\\';
      plain += sign;
    }
  }
  return plain;
}

std::string SignedTime(double seconds) {
  return fmt::format("{}{}", seconds < 0 ? "-" : "+", HumanDuration(std::fabs(seconds)));
}

void AddMore(size_t all, std::string* text) {
  if (all > kMostRows) *text += fmt::format("\n{} more: see `--json`.\n", all - kMostRows);
}

void AddEffects(const PairedChange& change, const std::string& name, std::string* text) {
  if (change.effects.empty()) return;
  *text +=
      fmt::format("\n| section | {}, of the time in chunks | 90 % range | sure |\n|---|---:|---:|---|\n", Plain(name));
  const size_t shown = std::min(kMostRows, change.effects.size());
  for (size_t i = 0; i < shown; ++i) {
    const ChangeEffect& effect = change.effects[i];
    *text += fmt::format("| {} | {} | {} to {} | {} |\n", Plain(effect.what), HumanChange(effect.change),
                         HumanChange(effect.low), HumanChange(effect.high), effect.is_sure ? "yes" : "no");
  }
  *text += fmt::format("| **all** | **{}** | {} to {} | {} |\n", HumanChange(change.change), HumanChange(change.low),
                       HumanChange(change.high), Plain(ToString(change.conclusion)));
  AddMore(change.effects.size(), text);
}

void AddElapsed(const ElapsedChange& change, std::string* text) {
  if (change.parts.empty()) return;
  *text += "\n| part of the elapsed time | difference |\n|---|---:|\n";
  for (const ElapsedPart& part : change.parts) {
    if (part.difference.seconds == 0) continue;
    const BudgetPartKind* kind = FindBudgetPart(part.part);
    *text += fmt::format("| {} | {} |\n", kind != nullptr ? std::string(kind->name) : Plain(part.part),
                         SignedTime(part.difference.seconds));
  }
  *text += fmt::format("| **all** | **{}** |\n", SignedTime(change.difference.seconds));
}

void AddUnequal(const Comparison& comparison, std::string* text) {
  const std::vector<ComparedValue> unequal = comparison.Unequal();
  if (unequal.empty()) return;
  *text += "\n| should be equal and is not |";
  for (const ComparedRun& run : comparison.runs) *text += fmt::format(" {} |", Plain(run.name));
  *text += "\n|---|";
  for (size_t i = 0; i < comparison.runs.size(); ++i) *text += "---:|";
  *text += "\n";
  for (size_t i = 0; i < std::min(kMostRows, unequal.size()); ++i) {
    *text += fmt::format("| {} |", Plain(unequal[i].label));
    for (const std::optional<double>& value : unequal[i].values) {
      *text += fmt::format(" {} |", value.has_value() ? ExactNumber(*value) : "–");
    }
    *text += "\n";
  }
  AddMore(unequal.size(), text);
}

}  // namespace

std::string ComparisonAsMarkdown(const Comparison& comparison, const std::vector<JudgedGate>& gates) {
  std::string text;
  for (size_t i = 0; i < comparison.sentences.size(); ++i) {
    text += fmt::format("{}{}\n", i > 0 ? "\n" : "", Plain(comparison.sentences[i]));
    if (i < comparison.paired.size()) AddEffects(comparison.paired[i], comparison.runs[i + 1].name, &text);
    if (i < comparison.elapsed.size()) AddElapsed(comparison.elapsed[i], &text);
  }
  AddUnequal(comparison, &text);
  if (!gates.empty()) text += "\n| gate | |\n|---|---|\n";
  for (const JudgedGate& gate : gates) {
    text += fmt::format("| {} | {}: {} |\n", Plain(gate.text), gate.result.fell ? "**fell**" : "passed",
                        Plain(gate.result.sentence));
  }
  return text;
}

}  // namespace crema
