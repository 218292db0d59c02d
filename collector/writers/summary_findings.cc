// The end of the summary: what to look at, and whether to believe it.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/grouped_verdicts.h"
#include "collector/insight/trust_items.h"
#include "collector/writers/display_text.h"
#include "collector/writers/summary_blocks.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostFindings = 5;

PaintedText SignOf(const Json& verdict) {
  const std::string severity = TextField(verdict, "severity");
  if (severity == "good") return MarkSign(Mark::kGood);
  if (severity == "bad") return MarkSign(Mark::kBad);
  if (severity == "warning") return MarkSign(Mark::kWatch);
  return {"·", Paint::kDim};
}

/// What comes of the finding above it.
void AddSymptom(const Json& verdict, TerminalBox* box) {
  const int indent = box->style().ascii ? 8 : 5;
  const std::vector<std::string> lines =
      Wrap(TextField(verdict, "sentence"), box->inner_columns() - indent, box->style());
  for (size_t at = 0; at < lines.size(); ++at) {
    const std::string_view lead = at == 0 ? "└ " : "  ";
    box->Line({{Pad("", indent - 2, Align::kLeft, box->style()) + std::string(lead) + lines[at], Paint::kDim}});
  }
}

void AddFinding(const Json& verdict, TerminalBox* box) {
  constexpr int kSaving = 9;
  const TerminalStyle& style = box->style();
  PaintedText sign = SignOf(verdict);
  const int indent = style.ascii ? 6 : 3;
  sign.text = Pad(sign.text, indent, Align::kLeft, style);
  const std::optional<double> saving = NumberField(verdict, "saving");
  const int text_columns = box->inner_columns() - indent - kSaving;
  const std::vector<std::string> lines = Wrap(TextField(verdict, "sentence"), text_columns, style);
  for (size_t at = 0; at < lines.size(); ++at) {
    PaintedLine line = {at == 0 ? sign : PaintedText{std::string(static_cast<size_t>(indent), ' ')},
                        {Pad(lines[at], text_columns, Align::kLeft, style)}};
    if (at == 0 && saving.has_value()) {
      line.push_back({Pad("≈ " + HumanPercent(*saving), kSaving, Align::kRight, style), Paint::kBold});
    }
    box->Line(line);
  }
  for (const std::string& line : Wrap(TextField(verdict, "suggestion"), box->inner_columns() - indent, style)) {
    box->Line({{std::string(static_cast<size_t>(indent), ' ')}, {line, Paint::kDim}});
  }
}

/// Packs the items of one mark into as few lines as they fit into.
void AddItems(const std::vector<TrustItem>& items, Mark mark, TerminalBox* box) {
  const TerminalStyle& style = box->style();
  PaintedLine line;
  int taken = 0;
  for (const TrustItem& item : items) {
    if (item.mark != mark) continue;
    const int columns = ColumnsOf(DisplayText(MarkSign(mark).text + " " + item.text(), style));
    if (taken > 0 && taken + 2 + columns > box->inner_columns()) {
      box->Line(line);
      line.clear();
      taken = 0;
    }
    if (taken > 0) line.push_back({"  "});
    taken += columns + (taken > 0 ? 2 : 0);
    line.push_back(MarkSign(mark));
    line.push_back({" " + item.text(), mark == Mark::kGood ? Paint::kPlain : MarkSign(mark).paint});
  }
  if (taken > 0) box->Line(line);
}

}  // namespace

void AddFindings(const Json& document, TerminalBox* box) {
  const std::vector<VerdictGroup> groups = GroupVerdicts(document);
  bool has_saving = false;
  for (const VerdictGroup& group : groups) has_saving = has_saving || NumberField(*group.cause, "saving").has_value();
  box->Rule(has_saving ? "what to look at (right: share of the core-seconds)" : "what to look at");
  if (groups.empty()) box->Line({{"nothing stands out in what was measured", Paint::kDim}});
  size_t shown = 0;
  for (const VerdictGroup& group : groups) {
    if (shown++ == kMostFindings) break;
    AddFinding(*group.cause, box);
    for (const Json* symptom : group.symptoms) AddSymptom(*symptom, box);
  }
  if (groups.size() > kMostFindings) {
    box->Line({{fmt::format("{} more: crema verdict", groups.size() - kMostFindings), Paint::kDim}});
  }
}

void AddTrust(const Json& document, TerminalBox* box) {
  box->Rule("can I trust this?");
  const Json& quality = Field(document, "quality");
  const std::vector<TrustItem> items = TrustItems(document);
  if (items.empty()) box->Line({{"nothing is known about the quality of these figures", Paint::kWatch}});
  for (const Mark mark : {Mark::kBad, Mark::kWatch, Mark::kGood}) AddItems(items, mark, box);
  const Json& warnings = ListField(quality, "warnings");
  size_t shown = 0;
  for (const Json& warning : warnings) {
    if (!warning.is_string()) continue;
    if (shown++ == kMostFindings) break;
    const int indent = box->style().ascii ? 5 : 2;
    const std::vector<std::string> lines =
        Wrap(warning.get<std::string>(), box->inner_columns() - indent, box->style());
    for (size_t at = 0; at < lines.size(); ++at) {
      PaintedText sign = at == 0 ? MarkSign(Mark::kWatch) : PaintedText{};
      sign.text = Pad(sign.text, indent, Align::kLeft, box->style());
      box->Line({sign, {lines[at], Paint::kWatch}});
    }
  }
  if (warnings.size() > kMostFindings) {
    box->Line(
        {{fmt::format("{} more warnings: crema show --table quality", warnings.size() - kMostFindings), Paint::kDim}});
  }
  const Json& reasons = Field(quality, "not_measured");
  const size_t not_measured = reasons.is_object() ? reasons.size() : 0;
  if (not_measured > 0) {
    box->Line({{Counted(static_cast<double>(not_measured), "figure", "figures") +
                    " not measured; why: crema show --table quality",
                Paint::kDim}});
  }
}

}  // namespace crema
