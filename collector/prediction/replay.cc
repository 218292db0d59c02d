#include "collector/prediction/replay.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <random>
#include <utility>

namespace crema {
namespace {

// What is in work on a lane, for the case that lanes share cores: of its progress (0 to 1), a part needs a core.
struct Working {
  double whole = 0;      ///< duration with a core of its own
  double cpu_share = 0;  ///< of it
  double left = 1;
  size_t lane = 0;
};

// How many times as long the CPU parts take, so that all together need no more than the cores.
double StretchOf(const std::vector<Working>& working, double cores) {
  const auto demand = [&working](double stretch) {
    double sum = 0;
    for (const Working& chunk : working) sum += chunk.cpu_share / (1 - chunk.cpu_share + chunk.cpu_share * stretch);
    return sum;
  };
  if (demand(1) <= cores) return 1;
  double low = 1, high = 2;
  while (demand(high) > cores) high *= 2;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (demand(middle) > cores ? low : high) = middle;
  }
  return high;
}

class Replayer {
 public:
  Replayer(const ReplaySetup& setup, uint64_t seed) : setup_(setup), random_(seed) {
    for (size_t i = 0; i < setup.lanes.size(); ++i) free_.emplace(setup.lanes[i].from, i);
    used_.resize(setup.lanes.size(), false);
  }

  ReplayResult Run() {
    size_t next = 0;
    double phase_begin = 0;
    for (uint32_t phase = 0; next < setup_.chunks.size(); ++phase) {
      size_t end = next;
      while (end < setup_.chunks.size() && setup_.chunks[end].phase == phase) ++end;
      const bool done = setup_.shared_cores > 0 ? RunShared(next, end, phase_begin) : RunFree(next, end, phase_begin);
      if (!done) {
        result_.finished = false;
        break;
      }
      next = end;
      phase_begin = last_stop_ + (phase < setup_.between.size() ? setup_.between[phase] : 0);
    }
    result_.wall_time = last_stop_ + setup_.shutdown;
    for (const ReplayLane& lane : setup_.lanes) {
      result_.lane_seconds += std::max(0.0, std::min(lane.until, result_.wall_time) - lane.from);
    }
    return result_;
  }

 private:
  using Free = std::pair<double, size_t>;  // since when, lane

  double Gap(size_t lane) {
    if (!used_[lane] || setup_.gaps.empty()) {
      used_[lane] = true;
      return 0;
    }
    return setup_.gaps[random_() % setup_.gaps.size()];
  }

  // The lane that is free first, and from when; false: there is none any more.
  bool TakeLane(double not_before, Free* taken) {
    while (!free_.empty()) {
      const Free lane = free_.top();
      free_.pop();
      const double at = std::max(lane.first, not_before);
      if (at >= setup_.lanes[lane.second].until) continue;
      *taken = {at, lane.second};
      return true;
    }
    return false;
  }

  bool RunFree(size_t next, size_t end, double begin) {
    for (; next < end; ++next) {
      Free lane;
      if (!TakeLane(begin, &lane)) return false;
      const double duration = setup_.chunks[next].fixed + setup_.chunks[next].cpu;
      const double stop = lane.first + Gap(lane.second) + duration;
      result_.busy += duration;
      last_stop_ = std::max(last_stop_, stop);
      free_.emplace(stop, lane.second);
    }
    return true;
  }

  // Progress changes whenever a chunk begins or ends; time goes from one such moment to the next.
  bool RunShared(size_t next, size_t end, double begin) {
    std::vector<Working> working;
    double now = begin, stretch = 1;
    Free waiting;  // the lane that takes the next chunk
    bool has_lane = false;
    while (next < end || !working.empty()) {
      if (next < end && !has_lane && TakeLane(begin, &waiting)) {
        has_lane = true;
        waiting.first += Gap(waiting.second);
      }
      if (!has_lane && working.empty()) return false;
      size_t first = 0;
      double step = has_lane ? std::max(0.0, waiting.first - now) : -1;
      bool ends = false;
      for (size_t i = 0; i < working.size(); ++i) {
        const double left = working[i].left * TimeOf(working[i], stretch);
        if (step >= 0 && left >= step) continue;
        step = left;
        first = i;
        ends = true;
      }
      for (Working& chunk : working) chunk.left -= step / TimeOf(chunk, stretch);
      result_.busy += step * static_cast<double>(working.size());
      now += step;
      if (ends) {
        last_stop_ = std::max(last_stop_, now);
        free_.emplace(now, working[first].lane);
        working[first] = working.back();
        working.pop_back();
        // a lane that is free now may come before the one that was to take the next chunk
        if (has_lane && waiting.first > now) {
          free_.emplace(waiting);
          used_[waiting.second] = false;  // its gap is in the time already
          has_lane = false;
        }
      } else {
        const ReplayChunk& chunk = setup_.chunks[next++];
        const double whole = std::max(1e-12, chunk.fixed + chunk.cpu);
        working.push_back({whole, std::min(1.0, chunk.cpu / whole), 1, waiting.second});
        has_lane = false;
      }
      stretch = StretchOf(working, setup_.shared_cores);
    }
    return true;
  }

  static double TimeOf(const Working& chunk, double stretch) {
    return chunk.whole * (1 - chunk.cpu_share + chunk.cpu_share * stretch);
  }

  const ReplaySetup& setup_;
  std::mt19937_64 random_;
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free_;
  std::vector<bool> used_;
  double last_stop_ = 0;
  ReplayResult result_;
};

}  // namespace

ReplayResult Replay(const ReplaySetup& setup, uint64_t seed) { return Replayer(setup, seed).Run(); }

}  // namespace crema
