// The lines of a record log: their fields, in the order that docs/record_log.md makes part of the format.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

using Names = std::vector<std::string>;

RecordLog LogWithEveryLine() {
  return Recorded([] {
    Span span("process");
    TrackMetrics metrics({"ttbar", "/data/ttbar.root", 0, 1000});
    TrackSection section("read");
    metrics.SetEvents(1000);
    Flush();
  });
}

TEST(RecordLog, FieldsStandInTheOrderOfTheFormat) {
  if (RunsWithOptions()) GTEST_SKIP() << "lines have more fields with stacks and allocations";
  const RecordLog log = LogWithEveryLine();
  EXPECT_EQ(FieldNames(FirstLineOfType(log, "process")),
            (Names{"type",      "schema",  "schema_minor", "run_id",
                   "host",      "pid",     "parent_pid",   "pid_namespace",
                   "start_ns",  "boot_id", "recorder",     "executable",
                   "arguments", "cores",   "threads",      "memory_limit_bytes",
                   "clock",     "sdk",     "attributes",   "working_directory",
                   "engine"}));
  EXPECT_EQ(FieldNames(FirstLineOfType(log, "begin")),
            (Names{"type", "chunk", "time_ns", "thread", "tid", "dataset", "file", "tree", "entry_start", "entry_stop",
                   "pass", "span", "process_cpu_ns", "attributes"}));
  EXPECT_EQ(FieldNames(FirstLineOfType(log, "chunk")), (Names{"type",
                                                              "chunk",
                                                              "start_ns",
                                                              "stop_ns",
                                                              "status",
                                                              "events",
                                                              "bytes_read",
                                                              "bytes_uncompressed",
                                                              "cpu_ns",
                                                              "helper_cpu_ns",
                                                              "cpu_wait_ns",
                                                              "helper_wait_ns",
                                                              "helper_scope_ns",
                                                              "helper_union_ns",
                                                              "rss_start_bytes",
                                                              "rss_stop_bytes",
                                                              "rss_peak_bytes",
                                                              "io_read_bytes",
                                                              "open_chunks",
                                                              "lanes_peak",
                                                              "system_cpu_ns",
                                                              "minor_faults",
                                                              "major_faults",
                                                              "unannounced_cpu_ns",
                                                              "children_cpu_ns",
                                                              "thread",
                                                              "tid",
                                                              "dataset",
                                                              "file",
                                                              "tree",
                                                              "entry_start",
                                                              "entry_stop",
                                                              "pass",
                                                              "span",
                                                              "error",
                                                              "columns",
                                                              "sections",
                                                              "memory_sections",
                                                              "metrics",
                                                              "cuts",
                                                              "activities",
                                                              "sections_dropped",
                                                              "attributes"}));
  EXPECT_EQ(FieldNames(FirstLineOfType(log, "span")), (Names{"type", "name", "path", "start_ns", "stop_ns", "thread"}));
  EXPECT_EQ(FieldNames(FirstLineOfType(log, "end")), (Names{"type",           "time_ns",        "realtime_offset_ns",
                                                            "chunks",         "failed",         "open",
                                                            "dropped",        "summed_chunks",  "misused",
                                                            "unwritten",      "outside_chunks", "overhead_ns",
                                                            "cpu_ns",         "rss_peak_bytes", "anonymous_bytes",
                                                            "file_bytes",     "system_cpu_ns",  "minor_faults",
                                                            "major_faults",   "read_calls",     "read_call_bytes",
                                                            "run_delay_ns",   "throttled_ns",   "alone_cpu_ns",
                                                            "alone_ns",       "shared_cpu_ns",  "shared_ns",
                                                            "outside_cpu_ns", "outside_ns",     "wait_samples",
                                                            "waits_reason",   "sections"}));
  Names sample = FieldNames(FirstLineOfType(log, "sample"));
  ASSERT_GE(sample.size(), 29u);
  sample.resize(29);  // the format leaves the rest open
  EXPECT_EQ(sample,
            (Names{"type",           "time_ns",         "realtime_offset_ns", "rss_bytes",     "cpu_ns",
                   "threads",        "open_chunks",     "read_bytes",         "write_bytes",   "memory_limit_bytes",
                   "rss_peak_bytes", "anonymous_bytes", "file_bytes",         "system_cpu_ns", "minor_faults",
                   "major_faults",   "read_calls",      "read_call_bytes",    "run_delay_ns",  "throttled_ns",
                   "alone_cpu_ns",   "alone_ns",        "shared_cpu_ns",      "shared_ns",     "outside_cpu_ns",
                   "outside_ns",     "wait_samples",    "waits_reason",       "sections"}));
}

TEST(RecordLog, BeginsWithTheProcessAndCloses) {
  const RecordLog log = LogWithEveryLine();
  EXPECT_EQ(log.lines.front().rfind("{\"type\":\"process\",\"schema\":\"crema.records/1\",\"schema_minor\":25,", 0),
            0u);
  EXPECT_EQ(log.lines.back(), FirstLineOfType(log, "end"));
}

