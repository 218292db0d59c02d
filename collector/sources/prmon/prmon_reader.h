// Reads what HSF prmon wrote of a job (https://github.com/HSF/prmon) as a process tree.
#pragma once

#include "collector/sources/prmon_paths.h"
#include "collector/sources/process_tree/tree_log.h"

namespace crema {

/// Rows become samples; totals are the largest values of rows and of the summary's `Max`, in base units (prmon's kB are
/// 1024 bytes). Not taken over: the summary's averages, of which those of I/O and network are 100 times too large in
/// prmon 3.3.0, and the network, which is of all devices of the host. A column that is missing (its monitor was off) is
/// unknown. Bad rows are counted and named. Times of day come from the rows; without them the summary's file shows when
/// the job ended. Errors: a file that cannot be read, or is not prmon's.
absl::StatusOr<TreeLogReading> ReadPrmon(const PrmonPaths& paths, const OnTreeSample& on_sample = {});

}  // namespace crema
