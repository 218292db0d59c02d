#include "collector/cli/guard_cost.h"

#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "collector/cli/temporary_directory.h"
#include "crema/crema.h"

namespace crema {
namespace {

constexpr int kRounds = 3;
constexpr int64_t kFast = 1'000'000;  // calls of what takes nanoseconds
constexpr int64_t kSlow = 20'000;     // calls of what makes system calls

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

template <class Call>
double BestNsPerCall(int64_t calls, Call call) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const int64_t start_ns = NowNs();
    for (int64_t i = 0; i < calls; ++i) call();
    best = std::min(best, static_cast<double>(NowNs() - start_ns) / static_cast<double>(calls));
  }
  return best;
}

void Section() { TrackSection section("doctor"); }
void SectionWithCpu() { TrackSection section("doctor_cpu", kCpuTime); }
void Memory() { TrackMemory memory("doctor"); }
void WholeChunk() { TrackMetrics chunk("doctor"); }

GuardCost MeasureInto(const std::string& directory, bool* recorded) {
  GuardCost cost;
  cost.clock_ns = BestNsPerCall(kFast, [] { NowNs(); });
  cost.off_ns = BestNsPerCall(kFast, Section);
  Options options;
  options.directory = directory;
  options.interval_seconds = 0;
  *recorded = Enable(options);
  if (!*recorded) return cost;
  {
    TrackMetrics chunk("doctor");
    cost.section_ns = BestNsPerCall(kFast, Section);
    cost.section_cpu_ns = BestNsPerCall(kSlow, SectionWithCpu);
    cost.memory_ns = BestNsPerCall(kSlow, Memory);
  }
  cost.chunk_ns = BestNsPerCall(kSlow, WholeChunk);
  Disable();
  return cost;
}

}  // namespace

std::optional<GuardCost> MeasureGuardCost() {
  // Else the first guard would begin to record there.
  unsetenv("CREMA_DIR");
  const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
  if (!directory.ok()) return std::nullopt;
  bool recorded = false;
  const GuardCost cost = MeasureInto((*directory)->path(), &recorded);
  if (!recorded) return std::nullopt;
  return cost;
}

}  // namespace crema
