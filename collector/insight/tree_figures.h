// What is known of a command that recorded no chunk: the figures of its processes, and what its cores did.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "collector/insight/key_figure_rows.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// Whether all that is known is a process tree: no chunk, no worker, no engine.
bool IsProcessTreeOnly(const Measurement& measurement);

/// The figures of such a document: elapsed time, CPU efficiency of the job, CPU time, memory, bytes read and written,
/// processes, page faults.
std::vector<KeyFigureRow> TreeFigureRows(const Measurement& measurement);

/// Whether there is only a log of an engine, and no record of any process.
bool IsEngineLogOnly(const Measurement& measurement);

/// The key figures of such a run.
std::vector<KeyFigureRow> EngineLogFigureRows(const Measurement& measurement);

/// The metric of what all processes used at most: older measurements only know it with shared pages in each of them.
std::string_view TreeMemoryKey(const Measurement& measurement);

/// Names of the parts of its budget.
inline constexpr std::string_view kTreeProgram = "CPU in the program", kTreeKernel = "CPU in the kernel",
                                  kTreeWait = "Waiting for a CPU";

/// A use of the cores that a command was given.
struct TreeBudgetPart {
  std::string_view name;
  std::string_view colour;  ///< of the table of colours
  double core_seconds = 0;
  double share = 0;  ///< the parts' add up to 1
};

struct TreeBudget {
  double cores = 0;
  double core_seconds = 0;  ///< cores x wall time; of a command that used more, what it used
  std::vector<TreeBudgetPart> parts;

  /// Share of one part; 0 where there is none.
  double Share(std::string_view part) const;
};

/// Seconds for which threads of the command's processes were ready to run and had no CPU, as far as samples show it.
double TreeCpuWait(const Measurement& measurement);

/// nullopt where CPU time, cores or wall time are not known.
std::optional<TreeBudget> ReadTreeBudget(const Measurement& measurement);

/// The guard for a chunk in the language of the command: `crema::TrackMetrics`, or `@crema_hep.track_metrics`.
std::string_view GuardOfChunks(const Measurement& measurement);

/// What a command without chunks does not record; it follows the name of the guard.
inline constexpr std::string_view kWhatGuardsAdd =
    "around a chunk of work adds a timeline of all threads, where time goes, sections, event rates, datasets, cuts and "
    "failures.";

}  // namespace crema
