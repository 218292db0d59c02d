// What a task and an event without lines take, in instructions, system calls and readings of clocks. These do not
// depend on what else the machine does.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <string>

#include "crema/crema.h"
#include "sdk/benchmarks/allocation_count.h"
#include "sdk/benchmarks/system_call_trace.h"

namespace crema_benchmarks {
namespace {

constexpr std::int64_t kSecond = 1000000000;

/// While a thread is traced it stands still at each step, as if others had the core. So it gets clocks that go on by a
/// few nanoseconds at each reading, as on a thread that computes all the time.
struct SteadyClocks {
  bool are_used = false;
  std::int64_t now_ns = 0;
  std::int64_t cpu_behind_ns = 0;
  int wall_readings = 0;
  int cpu_readings = 0;
} g_clocks;

std::int64_t Read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

void UseSteadyClocks() {
  g_clocks.now_ns = Read(CLOCK_MONOTONIC);
  g_clocks.cpu_behind_ns = g_clocks.now_ns - Read(CLOCK_THREAD_CPUTIME_ID);
  g_clocks.wall_readings = g_clocks.cpu_readings = 0;
  g_clocks.are_used = true;
}

}  // namespace
}  // namespace crema_benchmarks

/// Takes the place of the C library's in this program.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using namespace crema_benchmarks;
  if (!g_clocks.are_used) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const bool is_wall = clock == CLOCK_MONOTONIC;
  ++(is_wall ? g_clocks.wall_readings : g_clocks.cpu_readings);
  g_clocks.now_ns += 25;
  const std::int64_t now_ns = g_clocks.now_ns - (is_wall ? 0 : g_clocks.cpu_behind_ns);
  time->tv_sec = now_ns / kSecond;
  time->tv_nsec = now_ns % kSecond;
  return 0;
}

namespace crema_benchmarks {
namespace {

constexpr int kRounds = 5;

void Repeat(const std::function<void()>& body) {
  for (int i = 0; i < kRounds; ++i) body();
}

void RecordInto(const std::string& name) {
  crema::Options options;
  options.directory = std::string(getenv("TEST_TMPDIR")) + "/" + name;
  options.interval_seconds = 0;
  ASSERT_TRUE(crema::Enable(options));
}

crema::TrackEvent* g_event = nullptr;

void OneTask() { const crema::TrackTask task(g_event->handle(), "tracks"); }
void OneReadyTask() {
  const crema::TrackTask task(g_event->handle(), "tracks", crema::MarkReady(g_event->handle(), "tracks"));
}
void OneEvent() { const crema::TrackEvent event("benchmark", crema::kSummed); }
constexpr int kTasks = 10;
void OneEventWithTasks() {
  static constexpr const char* kNames[kTasks] = {"source", "hits",  "clusters", "tracks", "vertices",
                                                 "jets",   "muons", "trigger",  "select", "output"};
  const crema::TrackEvent event("benchmark", crema::kSummed);
  for (const char* name : kNames) const crema::TrackTask task(event.handle(), name);
}
void ReadClocksOfTask() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  clock_gettime(CLOCK_MONOTONIC, &time);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
}

/// Starts recording; threads, names and datasets become known.
void Prepare() {
  RecordInto("log");
  g_event = new crema::TrackEvent("benchmark", crema::kSummed);
  for (const auto& body : {OneReadyTask, OneEvent, OneEventWithTasks}) body();
  UseSteadyClocks();
  OneTask();  // the clocks have leapt
}

/// Instructions of one call, with those around all of them.
std::int64_t InstructionsOf(void (*body)()) {
  const InstructionCount count = CountInstructions(Prepare, [body] { Repeat(body); });
  EXPECT_EQ(count.complaint, "");
  return count.instructions / kRounds;
}

TEST(TaskWork, StaysWithinItsInstructions) {
#if !defined(__x86_64__) || defined(__clang__) || !defined(__OPTIMIZE__)
  GTEST_SKIP() << "the limits are those of g++ on x86-64";
#endif
  const InstructionCount trial = CountInstructions([] {}, [] {});
  if (!trial.complaint.empty()) GTEST_SKIP() << "instructions cannot be counted here: " << trial.complaint;
  const std::int64_t clocks = InstructionsOf(ReadClocksOfTask);
  const std::int64_t task = InstructionsOf(OneTask) - clocks;
  const std::int64_t ready_task = InstructionsOf(OneReadyTask) - clocks;
  const std::int64_t event = InstructionsOf(OneEvent);
  const std::int64_t divided = (InstructionsOf(OneEventWithTasks) - event) / kTasks - clocks - task;
  std::cout << "instructions: task " << task << ", marked as ready " << ready_task << ", its part of a latency "
            << divided << ", event " << event << "\n";
  EXPECT_LE(task, 800);
  EXPECT_LE(ready_task, 1000);
  EXPECT_LE(divided, 250);
  EXPECT_LE(event, 2800);
}

TEST(TaskWork, ReadsTwoWallClocksAndOneCpuClock) {
  Prepare();
  const std::int64_t allocations = Allocations();
  UseSteadyClocks();
  Repeat(OneTask);
  EXPECT_EQ(g_clocks.wall_readings, 2 * kRounds);
  EXPECT_EQ(g_clocks.cpu_readings, kRounds);
  UseSteadyClocks();
  Repeat(OneEvent);
  EXPECT_EQ(g_clocks.wall_readings, 2 * kRounds);
  EXPECT_EQ(g_clocks.cpu_readings, 0);
  EXPECT_EQ(Allocations(), allocations);
}

TEST(TaskWork, MakesNoOtherSystemCall) {
  const SystemCallTrace trace = TraceSystemCalls(Prepare, [] {
    Repeat(OneReadyTask);
    Repeat(OneEventWithTasks);
  });
  if (!trace.complaint.empty()) GTEST_SKIP() << "system calls cannot be seen here: " << trace.complaint;
  for (const SystemCall& call : trace.calls) ADD_FAILURE() << ToText(call);
}

}  // namespace
}  // namespace crema_benchmarks
