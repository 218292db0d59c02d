// A measurement from finished figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/measurement/run_facts.h"
#include "collector/metrics/read_records.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// What reading the sources came to; kept apart from the figures, which know no files.
struct ReadingQuality {
  int64_t records_read = 0;
  int64_t records_malformed = 0;
  int64_t records_torn = 0;
  int64_t records_unknown = 0;
  int64_t logs_left_out = 0;  ///< whole
  int64_t logs_damaged = 0;   ///< not read to their end
  int64_t logs_missing = 0;   ///< gone since their measurement was made
  std::vector<std::string> warnings;
};

Quality JudgeQuality(const RunFigures& figures, ReadingQuality reading);

/// Where a measurement comes from.
struct RunProvenance {
  std::vector<std::string> sources;
  std::string host;        ///< on which it was made
  int64_t created_ns = 0;  ///< Unix time
  std::string run_name;
  std::string failure;  ///< the exception that ended the program or the block; empty: none
  std::optional<int64_t> exit_status;
};

/// Everything but verdicts, which insight adds. Measurements of the same records differ in `provenance` only.
/// `straggler_ranges`: of the stragglers that get a row.
Measurement Assemble(RunFigures figures, Quality quality, const std::vector<EntryRange>& straggler_ranges,
                     const RunProvenance& provenance);

}  // namespace crema
