// A measurement: the finished document of one run (measure.h makes it, measurement_directory.h keeps it).
#ifndef CREMA_COLLECTOR_METRICS_MEASUREMENT_H_
#define CREMA_COLLECTOR_METRICS_MEASUREMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "collector/document/measurement_schema.h"  // IWYU pragma: export
#include "collector/engines/engines.h"
#include "collector/sources/coffea_report.h"
#include "nlohmann/json.hpp"

namespace crema {

/// `document` is what measurement.json holds (docs/measurements.md), keys in the order in which people read them.
struct Measurement {
  nlohmann::ordered_json document;
  /// The logs it was made from (`*.jsonl`, `*.tree.ndjson`), to be kept beside the document; empty when loaded.
  std::vector<std::string> log_paths;
  /// Logs of engines that have other names than those by which they are found again.
  std::vector<EngineLog> engine_logs;
  /// Coffea's files that it was made from, kept with the logs.
  std::vector<CoffeaFile> coffea_files;
  /// Whatever holds the logs as long as they may be kept: a directory that was made for them.
  std::shared_ptr<void> holder;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_MEASUREMENT_H_
