// Memory that grows over time: how fast, and when its limit is reached. A measurement has the slope over events, too
// (`rss_slope`); this one is also known of a running job, and of memory that has nothing to do with events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

// docs/live.md, "What is measured how", says the same to users.
inline constexpr int64_t kMemorySpanNs = 120'000'000'000;  ///< of samples: older ones say little of the next minutes
inline constexpr int64_t kMemoryStepNs = 1'000'000'000;    ///< between samples that are read off a timeline
inline constexpr size_t kLeastMemoryPoints = 15;           ///< samples: a line through fewer follows single chunks
inline constexpr size_t kPartsOfMemory = 3;   ///< of the samples: the last part shows whether it still grows
inline constexpr double kLeastGrowth = 0.02;  ///< of the limit, within the span: caches move by less
inline constexpr double kLeastMemory = 0.5;   ///< of the limit: below it growth is the start of a job

/// Resident memory at a moment.
struct MemoryPoint {
  int64_t time_ns = 0;
  int64_t rss_bytes = 0;
};

/// Bytes a second. nullopt where memory does not grow, where too little is known, and where it is at its limit.
std::optional<double> GrowthOf(const std::vector<MemoryPoint>& memory, int64_t limit_bytes);

/// The same, in seconds until the limit is reached, counted from the last sample.
std::optional<double> SecondsToLimit(const std::vector<MemoryPoint>& memory, int64_t limit_bytes);

/// A worker's memory, what it allocated where that is known, in the last `kMemorySpanNs` of its life, read off at equal
/// steps: timelines have changes only.
std::vector<MemoryPoint> LastMemoryOf(const Measurement& measurement, std::string_view worker);

}  // namespace crema
