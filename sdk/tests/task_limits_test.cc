// However many modules, tasks and events there are: the log and the memory stay small, and what is left out is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/task_sums.h"

namespace crema {
namespace testing {
namespace {

constexpr int kModules = 3000;
constexpr std::int64_t kMegabyte = 1 << 20;
/// A sanitizer's own memory counts: nothing is required there.
constexpr std::int64_t kMostGrown = kSanitized ? INT64_MAX : 8 * kMegabyte;

std::vector<std::string> NamesOfModules() {
  std::vector<std::string> names;
  for (int i = 0; i < kModules; ++i) names.push_back("process:module" + std::to_string(i));
  return names;
}

/// Bytes of the log for each time that sums were written: more often where the machine is slow.
std::int64_t BytesOfOneWriting(const RecordLog& log) {
  std::int64_t bytes = 0, times = 0;
  for (const std::string& line : log.lines) {
    bytes += static_cast<std::int64_t>(line.size());
    times += line.find("\"latencies\":[") != std::string::npos;
    EXPECT_LT(static_cast<std::int64_t>(line.size()), kMegabyte);
  }
  return times == 0 ? bytes : bytes / times;
}

/// What summed events left, each with the tasks that `run_tasks(event, number, names)` gives it. Log and memory are
/// bounded.
template <class RunTasks>
TaskSums SumsOfEvents(int events, RunTasks run_tasks) {
  const SharedValue<std::int64_t> grown_bytes;
  const RecordLog log = Recorded([&] {
    const std::vector<std::string> names = NamesOfModules();
    const std::int64_t before_bytes = ResidentBytes();
    for (int e = 0; e < events; ++e) {
      const TrackEvent event({"raw", "f.root", e, e + 1}, kSummed);
      run_tasks(event.handle(), e, names);
    }
    *grown_bytes = ResidentBytes() - before_bytes;
  });
  EXPECT_LT(BytesOfOneWriting(log), kMegabyte);
  EXPECT_LT(*grown_bytes, kMostGrown);
  TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  return sums;
}

TEST(TaskLimits, ThreeThousandModulesAndAMillionEventsTakeOneMegabyte) {
  constexpr int kEvents = kSanitized ? 50000 : 1000000;
  const TaskSums sums =
      SumsOfEvents(kEvents, [](const EventHandle& event, int number, const std::vector<std::string>& names) {
        TrackTask task(event, names[static_cast<std::size_t>(number % kModules)]);
      });
  EXPECT_EQ(sums.Event("raw", "count"), kEvents);
  EXPECT_EQ(sums.modules.size(), static_cast<std::size_t>(kModules));
}

TEST(TaskLimits, EventsOfThreeThousandTasksTakeOneMegabyte) {
  constexpr int kEvents = kSanitized ? 20 : 200;
  const TaskSums sums = SumsOfEvents(kEvents, [](const EventHandle& event, int, const std::vector<std::string>& names) {
    for (const std::string& name : names) TrackTask task(event, name);
  });
  EXPECT_EQ(sums.Event("raw", "not_divided"), 0);
  EXPECT_EQ(sums.OfTasks("count"), std::int64_t{kEvents} * kModules);
}

TEST(TaskLimits, ManyModulesKeepTheLogShort) {
  const RecordLog log = Recorded([] {
    for (int e = 0; e < 20; ++e) {
      TrackEvent event("raw", kSummed);
      for (int i = 0; i < 5000; ++i) TrackTask task(event.handle(), "module" + std::to_string(i));
    }
  });
  std::size_t bytes = 0;
  for (const std::string& line : log.lines) {
    bytes += line.size();
    EXPECT_LT(line.size(), 1u << 20);
  }
  EXPECT_LT(bytes, 2u << 20);
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_EQ(sums.modules.size(), 4097u);
  EXPECT_EQ(sums.Module("(other)", "count"), 20 * (5000 - 4096));
}

/// A latency in the middle of the bucket that holds this one, counted from the shortest. docs/record_log.md, "sketch".
double LatencyInSketch(const Json& row, std::int64_t rank) {
  constexpr int kBitsBelow = 46;
  const std::vector<std::uint64_t> sketch = row.at("sketch");
  const int shift = kBitsBelow + row.value("sketch_shift", 0);
  for (std::size_t i = 0; i < sketch.size(); i += 2) {
    rank -= static_cast<std::int64_t>(sketch[i + 1]);
    if (rank >= 0) continue;
    double edges[2];
    const std::uint64_t bits[2] = {sketch[i] << shift, (sketch[i] + 1) << shift};
    std::memcpy(edges, bits, sizeof edges);
    return (edges[0] + edges[1]) / 2;
  }
  return 0;
}

TEST(TaskLimits, QuantilesOfLatenciesAreWithinOnePercent) {
  const RecordLog log = Recorded([] {
    for (int e = 0; e < 200; ++e) {
      TrackEvent event({"raw", "f.root", e, e + 1}, kLine);
      SpinWall(20000 + e * e);
    }
  });
  std::vector<std::int64_t> latencies_ns;
  for (const ChunkLine& chunk : log.chunks) latencies_ns.push_back(chunk.duration_ns());
  ASSERT_EQ(latencies_ns.size(), 200u);
  std::sort(latencies_ns.begin(), latencies_ns.end());
  const Json row = SumsOf(log).events.at("raw");
  for (const std::int64_t rank : {0, 10, 100, 190, 199}) {
    const double latency_ns = static_cast<double>(latencies_ns[static_cast<std::size_t>(rank)]);
    EXPECT_NEAR(1e9 * LatencyInSketch(row, rank), latency_ns, 0.01 * latency_ns) << rank;
  }
}

TEST(TaskLimits, TheLineOfAnEventKeepsItsLimitAndCountsTheTasksThatItLeavesOut) {
  constexpr std::int64_t kTasks = 8000;
  const RecordLog log = Recorded(
      [] {
        TrackEvent event({"raw", "f.root", 0, 1}, kLine);
        const std::string name(150, 'm');
        for (int i = 0; i < kTasks; ++i) TrackTask task(event.handle(), name);
      },
      {{"CREMA_TRACE", "1"}});
  const Json line = Json::parse(FirstLineOfType(log, "chunk"));
  EXPECT_LE(FirstLineOfType(log, "chunk").size(), static_cast<std::size_t>(kMegabyte));
  EXPECT_GT(line.at("trace_dropped"), 0);
  EXPECT_EQ(static_cast<std::int64_t>(line.at("tasks").size()) + line.at("trace_dropped").get<std::int64_t>(), kTasks);
  EXPECT_EQ(SumsOf(log).Event("raw", "tasks"), kTasks) << "all are in the sums";
}

TEST(TaskLimits, AnEventWithTooManyTasksIsNotDivided) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent event("raw", kSummed);
    for (int i = 0; i < 10000; ++i) TrackTask task(event.handle(), "many");
  }));
  ExpectExactSums(sums);
  EXPECT_EQ(sums.Event("raw", "not_divided"), 1);
  EXPECT_EQ(sums.Module("many", "count"), 10000);
}

TEST(TaskLimits, MoreEventsThanThereIsRoomForAreCounted) {
  const RecordLog log = Recorded([] {
    std::vector<TrackEvent> events;
    for (int i = 0; i < 600; ++i) events.emplace_back("raw", kSummed);
    for (TrackEvent& event : events) TrackTask task(event.handle(), "task");
  });
  const TaskSums sums = SumsOf(log);
  EXPECT_EQ(sums.Event("raw", "count") + log.end->dropped, 600);
  EXPECT_EQ(sums.Module("task", "count"), 600) << "those of no event";
}

}  // namespace
}  // namespace testing
}  // namespace crema
