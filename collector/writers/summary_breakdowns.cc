// The blocks of the summary that divide something up: core-seconds, chunk time, datasets, events.
#include <string>

#include "collector/writers/summary_blocks.h"
#include "collector/writers/summary_tables.h"
#include "collector/writers/terminal_bars.h"
#include "collector/writers/text_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int kLeastBar = 10;

/// The table, with a bar a row, where it has any, in what room it leaves. Why it was left out.
std::string Draw(const SummaryTable& table, TerminalBox* box) {
  if (!table.why_not.empty()) return table.why_not;
  box->Rule(table.bars_are.empty() ? table.title : fmt::format("{} (bars: {})", table.title, table.bars_are));
  const bool has_bars = box->has_bars() && !table.bars.empty();
  const LaidOutTable laid_out = LayOut(table.text, box->inner_columns() - (has_bars ? kLeastBar + 2 : 0), box->style());
  const int columns = box->inner_columns() - laid_out.columns - 2;
  const size_t header = laid_out.lines.size() - table.text.rows.size();
  for (size_t at = 0; at < laid_out.lines.size(); ++at) {
    PaintedLine line = laid_out.lines[at];
    const BarOfRow bar = at < header || table.bars.empty() ? BarOfRow() : table.bars[at - header];
    if (at >= header && has_bars) {
      line.push_back({"  "});
      line.push_back({Bar(bar.share, columns, box->style()), bar.paint});
      line.push_back({bar.instead_of, Paint::kDim});
    }
    box->Line(line);
    if (!bar.below.empty()) box->Line({{"  " + bar.below, Paint::kDim}});
  }
  if (table.left_out > 0) {
    box->Line({{fmt::format("{} more: crema show --table {}", table.left_out, table.name), Paint::kDim}});
  }
  return "";
}

}  // namespace

std::string AddBudget(const Measurement& measurement, TerminalBox* box) {
  return Draw(BudgetSummary(measurement, box->has_bars()), box);
}

std::string AddSections(const Measurement& measurement, TerminalBox* box) {
  return Draw(SectionSummary(measurement), box);
}

std::string AddDatasets(const Measurement& measurement, TerminalBox* box) {
  return Draw(DatasetSummary(measurement), box);
}

void AddCutFlow(const Measurement& measurement, TerminalBox* box) { Draw(CutSummary(measurement), box); }

}  // namespace crema
