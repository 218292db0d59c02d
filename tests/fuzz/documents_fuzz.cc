// Documents of any bytes: each reader refuses or reads them, and everything that crema makes of a measurement copes
// with an invented one. The first byte chooses the reader.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/statusor.h"
#include "collector/comparison/comparison.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/exports/export_format.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/sources/roastcoffea/roastcoffea.h"
#include "collector/terminal/terminal.h"
#include "nlohmann/json.hpp"
#include "tests/fuzz/scratch_directory.h"

namespace crema {
namespace {

void ShowAll(const Measurement& measurement) {
  TerminalStyle style;
  for (const int width : {40, 100}) {
    style.width = width;
    RenderSummary(measurement, style);
    for (const std::string_view table : TableNames()) RenderTable(measurement, table, style).IgnoreError();
  }
  RenderMetric(measurement, "wall_time", style).IgnoreError();
  RenderVerdicts(Headline(measurement), VerdictRows(Judge(measurement)), style);
  const Comparison comparison = Compare({&measurement, &measurement});
  RenderComparison(comparison, {}, style);
  ComparisonAsJson(comparison);
}

void ExportAll(const Measurement& measurement) {
  const ExportSource source{measurement, [](const OnAttempt&) { return absl::OkStatus(); },
                            [](const OnTask&) { return absl::OkStatus(); },
                            [] { return absl::StatusOr<RecordLogs>(RecordLogs()); }};
  for (const ExportFormat& format : ExportFormats()) {
    const std::string path = ScratchDirectory() + "/export_" + std::string(format.name);
    Export(format, source, path, /*force=*/true).IgnoreError();
  }
}

void ReadMeasurement(std::string_view text) {
  WriteScratch("measurement/measurement.json", text);
  absl::StatusOr<MeasuredRun> measured = LoadMeasurement(ScratchDirectory() + "/measurement");
  if (!measured.ok()) return;
  ShowAll(measured->measurement);
  ExportAll(measured->measurement);
  AddInsight(&measured->measurement);
  JsonOf(measured->measurement).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Everything that `crema collect` makes of a source.
void Collect(const std::string& path) {
  MeasureOptions options;
  options.sources = {path};
  options.run = "all";
  absl::StatusOr<MeasuredRun> measured = Measure(options);
  if (!measured.ok()) return;
  AddInsight(&measured->measurement);
  ShowAll(measured->measurement);
}

void ReadReport(std::string_view text) {
  MeasureOptions options;
  options.coffea_reports = {WriteScratch("report.json", text)};
  Measure(options).IgnoreError();
}

void ReadByDataset(std::string_view text) {
  MeasureOptions options;
  options.metrics_by_dataset = {WriteScratch("by_dataset.json", text)};
  Measure(options).IgnoreError();
}

void ReadRoastcoffeaMeasurement(std::string_view metrics) {
  const std::string directory = ScratchDirectory() + "/roastcoffea";
  const std::string records = directory + "/records";
  std::error_code error;
  std::filesystem::remove_all(records, error);
  std::filesystem::create_directories(records);
  WriteScratch("roastcoffea/metrics.json", metrics);
  WriteScratch("roastcoffea/start_end_time.txt", "1795289000.0,1795289060.0");
  const absl::StatusOr<RoastcoffeaMeasurement> read = ReadRoastcoffea(directory);
  if (!read.ok()) return;
  const absl::StatusOr<RoastcoffeaRecords> chunks = WriteRoastcoffeaRecords(*read, records);
  if (!chunks.ok()) return;
  MeasureOptions options;
  options.sources = {records};
  absl::StatusOr<MeasuredRun> measured = Measure(options);
  if (!measured.ok()) return;
  AddRoastcoffeaFigures(*read, *chunks, &measured->measurement);
  AddInsight(&measured->measurement);
  ShowAll(measured->measurement);
}

}  // namespace
}  // namespace crema

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crema;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'm':
      ReadMeasurement(text);
      break;
    case 'c':
      ReadReport(text);
      break;
    case 'd':
      ReadByDataset(text);
      break;
    case 'p':
      Collect(WriteScratch("prmon/prmon.txt", text));
      break;
    case 'j':
      Collect(WriteScratch("summary/prmon.json", text));
      break;
    case 't':
      Collect(WriteScratch("host-1.tree.ndjson", text));
      break;
    case 'r':
      ReadRoastcoffeaMeasurement(text);
      break;
    default:
      break;
  }
  return 0;
}
