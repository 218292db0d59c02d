// A measurement with what it was made from (measure.h makes it, measurement_directory.h keeps it).
#ifndef CREMA_COLLECTOR_METRICS_MEASURED_RUN_H_
#define CREMA_COLLECTOR_METRICS_MEASURED_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/sources/coffea_report.h"

namespace crema {

struct MeasuredRun {
  Measurement measurement;
  /// What the file holds, where it was read from one: keys of a newer crema are in it, too.
  std::string text;
  /// The logs it was made from (`*.jsonl`, `*.tree.ndjson`), to be kept beside the document; empty when loaded.
  std::vector<std::string> log_paths;
  /// Coffea's files that it was made from, kept with the logs.
  std::vector<CoffeaFile> coffea_files;
  /// Whatever holds the logs as long as they may be kept: a directory that was made for them.
  std::shared_ptr<void> holder;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_MEASURED_RUN_H_
