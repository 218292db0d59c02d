// The terminal summary: its blocks in order.
#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/tree_figures.h"
#include "collector/writers/summary_blocks.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"
#include "fmt/format.h"

namespace crema {

std::string RenderSummary(const Measurement& measurement, const TerminalStyle& style) {
  TerminalBox box(style);
  AddHead(measurement, &box);
  AddKeyFigures(measurement, &box);
  std::vector<std::string> left_out;
  auto note = [&left_out](std::string_view block, const std::string& reason) {
    if (!reason.empty()) left_out.push_back(fmt::format("{}: {}", block, reason));
  };
  note("core-second budget", AddBudget(measurement, &box));
  note("sections", AddSections(measurement, &box));
  note("over time", AddOverTime(measurement, &box));
  note("datasets", AddDatasets(measurement, &box));
  AddCutFlow(measurement, &box);
  if (!left_out.empty()) box.Rule("not shown");
  if (IsProcessTreeOnly(measurement)) {
    box.Paragraph(fmt::format("crema::TrackMetrics {}", kWhatGuardsAdd), Paint::kDim);
  } else {
    for (const std::string& line : left_out) box.Paragraph(line, Paint::kDim);
  }
  AddFindings(measurement, &box);
  AddTrust(measurement, &box);
  return box.Close();
}

}  // namespace crema
