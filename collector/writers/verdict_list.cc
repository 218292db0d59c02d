#include "collector/writers/verdict_list.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/writers/display_text.h"
#include "collector/writers/terminal_box.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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

std::string EvidenceText(const Json& evidence) {
  std::string text;
  for (const Json& row : evidence) {
    const std::optional<double> value = NumberField(row, "value");
    if (!value.has_value()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", TextField(row, "key"), HumanNumber(*value));
  }
  return text;
}

}  // namespace

std::string RenderVerdicts(const std::string& headline, const Json& rows, const TerminalStyle& style) {
  std::string text;
  AddLines(headline, 0, Paint::kBold, style, &text);
  for (const Json& row : rows) {
    PaintedText mark = MarkOfSeverity(TextField(row, "severity"));
    mark.text = DisplayText(mark.text, style);
    text += "\n" + Painted(mark, style) + "  " + DisplayText(TextField(row, "id"), style);
    const std::optional<double> saving = NumberField(row, "saving");
    if (saving.has_value()) text += DisplayText("  ≈ " + HumanPercent(*saving) + " to win", style);
    text += "\n";
    AddLines(TextField(row, "sentence"), kIndent, Paint::kPlain, style, &text);
    const std::string evidence = EvidenceText(ListField(row, "evidence"));
    if (!evidence.empty()) AddLines("evidence: " + evidence, kIndent, Paint::kDim, style, &text);
    AddLines(TextField(row, "suggestion"), kIndent, Paint::kPlain, style, &text);
  }
  return text;
}

}  // namespace crema
