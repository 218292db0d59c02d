#include "collector/writers/terminal.h"

namespace crema {

std::string RenderSummary(const nlohmann::ordered_json&, const TerminalStyle&) { return "\n"; }

std::vector<std::string_view> TableNames() { return {}; }

absl::StatusOr<std::string> RenderTable(const nlohmann::ordered_json&, std::string_view, const TerminalStyle&) {
  return absl::UnimplementedError("tables are not written yet");
}

absl::StatusOr<std::string> RenderMetric(const nlohmann::ordered_json&, std::string_view, const TerminalStyle&) {
  return absl::UnimplementedError("metrics are not written yet");
}

}  // namespace crema
