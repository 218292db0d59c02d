// prmon's quantities by name, in base units.
#ifndef CREMA_COLLECTOR_SOURCES_PRMON_PRMON_FIELDS_H_
#define CREMA_COLLECTOR_SOURCES_PRMON_PRMON_FIELDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collector/records/tree_facts.h"

namespace crema {

/// Values of one row, or of the summary's `Max`, under prmon's names and in prmon's units (s, kB, B).
using PrmonValues = std::map<std::string, int64_t, std::less<>>;

/// What they say of the tree; absent: they do not hold it.
TreeTotals TotalsOf(const PrmonValues& values);

/// One row as a sample. What it does not hold is 0 here, as a sample cannot tell: `TotalsOf` can.
TreeSampleFact SampleOf(const PrmonValues& row);

/// prmon's name of a quantity, by the name that ATLAS's MemoryMonitor, which came before it, has for it.
std::string NowCalled(const std::string& name);

/// Seconds since the job's start.
std::optional<int64_t> WallSeconds(const PrmonValues& values);

/// Raises each of `largest` to the value in `values`.
void RaiseTo(const PrmonValues& values, PrmonValues* largest);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PRMON_PRMON_FIELDS_H_
