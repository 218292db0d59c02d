// A process tree in the two files of HSF prmon, for programs that read those (prmon_plot.py, ATLAS's job monitoring).
#ifndef CREMA_COLLECTOR_EXPORTS_PRMON_H_
#define CREMA_COLLECTOR_EXPORTS_PRMON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/records/tree_facts.h"
#include "crema/version.h"

namespace crema {

/// One tree: what it came to, and how it got there.
struct PrmonSeries {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  TreeTotals totals;
  std::vector<TreeSampleFact> samples;
};

struct PrmonTexts {
  std::string rows;     ///< prmon.txt
  std::string summary;  ///< prmon.json
};

/// prmon's names, units (s, kB of 1024 bytes, B) and whole numbers, rounded and not cut. Rows are the samples, PSS as
/// it was last read, and one at the end with the kernel's own totals. `Max` of a counter is its total; `Avg` is the
/// time average of what was held, and total / wall time of a counter. What was not measured is left out, as prmon does
/// for a monitor that is off: `vmem`, packets, the machine's `HW`; so are columns that the totals lack.
PrmonTexts RenderPrmon(const PrmonSeries& series);

/// Stands in the summary, `prmon.Version`: tells crema's files from prmon's.
inline constexpr char kPrmonWriter[] = "crema " CREMA_VERSION_STRING;

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_PRMON_H_
