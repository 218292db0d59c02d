// The bounds of the run: every time average and the budget are clipped to it.
#ifndef CREMA_COLLECTOR_METRICS_RUN_WINDOW_H_
#define CREMA_COLLECTOR_METRICS_RUN_WINDOW_H_

#include <algorithm>
#include <cstdint>

namespace crema {

/// Half-open, Unix nanoseconds.
struct RunWindow {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;

  double seconds() const { return static_cast<double>(stop_ns - start_ns) / 1e9; }
  int64_t Clip(int64_t time_ns) const { return std::clamp(time_ns, start_ns, std::max(start_ns, stop_ns)); }
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_RUN_WINDOW_H_
