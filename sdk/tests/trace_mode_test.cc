// Trace mode: every occurrence of a section, in a bounded buffer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

const Environment kTrace = {{"CREMA_TRACE", "1"}};

void RunSections(int times) {
  for (int i = 0; i < times; ++i) {
    TrackSection outer("outer");
    TrackSection inner("inner");
  }
}

/// Number and total time of the occurrences of each section.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> Sums(const ChunkLine& chunk) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> sums;
  for (const TraceRow& row : *chunk.trace) {
    auto& [count, total_ns] = sums[chunk.sections.at(row.section).path];
    ++count;
    total_ns += row.duration_ns;
  }
  return sums;
}

TEST(TraceMode, KeepsEveryOccurrence) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        RunSections(50);
        TrackSection last("last");
      },
      kTrace);
  ASSERT_TRUE(chunk.trace.has_value());
  EXPECT_EQ(chunk.trace->size(), 101u);
  EXPECT_EQ(chunk.trace_dropped, 0);
  for (const auto& [path, sum] : Sums(chunk)) {
    const SectionRow row = Section(chunk.sections, path);
    EXPECT_EQ(sum.first, row.count) << path;
    EXPECT_LE(sum.second, row.total_ns + row.count) << path;
    EXPECT_GE(sum.second, row.total_ns - row.count) << path;  // ends are rounded
  }
}

TEST(TraceMode, OccurrencesLieInTheChunkAndInnerOnesInTheirOuter) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        RunSections(3);
      },
      kTrace);
  ASSERT_TRUE(chunk.trace.has_value());
  ASSERT_EQ(chunk.trace->size(), 6u);
  for (std::size_t i = 0; i < 6; i += 2) {  // in the order in which they ended
    const TraceRow& inner = chunk.trace->at(i);
    const TraceRow& outer = chunk.trace->at(i + 1);
    EXPECT_EQ(chunk.sections.at(inner.section).path, "outer/inner");
    EXPECT_EQ(chunk.sections.at(outer.section).path, "outer");
    EXPECT_GE(inner.start_ns, outer.start_ns);
    EXPECT_LE(inner.start_ns + inner.duration_ns, outer.start_ns + outer.duration_ns + 1);
    EXPECT_LE(outer.start_ns + outer.duration_ns, chunk.duration_ns());
    EXPECT_EQ(outer.tid, chunk.tid);
    if (i > 0) {
      EXPECT_GE(outer.start_ns, chunk.trace->at(i - 1).start_ns + chunk.trace->at(i - 1).duration_ns);
    }
  }
}

TEST(TraceMode, BeyondTheBufferOccurrencesAreCountedAndStillSummed) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        for (int i = 0; i < 12345; ++i) TrackSection section("read");
      },
      kTrace);
  ASSERT_TRUE(chunk.trace.has_value());
  EXPECT_EQ(chunk.trace->size(), 10000u);
  EXPECT_EQ(chunk.trace_dropped, 2345);
  EXPECT_EQ(Section(chunk.sections, "read").count, 12345);
}

TEST(TraceMode, StartsWithAnEmptyBufferInTheNextChunk) {
  const RecordLog log = Recorded(
      [] {
        for (int chunk = 0; chunk < 2; ++chunk) {
          TrackMetrics metrics({"ttbar", "f", chunk, chunk + 1});
          for (int i = 0; i < 10001; ++i) TrackSection section("read");
        }
      },
      kTrace);
  ASSERT_EQ(log.chunks.size(), 2u);
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_EQ(chunk.trace->size(), 10000u);
    EXPECT_EQ(chunk.trace_dropped, 1);
  }
}

TEST(TraceMode, OccurrencesOfHelpersCarryTheirThread) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        TrackSection section("cluster");
        const ChunkHandle handle = metrics.handle();
        std::thread([&] {
          TrackHelper helper(handle);
          TrackSection work("work");
        }).join();
      },
      kTrace);
  ASSERT_TRUE(chunk.trace.has_value());
  ASSERT_EQ(chunk.trace->size(), 2u);
  for (const TraceRow& row : *chunk.trace) {
    const bool helpers = chunk.sections.at(row.section).helper;
    EXPECT_EQ(chunk.sections.at(row.section).path, helpers ? "cluster/work" : "cluster");
    EXPECT_EQ(row.tid != chunk.tid, helpers);
  }
}

TEST(TraceMode, OccurrencesOfSectionsWithoutARowAreCounted) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        for (int i = 0; i < 1200; ++i) TrackSection section("p" + std::to_string(i));
      },
      kTrace);
  EXPECT_EQ(chunk.sections_dropped, 200);
  ASSERT_TRUE(chunk.trace.has_value());
  EXPECT_EQ(chunk.trace->size(), 1000u);
  EXPECT_EQ(chunk.trace_dropped, 200);
}

TEST(TraceMode, IsOffUnlessAsked) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RunSections(3);
  });
  EXPECT_EQ(chunk.trace, std::nullopt);
  EXPECT_EQ(chunk.trace_dropped, std::nullopt);
}

TEST(TraceMode, CanBeAskedForInCode) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_INTERVAL", "0"}}, [&] {
    Options options;
    options.directory = directory;
    options.trace = true;
    if (!Enable(options)) std::abort();
    TrackMetrics metrics("ttbar");
    RunSections(3);
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  const RecordLog log = ReadRecordLogs(directory).at(0);
  ASSERT_EQ(log.chunks.size(), 1u);
  ASSERT_TRUE(log.chunks[0].trace.has_value());
  EXPECT_EQ(log.chunks[0].trace->size(), 6u);
}

}  // namespace
}  // namespace testing
}  // namespace crema
