#include "collector/metrics/budget/free_time.h"

#include <algorithm>

namespace crema {

FreeParts& FreeParts::operator+=(const FreeParts& other) {
  free += other.free;
  process_cpu += other.process_cpu;
  joined += other.joined;
  framework += other.framework;
  oversubscribed += other.oversubscribed;
  process_cpu_known = process_cpu_known || other.process_cpu_known;
  return *this;
}

LaneTimeSum FreeParts::FillWithSpread(LaneTimeSum spread) {
  const LaneTimeSum of_idle = std::min({free.idle, spread, oversubscribed});
  const LaneTimeSum of_tail = std::min({free.tail, spread - of_idle, oversubscribed - of_idle});
  free.idle -= of_idle;
  free.tail -= of_tail;
  oversubscribed -= of_idle + of_tail;
  return of_idle;
}

void FreeParts::MoveToJoined(LaneTimeSum joined_ns) {
  LaneTimeSum rest = joined_ns * kOneLane;
  for (const auto part : {&FreeTime::idle, &FreeTime::tail}) {
    const LaneTimeSum moved = std::min(free.*part, rest);
    free.*part -= moved;
    joined += moved;
    rest -= moved;
  }
}

void FreeParts::MoveToFramework(int64_t outside_tasks_ns) {
  const LaneTimeSum moved = std::min(free.idle + process_cpu.idle, LaneTimeSum{outside_tasks_ns} * kOneLane);
  const LaneTimeSum of_cpu = std::min(process_cpu.idle, moved);
  process_cpu.idle -= of_cpu;
  free.idle -= moved - of_cpu;
  framework += moved;
}

void FreeByStretch::AddBoundaries(Changes& changes) const {
  for (const OutsideCpu& stretch : stretches_) {
    changes.others.push_back({life_.Clip(stretch.start_ns)});
    changes.others.push_back({life_.Clip(stretch.stop_ns)});
  }
}

FreeTime& FreeByStretch::At(int64_t time_ns) {
  while (at_ < stretches_.size() && stretches_[at_].stop_ns <= time_ns) ++at_;
  return at_ < stretches_.size() && stretches_[at_].start_ns <= time_ns ? free_[at_] : outside_;
}

FreeParts FreeByStretch::Split() {
  FreeParts parts;
  parts.free = outside_;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const OutsideCpu& stretch = stretches_[i];
    FreeTime& free = free_[i];
    const LaneTimeSum whole = free.sum();
    const int64_t inside_ns = life_.Clip(stretch.stop_ns) - life_.Clip(stretch.start_ns);
    const LaneTimeSum cpu_ns = LaneTimeSum{stretch.cpu_ns} * inside_ns / (stretch.stop_ns - stretch.start_ns);
    const LaneTimeSum taken = std::min(whole, cpu_ns * kOneLane);
    if (taken > 0) {
      const long double share = static_cast<long double>(taken) / static_cast<long double>(whole);
      for (const auto part : FreeTime::kParts) {
        const auto rounded = static_cast<LaneTimeSum>(static_cast<long double>(free.*part) * share);
        const LaneTimeSum of_part = std::min(free.*part, rounded);
        free.*part -= of_part;
        parts.process_cpu.*part += of_part;
      }
    }
    parts.free += free;
  }
  return parts;
}

}  // namespace crema
