// Finding the files that HSF prmon leaves of a job.
#ifndef CREMA_COLLECTOR_SOURCES_PRMON_PATHS_H_
#define CREMA_COLLECTOR_SOURCES_PRMON_PATHS_H_

#include <optional>
#include <string>
#include <vector>

namespace crema {

/// The files of one job; either may be empty.
struct PrmonPaths {
  std::string text;     ///< `prmon.txt`, ATLAS's `memory_monitor_output.txt`: a row each interval
  std::string summary;  ///< `prmon.json`, `memory_monitor_summary.json`: maxima and averages, written at the end
};

/// The jobs whose files a directory holds, by name. `prmon~2.txt` belongs to `prmon~2.json`: a measurement of several
/// jobs keeps them under such names.
std::vector<PrmonPaths> FindPrmonFiles(const std::string& directory);

/// The job of one file, named as above or anything else that ends in `.txt`; nullopt: its name is no prmon file's.
std::optional<PrmonPaths> PrmonFilesOf(const std::string& file);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PRMON_PATHS_H_
