// The timeline of chunks for a picture of fixed size: boxes of one dataset each, as many as can be seen.
#pragma once

#include "collector/detail/run_detail.h"

namespace crema {

/// A box in a row of the timeline.
struct LaneCell {
  uint32_t row = 0;
  double start_seconds = 0;
  double stop_seconds = 0;
  uint32_t slot = 0;           ///< of its dataset (`SlotOf`)
  double waiting_seconds = 0;  ///< of it; 0 where it is not known
  double busy_share = 1;       ///< of the row, in this time
};

struct LaneCells {
  std::vector<LaneCell> cells;
  bool is_exact = true;  ///< every attempt that ended has its own cell
};

/// Each attempt where there are at most `most`; else equal parts of time, each with the dataset that was busy longest
/// in it, equal neighbours merged, in parts as fine as `most` allows.
LaneCells LaneCellsOf(const RunDetail& detail, size_t most);

}  // namespace crema
