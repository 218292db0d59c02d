// List scheduling: chunks, in their order, on the lane that is free first.
#ifndef CREMA_COLLECTOR_PREDICTION_REPLAY_H_
#define CREMA_COLLECTOR_PREDICTION_REPLAY_H_

#include <cstdint>
#include <vector>

namespace crema {

/// Seconds. A chunk takes `fixed` whatever else runs, and `cpu` core-seconds, at most one core at a time.
struct ReplayChunk {
  double fixed = 0;
  double cpu = 0;
  uint32_t phase = 0;  ///< a phase begins when the one before has ended
};

struct ReplayLane {
  double from = 0;  ///< seconds since the run's start
  double until = 0;
};

struct ReplaySetup {
  std::vector<ReplayLane> lanes;
  /// 0: every lane has what its chunks need, and a chunk takes `fixed + cpu`; else the cores that all lanes share.
  double shared_cores = 0;
  std::vector<ReplayChunk> chunks;
  std::vector<double> gaps;     ///< before each chunk that is not the first of its lane: one of these, by `seed`
  std::vector<double> between;  ///< before each phase but the first
  double shutdown = 0;
};

struct ReplayResult {
  double wall_time = 0;
  double busy = 0;          ///< lane-seconds
  double lane_seconds = 0;  ///< that there were
  bool finished = true;     ///< false: all lanes had left before the work was done
};

/// The same for the same seed.
ReplayResult Replay(const ReplaySetup& setup, uint64_t seed);

}  // namespace crema

#endif  // CREMA_COLLECTOR_PREDICTION_REPLAY_H_
