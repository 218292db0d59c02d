// The terminal summary: its blocks in order.
#include <string>

#include "collector/writers/summary_blocks.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"

namespace crema {

std::string RenderSummary(const nlohmann::ordered_json& document, const TerminalStyle& style) {
  TerminalBox box(style);
  AddHead(document, &box);
  AddKeyFigures(document, &box);
  AddBudget(document, &box);
  AddSections(document, &box);
  AddOverTime(document, &box);
  AddDatasets(document, &box);
  AddCutFlow(document, &box);
  AddFindings(document, &box);
  AddTrust(document, &box);
  return box.Close();
}

}  // namespace crema
