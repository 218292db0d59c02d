// `crema export --to prmon`.
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/exports/formats.h"
#include "collector/exports/prmon.h"
#include "collector/sources/prmon/prmon_reader.h"
#include "collector/sources/process_tree/tree_log_reader.h"
#include "fmt/format.h"

namespace crema {
namespace {

// The run of the measurement, where the logs hold trees of others too.
bool IsOf(const TreeRunFact& run, const Measurement& measurement) {
  const Text& id = measurement.run.id;
  return run.run_id.empty() || !id.has_value() || id == run.run_id;
}

absl::StatusOr<PrmonSeries> ReadSeries(const ExportSource& source) {
  const absl::StatusOr<RecordLogs> logs = source.find_logs();
  if (!logs.ok()) return logs.status();
  std::vector<PrmonSeries> trees;
  absl::Status unread;
  const auto add = [&](const auto& read) {
    PrmonSeries series;
    absl::StatusOr<TreeLogReading> reading =
        read([&series](const TreeSampleFact& sample) { series.samples.push_back(sample); });
    if (!reading.ok()) {
      unread = reading.status();
      return;
    }
    const TreeRun& run = reading->run;
    if (!IsOf(run.run, source.measurement)) return;
    series.start_ns = run.run.start_ns;
    series.stop_ns = run.end.has_value() ? run.end->time_ns : run.last_ns;
    series.totals = run.totals;
    trees.push_back(std::move(series));
  };
  for (const std::string& path : logs->tree_logs) {
    add([&path](const OnTreeSample& on_sample) { return ReadTreeLog(path, on_sample); });
  }
  for (const PrmonPaths& paths : logs->prmon) {
    add([&paths](const OnTreeSample& on_sample) { return ReadPrmon(paths, on_sample); });
  }
  if (trees.size() == 1) return std::move(trees.front());
  if (trees.empty() && !unread.ok()) return unread;
  if (trees.empty()) {
    return absl::NotFoundError(
        "no process tree was sampled; prmon's files tell of one: run the command under `crema run`");
  }
  return absl::FailedPreconditionError(fmt::format(
      "{} process trees were sampled and prmon's files hold one; export each from its own directory", trees.size()));
}

}  // namespace

absl::Status WritePrmon(const ExportSource& source, const std::string& directory) {
  const absl::StatusOr<PrmonSeries> series = ReadSeries(source);
  if (!series.ok()) return series.status();
  const PrmonTexts texts = RenderPrmon(*series);
  for (const auto& [name, text] : {std::pair("prmon.txt", &texts.rows), std::pair("prmon.json", &texts.summary)}) {
    if (absl::Status written = WriteTextFile(directory + "/" + name, *text); !written.ok()) return written;
  }
  return absl::OkStatus();
}

}  // namespace crema
