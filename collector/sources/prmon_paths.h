// Finding the files that HSF prmon leaves of a job.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace crema {

/// The files of one job; either may be empty.
struct PrmonPaths {
  /// `prmon.txt`, ATLAS's `prmon.full.STEP` and `memory_monitor_output.txt`: a row each interval.
  std::string text;
  /// `prmon.json`, `prmon.summary.STEP.json`, `memory_monitor_summary.json`: maxima and averages, written at the end;
  /// where there is none, `prmon.json_snapshot`, written while the job runs.
  std::string summary;
};

/// The jobs whose files a directory holds, by name. `prmon~2.txt` belongs to `prmon~2.json`: a measurement of several
/// jobs keeps them under such names.
std::vector<PrmonPaths> FindPrmonFiles(const std::string& directory);

/// The job of one file, named as above, or whatever begins as one; nullopt: it is none of prmon's.
std::optional<PrmonPaths> PrmonFilesOf(const std::string& file);

/// Whether a summary is of a job that had not ended.
bool IsPrmonSnapshot(const std::string& summary);

}  // namespace crema
