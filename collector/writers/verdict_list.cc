#include "collector/writers/verdict_list.h"

#include <algorithm>
#include <string_view>

#include "collector/appearance/human_numbers.h"
#include "collector/writers/display_text.h"
#include "collector/writers/terminal_box.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int kIndent = 4;

/// Sign and word, so that colour is never the only sign.
PaintedText MarkOfSeverity(std::string_view severity) {
  if (severity == "good") return MarkText(Mark::kGood);
  if (severity == "bad") return MarkText(Mark::kBad);
  if (severity == "warning") return MarkText(Mark::kWatch);
  return {"· info", Paint::kDim};
}

void AddLines(const std::string& line_text, int indent, Paint paint, const TerminalStyle& style, std::string* text) {
  if (line_text.empty()) return;
  for (const std::string& line : Wrap(line_text, std::max(20, style.width - indent), style)) {
    *text += std::string(static_cast<size_t>(indent), ' ') + Painted({line, paint}, style) + "\n";
  }
}

std::string EvidenceText(const std::vector<EvidenceRow>& evidence) {
  std::string text;
  for (const EvidenceRow& row : evidence) {
    if (!row.value.has_value()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row.key.str(), HumanNumber(*row.value));
  }
  return text;
}

}  // namespace

std::string RenderVerdicts(const std::string& headline, const std::vector<VerdictRow>& rows,
                           const TerminalStyle& style) {
  std::string text;
  AddLines(headline, 0, Paint::kBold, style, &text);
  for (const VerdictRow& row : rows) {
    PaintedText mark = MarkOfSeverity(row.severity);
    mark.text = DisplayText(mark.text, style);
    text += "\n" + Painted(mark, style) + "  " + DisplayText(row.id, style);
    if (row.saving.has_value()) text += DisplayText("  ≈ " + HumanPercent(*row.saving) + " to win", style);
    text += "\n";
    AddLines(row.sentence, kIndent, Paint::kPlain, style, &text);
    const std::string evidence = EvidenceText(row.evidence);
    if (!evidence.empty()) AddLines("evidence: " + evidence, kIndent, Paint::kDim, style, &text);
    AddLines(row.suggestion, kIndent, Paint::kPlain, style, &text);
  }
  return text;
}

}  // namespace crema
