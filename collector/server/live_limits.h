// From where on the live page warns of a worker: each number with its reason. docs/live.md, "What is measured how",
// says the same to users.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_LIMITS_H_
#define CREMA_COLLECTOR_SERVER_LIVE_LIMITS_H_

#include <cstdint>

namespace crema {

// Memory that grows: what counts as growth stands in collector/insight/memory_growth.h.
inline constexpr double kSoonSeconds = 600;  ///< to the limit: time enough to do something about it

// A worker that is slow: kSpellFactor (slow_spells.h) as for the verdict slow-spell, where the last minute has many
// chunks of it; with more tolerance where it has few.
inline constexpr double kSlowFactor = 2;      ///< of few: times what chunks of this dataset and size take elsewhere
inline constexpr double kNormalFactor = 1.3;  ///< well below both, so that it does not go to and fro
inline constexpr int64_t kLeastChunks = 5;    ///< in the last minute: the mean of fewer may be one slow chunk
inline constexpr int64_t kManyChunks = 20;    ///< in the last minute: their mean is no one chunk's

/// What goes on is said anew so often: what changes each second cannot be read.
inline constexpr int64_t kUpdateSeconds = 5;

/// A clock that differs by more from what passed was set by somebody: a late tick differs by less.
inline constexpr int64_t kLeastJumpNs = 2'000'000'000;

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_LIMITS_H_
