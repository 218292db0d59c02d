// The tables of a run's summary, which the terminal and a notebook show: rows, and what a bar beside each stands for.
#ifndef CREMA_COLLECTOR_WRITERS_SUMMARY_TABLES_H_
#define CREMA_COLLECTOR_WRITERS_SUMMARY_TABLES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/writers/text_table.h"

namespace crema {

struct BarOfRow {
  double share = 0;  ///< of the longest bar
  Paint paint = Paint::kCompute;
  std::string below = "";       ///< a line under the row: what it consists of
  std::string instead_of = "";  ///< why there is no bar
};

struct SummaryTable {
  std::string_view name;  ///< of `crema show --table`
  std::string title = "";
  std::string_view bars_are = "";  ///< what bars are shares of, where a title has to say so
  std::string why_not = "";        ///< why there are no rows
  TextTable text = {};
  std::vector<BarOfRow> bars = {};  ///< one a row, or none
  size_t left_out = 0;              ///< rows beyond those that a summary shows
};

/// The core-seconds by the groups of the budget. Its title says of what cores, if it `has_room`.
SummaryTable BudgetSummary(const Measurement& measurement, bool has_room = true);

/// `waiting for a CPU, inside these times: 1.2 s (16 %)`: how long the sections waited during their own times. Empty if
/// they hardly waited.
std::string WaitInsideSections(const Measurement& measurement);

/// By own time, the slowest first; `(other)` is always among them: without it the shares would not add up.
SummaryTable SectionSummary(const Measurement& measurement);

SummaryTable DatasetSummary(const Measurement& measurement);

SummaryTable WorkerSummary(const Measurement& measurement);

SummaryTable CutSummary(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_SUMMARY_TABLES_H_
