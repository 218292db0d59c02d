// TrackPerfCounters: the processor's counters, or why there are none.
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/refused_calls.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

const std::vector<std::string> kCounters = {"cycles",        "instructions",     "cache_misses",
                                            "branch_misses", "context_switches", "cpu_migrations"};

bool HasMetric(const ChunkLine& chunk, const std::string& name) {
  for (const MetricRow& row : chunk.metrics) {
    if (row.name == name) return true;
  }
  return false;
}

TEST(TrackPerfCounters, EachIsRecordedOrTheReasonIs) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    TrackPerfCounters counters("compute");
    SpinCpu(5000000);
  });
  EXPECT_EQ(Section(chunk.sections, "compute").count, 1);
  const bool explained = chunk.attributes.count("perf_counters") != 0;
  for (const std::string& counter : kCounters) {
    const std::string name = "compute." + counter;
    EXPECT_TRUE(HasMetric(chunk, name) || explained) << name;
    if (HasMetric(chunk, name)) {
      EXPECT_GE(*Metric(chunk, name, "count").sum, 0);
    }
  }
  if (HasMetric(chunk, "compute.instructions")) {
    EXPECT_GT(*Metric(chunk, "compute.instructions", "count").sum, 1e6);  // of 5 ms
  }
}

TEST(TrackPerfCounters, RefusedByTheKernelLeaveTheReasonWithTheChunk) {
  const ChunkLine chunk = RecordedChunk([] {
    RefuseCalls({SYS_perf_event_open}, EACCES);
    TrackMetrics metrics("ttbar");
    TrackPerfCounters counters("compute");
  });
  EXPECT_TRUE(chunk.metrics.empty());
  const std::string reason = chunk.attributes.at("perf_counters");
  EXPECT_EQ(reason.substr(0, 57), "cycles: Permission denied (kernel.perf_event_paranoid is ");
}

TEST(TrackPerfCounters, AreClosedWhenTheirThreadEnds) {
  const SharedValue<int> held;
  const RecordLog log = Recorded([&] {
    { TrackMetrics metrics("opens the log"); }
    const int before = OpenDescriptors();
    for (int i = 0; i < 10; ++i) {
      std::thread([] {
        TrackMetrics metrics("ttbar");
        TrackPerfCounters counters("compute");
      }).join();
    }
    *held = OpenDescriptors() - before;
  });
  EXPECT_EQ(log.chunks.size(), 11u);
  EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
