// The end of the summary: what to look at, and whether to believe it.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/grouped_verdicts.h"
#include "collector/insight/trust_items.h"
#include "collector/writers/display_text.h"
#include "collector/writers/summary_blocks.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kMostFindings = 5;

PaintedText SignOf(const VerdictRow& verdict) {
  const Text& severity = verdict.severity;
  if (severity == "good") return MarkSign(Mark::kGood);
  if (severity == "bad") return MarkSign(Mark::kBad);
  if (severity == "warning") return MarkSign(Mark::kWatch);
  return {"·", Paint::kDim};
}

/// What comes of the finding above it.
void AddSymptom(const VerdictRow& verdict, TerminalBox* box) {
  const int indent = box->style().ascii ? 8 : 5;
  const std::vector<std::string> lines = Wrap(verdict.sentence, box->inner_columns() - indent, box->style());
  for (size_t at = 0; at < lines.size(); ++at) {
    const std::string_view lead = at == 0 ? "└ " : "  ";
    box->Line({{Pad("", indent - 2, Align::kLeft, box->style()) + std::string(lead) + lines[at], Paint::kDim}});
  }
}

void AddFinding(const VerdictRow& verdict, TerminalBox* box) {
  constexpr int kSaving = 9;
  const TerminalStyle& style = box->style();
  PaintedText sign = SignOf(verdict);
  const int indent = style.ascii ? 6 : 3;
  sign.text = Pad(sign.text, indent, Align::kLeft, style);
  const int text_columns = box->inner_columns() - indent - kSaving;
  const std::vector<std::string> lines = Wrap(verdict.sentence, text_columns, style);
  for (size_t at = 0; at < lines.size(); ++at) {
    PaintedLine line = {at == 0 ? sign : PaintedText{std::string(static_cast<size_t>(indent), ' ')},
                        {Pad(lines[at], text_columns, Align::kLeft, style)}};
    if (at == 0 && verdict.saving.has_value()) {
      line.push_back({Pad("≈ " + HumanPercent(*verdict.saving), kSaving, Align::kRight, style), Paint::kBold});
    }
    box->Line(line);
  }
  for (const std::string& line : Wrap(verdict.suggestion, box->inner_columns() - indent, style)) {
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

void AddFindings(const Measurement& measurement, TerminalBox* box) {
  const std::vector<VerdictGroup> groups = GroupVerdicts(measurement);
  bool has_saving = false;
  for (const VerdictGroup& group : groups) has_saving = has_saving || group.cause->saving.has_value();
  box->Rule(has_saving ? "what to look at (right: share of the core-seconds)" : "what to look at");
  if (groups.empty()) box->Line({{"nothing stands out in what was measured", Paint::kDim}});
  size_t shown = 0;
  for (const VerdictGroup& group : groups) {
    if (shown++ == kMostFindings) break;
    AddFinding(*group.cause, box);
    for (const VerdictRow* symptom : group.symptoms) AddSymptom(*symptom, box);
  }
  if (groups.size() > kMostFindings) {
    box->Line({{fmt::format("{} more: crema verdict", groups.size() - kMostFindings), Paint::kDim}});
  }
}

void AddTrust(const Measurement& measurement, TerminalBox* box) {
  box->Rule("can I trust this?");
  const std::vector<TrustItem> items = TrustItems(measurement);
  if (items.empty()) box->Line({{"nothing is known about the quality of these figures", Paint::kWatch}});
  for (const Mark mark : {Mark::kBad, Mark::kWatch, Mark::kGood}) AddItems(items, mark, box);
  const std::vector<std::string>& warnings = measurement.quality.warnings;
  for (size_t shown = 0; shown < std::min(kMostFindings, warnings.size()); ++shown) {
    const int indent = box->style().ascii ? 5 : 2;
    const std::vector<std::string> lines = Wrap(warnings[shown], box->inner_columns() - indent, box->style());
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
  size_t not_measured = 0;
  for (const UnmeasuredFigures& figures : FindUnmeasured(measurement)) not_measured += figures.keys.size();
  if (not_measured > 0) {
    box->Line({{Counted(static_cast<double>(not_measured), "figure", "figures") +
                    " not measured; why: crema show --table quality",
                Paint::kDim}});
  }
}

}  // namespace crema
