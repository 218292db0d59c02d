#include "collector/metrics/budget/free_time.h"

#include <algorithm>

namespace crema {

FreeParts& FreeParts::operator+=(const FreeParts& other) {
  free += other.free;
  process_cpu += other.process_cpu;
  cpu_wait += other.cpu_wait;
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

FreeByStretch::FreeByStretch(std::vector<OutsideCpu> cpu, std::vector<OutsideCpu> wait, const RunWindow& life)
    : cpu_(std::move(cpu)), wait_(std::move(wait)), life_(life) {
  for (const auto* stretches : {&cpu_, &wait_}) {
    for (const OutsideCpu& stretch : *stretches) {
      boundaries_ns_.push_back(life_.Clip(stretch.start_ns));
      boundaries_ns_.push_back(life_.Clip(stretch.stop_ns));
    }
  }
  std::sort(boundaries_ns_.begin(), boundaries_ns_.end());
  boundaries_ns_.erase(std::unique(boundaries_ns_.begin(), boundaries_ns_.end()), boundaries_ns_.end());
  free_.resize(boundaries_ns_.size() + 1);
}

void FreeByStretch::AddBoundaries(Changes& changes) const {
  for (const int64_t boundary_ns : boundaries_ns_) changes.others.push_back({boundary_ns});
}

FreeTime& FreeByStretch::At(int64_t time_ns) {
  while (at_ < boundaries_ns_.size() && boundaries_ns_[at_] <= time_ns) ++at_;
  return free_[at_];
}

FreeTime FreeByStretch::Take(const std::vector<OutsideCpu>& stretches) {
  FreeTime taken_of;
  for (const OutsideCpu& stretch : stretches) {
    const auto after = [this](int64_t boundary_ns) {
      return static_cast<size_t>(
          std::upper_bound(boundaries_ns_.begin(), boundaries_ns_.end(), life_.Clip(boundary_ns)) -
          boundaries_ns_.begin());
    };
    const size_t begin = after(stretch.start_ns);
    const size_t end = std::max(begin, after(stretch.stop_ns));
    LaneTimeSum whole = 0;
    for (size_t i = begin; i < end; ++i) whole += free_[i].sum();
    const int64_t inside_ns = life_.Clip(stretch.stop_ns) - life_.Clip(stretch.start_ns);
    const LaneTimeSum cpu_ns = LaneTimeSum{stretch.cpu_ns} * inside_ns / (stretch.stop_ns - stretch.start_ns);
    const LaneTimeSum taken = std::min(whole, cpu_ns * kOneLane);
    if (taken <= 0) continue;
    const long double share = static_cast<long double>(taken) / static_cast<long double>(whole);
    for (size_t i = begin; i < end; ++i) {
      for (const auto part : FreeTime::kParts) {
        const auto rounded = static_cast<LaneTimeSum>(static_cast<long double>(free_[i].*part) * share);
        const LaneTimeSum of_part = std::min(free_[i].*part, rounded);
        free_[i].*part -= of_part;
        taken_of.*part += of_part;
      }
    }
  }
  return taken_of;
}

FreeParts FreeByStretch::Split() {
  FreeParts parts;
  parts.process_cpu = Take(cpu_);
  parts.cpu_wait = Take(wait_).sum();
  for (const FreeTime& free : free_) parts.free += free;
  return parts;
}

}  // namespace crema
