#include "collector/report/report_writer.h"

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart.h"
#include "collector/charts/prediction_chart.h"
#include "collector/charts/scaling_chart.h"
#include "collector/detail/run_detail.h"
#include "collector/exports/sampled_stacks.h"
#include "collector/prediction/prediction.h"
#include "collector/report/report_page.h"
#include "collector/report/stack_flames.h"
#include "collector/scaling/scaling_study.h"
#include "fmt/format.h"

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

// Replaying more takes longer than anybody waits for a page.
constexpr double kMostReplayed = 200'000;

RunOutlook RefusedOutlook(const std::string& reason) {
  return {{{"predicted", nlohmann::ordered_json::array()}, {"refused", reason}}, {}};
}

RunOutlook LookOut(const ExportSource& source) {
  const double chunks = source.measurement.Metric("num_attempts").value_or(0);
  if (chunks > kMostReplayed) {
    return RefusedOutlook(fmt::format("it has {}; crema predict replays them, which takes longer",
                                      Counted(chunks, "attempt", "attempts")));
  }
  const std::string section = LargestSection(source.measurement);
  RunObserver observer(section);
  const absl::Status read = source.for_each_attempt([&observer](const Attempt& attempt) { observer.Add(attempt); });
  if (!read.ok()) return RefusedOutlook(std::string(read.message()));
  const ObservedRun run = observer.Finish(source.measurement);
  RunOutlook outlook = {PredictionJson(Predict(run, UsualChanges(run, section))),
                        ScalingAsJson(PredictScaling(source.measurement, run))};
  SortBestFirst(&outlook.prediction);
  return outlook;
}

/// Null: the document tells of no functions, or the records are gone.
nlohmann::ordered_json ReadFlames(const ExportSource& source) {
  if (source.measurement.functions.empty()) return nullptr;
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  return stacks.ok() ? FlamesOf(*stacks) : nlohmann::ordered_json();
}

absl::Status WriteReport(const ExportSource& source, const std::string&, TextSink* sink) {
  // It reads the records by itself. Where the system refuses a thread, it is done later.
  std::future<RunOutlook> looks_out =
      std::async(std::launch::async | std::launch::deferred, [&source] { return LookOut(source); });
  const RunDetail detail = ReadRunDetail(source.measurement, source.for_each_attempt, {}, source.for_each_task);
  ChartInput input;
  input.measurement = &source.measurement;
  input.detail = &detail;
  std::optional<RunDetail> baseline_detail;
  if (source.baseline != nullptr) {
    baseline_detail = ReadRunDetail(source.baseline->measurement, source.baseline->for_each_attempt);
    input.baseline = &source.baseline->measurement;
    input.baseline_detail = &*baseline_detail;
  }
  const nlohmann::ordered_json flames = ReadFlames(source);
  const RunOutlook outlook = looks_out.get();
  std::vector<PageChart> charts = DrawCharts(input);
  charts.push_back({"What would help", MakePredictionChart(outlook.prediction)});
  charts.push_back({"What would help", MakeScalingChart(outlook.scaling)});
  const nlohmann::ordered_json config = {{"light", ChartConfig(ChartTheme::kLight)},
                                         {"dark", ChartConfig(ChartTheme::kDark)}};
  sink->Write(ReportPage(source.measurement, detail, charts, config, input.baseline, kLargestPage, &outlook,
                         flames.is_null() ? nullptr : &flames));
  return absl::OkStatus();
}

}  // namespace

const ExportFormat& ReportFormat() {
  static constexpr ExportFormat kFormat = {"report", "one offline page", WriteReport,
                                           nullptr,  IsReportPage,       "crema report"};
  return kFormat;
}

}  // namespace crema
