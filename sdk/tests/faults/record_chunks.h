// RecordChunks: the smallest analysis that most faults need.
#pragma once

#include "crema/crema.h"

namespace crema {
namespace testing {

/// Records this many chunks, with a section each.
inline void RecordChunks(int chunks, const char* dataset = "ttbar") {
  for (int i = 0; i < chunks; ++i) {
    TrackMetrics metrics({dataset, "/data/events.root", i, i + 1});
    TrackSection section("read");
  }
}

}  // namespace testing
}  // namespace crema
