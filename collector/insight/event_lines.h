// What terminal and page say first of events that go from thread to thread.
#ifndef CREMA_COLLECTOR_INSIGHT_EVENT_LINES_H_
#define CREMA_COLLECTOR_INSIGHT_EVENT_LINES_H_

#include <string>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

/// Two lines for each of the first datasets: how many events a second, and in flight; and where their latency went.
/// Empty where no event was recorded.
std::vector<std::string> EventLines(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_EVENT_LINES_H_
