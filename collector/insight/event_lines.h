// What terminal and page say first of events that go from thread to thread.
#pragma once

#include <string>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

/// Two lines for each of the first datasets: how many events a second, and in flight; and where their latency went.
/// Empty where no event was recorded.
std::vector<std::string> EventLines(const Measurement& measurement);

}  // namespace crema
