#include "collector/report/report_writer.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/charts/chart.h"
#include "collector/detail/run_detail.h"
#include "collector/report/report_page.h"

namespace crema {
namespace {

std::string_view FamilyOf(std::string_view name) {
  for (const ChartKind& kind : ChartKinds()) {
    if (kind.name == name) return kind.family;
  }
  return name.substr(0, 7) == "custom_" ? "Custom metrics" : "Comparison";
}

std::vector<PageChart> DrawCharts(const ChartInput& input) {
  std::vector<PageChart> charts;
  for (const std::string& name : ChartNames(input)) {
    absl::StatusOr<Chart> chart = MakeChart(name, input);
    if (!chart.ok() || FamilyOf(name) == "Comparison") continue;
    charts.push_back({std::string(FamilyOf(name)), *std::move(chart)});
  }
  return charts;
}

absl::Status WriteReport(const ExportSource& source, const std::string&, TextSink* sink) {
  const RunDetail detail = ReadRunDetail(source.document, source.for_each_attempt, {}, source.for_each_task);
  ChartInput input;
  input.document = &source.document;
  input.detail = &detail;
  std::optional<RunDetail> baseline_detail;
  if (source.baseline != nullptr) {
    baseline_detail = ReadRunDetail(source.baseline->document, source.baseline->for_each_attempt);
    input.baseline = &source.baseline->document;
    input.baseline_detail = &*baseline_detail;
  }
  const nlohmann::ordered_json config = {{"light", ChartConfig(ChartTheme::kLight)},
                                         {"dark", ChartConfig(ChartTheme::kDark)}};
  sink->Write(ReportPage(source.document, detail, DrawCharts(input), config, input.baseline));
  return absl::OkStatus();
}

}  // namespace

const ExportFormat& ReportFormat() {
  static constexpr ExportFormat kFormat = {"report", "one offline page", WriteReport,
                                           nullptr,  IsReportPage,       "crema report"};
  return kFormat;
}

}  // namespace crema