TEST(ChunkLine, BeginsAtTheTimeOfItsBeginLine) {
  const RecordLog log = LogWithEveryLine();
  ASSERT_EQ(log.begins.size(), 1u);
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.begins[0].time_ns, log.chunks[0].start_ns);
  EXPECT_EQ(log.begins[0].number, log.chunks[0].number);
  EXPECT_EQ(log.begins[0].dataset, log.chunks[0].dataset);
  EXPECT_EQ(log.begins[0].entry_stop, log.chunks[0].entry_stop);
}

TEST(ChunkLine, TimesAreUnixTime) {
  struct Around {
    std::int64_t before_ns;
    std::int64_t after_ns;
  };
  const SharedValue<Around> around;
  const ChunkLine chunk = RecordedChunk([&] {
    around->before_ns = UnixNs();
    {
      TrackMetrics metrics("ttbar");
      SpinWall(1000000);
    }
    around->after_ns = UnixNs();
  });
  // The anchor is read to some us; CLOCK_REALTIME and CLOCK_MONOTONIC are slewed together.
  EXPECT_GE(chunk.start_ns, around->before_ns - 20000);
  EXPECT_LE(chunk.stop_ns, around->after_ns + 20000);
  EXPECT_GE(chunk.duration_ns(), 1000000 - CounterToleranceNs(1000000));
}

TEST(ChunkLine, NumbersAreUniqueInAFile) {
  const RecordLog log = Recorded([] {
    for (int i = 0; i < 50; ++i) TrackMetrics metrics("ttbar");
  });
  std::set<std::int64_t> numbers;
  for (const ChunkLine& chunk : log.chunks) numbers.insert(chunk.number);
  EXPECT_EQ(numbers.size(), 50u);
}

TEST(ChunkLine, WhatWasNotToldIsNull) {
  const ChunkLine chunk = RecordedChunk([] { TrackMetrics metrics("ttbar"); });
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(chunk.dataset, "ttbar");
  EXPECT_EQ(chunk.events, std::nullopt);
  EXPECT_EQ(chunk.bytes_read, std::nullopt);
  EXPECT_EQ(chunk.bytes_uncompressed, std::nullopt);
  EXPECT_EQ(chunk.file, std::nullopt);
  EXPECT_EQ(chunk.tree, std::nullopt);
  EXPECT_EQ(chunk.entry_start, std::nullopt);
  EXPECT_EQ(chunk.entry_stop, std::nullopt);
  EXPECT_EQ(chunk.pass, std::nullopt);
  EXPECT_EQ(chunk.span, std::nullopt);
  EXPECT_EQ(chunk.error, std::nullopt);
  EXPECT_TRUE(chunk.attributes.empty());
  EXPECT_EQ(chunk.open_chunks, 1);
  EXPECT_EQ(chunk.lanes_peak, 1);
  EXPECT_EQ(chunk.helper_cpu_ns, 0);
}

TEST(ChunkLine, EventsThatAreNoneAreNotUnknown) {
  const RecordLog log = Recorded([] {
    { TrackMetrics("none").SetEvents(0); }
    { TrackMetrics("many").SetEvents(std::size_t{12345}); }
    { TrackMetrics("nonsense").SetEvents(-1); }
  });
  EXPECT_EQ(ChunkOf(log, "none").events, 0);
  EXPECT_EQ(ChunkOf(log, "many").events, 12345);
  EXPECT_EQ(ChunkOf(log, "nonsense").events, std::nullopt);
}

TEST(ChunkLine, BytesReadAddUp) {
  const RecordLog log = Recorded([] {
    {
      TrackMetrics metrics("both sizes");
      metrics.AddBytesRead(1000u, 4000LL);
      metrics.AddBytesRead(std::size_t{10}, 40);
      AddBytesRead(1, 4);
    }
    { TrackMetrics("stored only").AddBytesRead(0); }
  });
  EXPECT_EQ(ChunkOf(log, "both sizes").bytes_read, 1011);
  EXPECT_EQ(ChunkOf(log, "both sizes").bytes_uncompressed, 4044);
  EXPECT_EQ(ChunkOf(log, "stored only").bytes_read, 0);
  EXPECT_EQ(ChunkOf(log, "stored only").bytes_uncompressed, std::nullopt);
}

TEST(EndLine, CountsChunksAndFailures) {
  const RecordLog log = Recorded([] {
    for (int i = 0; i < 5; ++i) {
      TrackMetrics metrics("ttbar");
      if (i == 2) metrics.Fail("bad file");
    }
  });
  EXPECT_EQ(log.end->chunks, 5);
  EXPECT_EQ(log.end->failed, 1);
  EXPECT_EQ(log.end->open, 0);
  EXPECT_EQ(log.end->dropped, 0);
  EXPECT_GT(log.end->overhead_ns, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
