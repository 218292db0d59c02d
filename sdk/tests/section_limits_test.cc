// Sections beyond the limits: 64 deep, 1,000 paths a chunk, a line of 1 MiB.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

void NestSections(int depth) {
  if (depth == 0) return;
  TrackSection section("d");
  NestSections(depth - 1);
}

std::int64_t SumOfSelfTimes(const ChunkLine& chunk) {
  std::int64_t sum_ns = 0;
  for (const SectionRow& row : chunk.sections) sum_ns += row.self_ns;
  return sum_ns;
}

TEST(SectionLimits, SectionsDeeperThan64StayInTheSelfTimeOfThe64th) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    NestSections(200);
  });
  ASSERT_EQ(chunk.sections.size(), 64u);
  EXPECT_EQ(std::count(chunk.sections[63].path.begin(), chunk.sections[63].path.end(), '/'), 63);
  EXPECT_EQ(chunk.sections[63].self_ns, chunk.sections[63].total_ns);
  EXPECT_EQ(chunk.sections_dropped, 200 - 64);
  EXPECT_EQ(SumOfSelfTimes(chunk), chunk.sections[0].total_ns);
}

TEST(SectionLimits, PathsBeyondAThousandStayInTheSelfTimeOfTheirParent) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    TrackSection all("all");
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 1499; ++i) TrackSection section("p" + std::to_string(i));
    }
  });
  ASSERT_EQ(chunk.sections.size(), 1000u);
  std::int64_t children_ns = 0;
  for (std::size_t i = 1; i < chunk.sections.size(); ++i) {
    EXPECT_EQ(chunk.sections[i].path, "all/p" + std::to_string(i - 1));
    EXPECT_EQ(chunk.sections[i].count, 2);
    children_ns += chunk.sections[i].total_ns;
  }
  EXPECT_EQ(chunk.sections[0].self_ns, chunk.sections[0].total_ns - children_ns);
  EXPECT_EQ(chunk.sections_dropped, 2 * 500);
}

TEST(SectionLimits, EveryOccurrenceBeyondThemIsCounted) {
  constexpr int kPaths = 5000;
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < kPaths; ++i) TrackSection section("p" + std::to_string(i));
  });
  EXPECT_EQ(chunk.sections.size(), 1000u);
  EXPECT_EQ(chunk.sections_dropped, kPaths - 1000);
}

TEST(SectionLimits, WhatLiesInsideADroppedSectionIsNotCountedElsewhere) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    { TrackSection read("read"); }
    for (int i = 0; i < 5000; ++i) {
      TrackSection file("file " + std::to_string(i));
      TrackSection read("read");
    }
  });
  EXPECT_EQ(Section(chunk.sections, "read").count, 1);
  std::int64_t counted = chunk.sections_dropped;
  for (const SectionRow& row : chunk.sections) counted += row.count;
  EXPECT_EQ(counted, 1 + 2 * 5000);
}

TEST(SectionLimits, NamesThatAreNewInEveryChunkDoNotFillMemory) {
  constexpr int kChunks = 120;
  const SharedValue<std::int64_t> growth_bytes;
  const RecordLog log = Recorded([&] {
    std::int64_t before_bytes = 0;
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      if (chunk == kChunks / 4) before_bytes = ResidentBytes();
      TrackMetrics metrics("ttbar");
      for (int i = 0; i < 200; ++i) {
        TrackSection section("an entry with a rather long name, number " + std::to_string(chunk * 200 + i));
        RecordMetric("metric " + std::to_string(chunk * 200 + i), i);
      }
    }
    *growth_bytes = ResidentBytes() - before_bytes;
  });
  ASSERT_EQ(log.chunks.size(), static_cast<std::size_t>(kChunks));
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_EQ(chunk.sections.size(), 200u);
    EXPECT_EQ(chunk.sections_dropped, 0);
  }
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts";
  // 90 chunks of 200 nodes and names are over 4 MB.
  EXPECT_LT(*growth_bytes, 1 << 20);
}

TEST(SectionLimits, ALineStaysBelowOneMebibyteAndWhole) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    const std::string deep(200, '\x01');  // six bytes each in JSON
    TrackSection a(deep);
    TrackSection b(deep);
    TrackSection c(deep);
    for (int i = 0; i < 1500; ++i) {
      TrackSection section("p" + std::to_string(i) + deep);
      TrackMemory memory("m" + std::to_string(i % 300) + deep);
      RecordMetric("metric " + std::to_string(i) + deep, 1, deep);
      RecordCut("cut " + std::to_string(i) + deep, 1);
      metrics.SetAttribute("attribute " + std::to_string(i), deep);
    }
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  for (const std::string& line : log.lines) EXPECT_LT(line.size(), std::size_t{1} << 20);
  EXPECT_GT(log.chunks[0].sections.size(), 10u);
  EXPECT_GT(log.chunks[0].sections_dropped, 0);
  EXPECT_GT(log.end->dropped, 0);
}

/// 61 sections with memory, as long and as deep as they may be: rows of them would fill more than a line.
void NestLongMemorySections(int depth, std::chrono::milliseconds wait) {
  TrackSection section(std::string(255, '\x01') + static_cast<char>('a' + depth % 26));
  TrackMemory memory("m");
  if (depth < 60) return NestLongMemorySections(depth + 1, wait);
  std::this_thread::sleep_for(wait);
}

TEST(SectionLimits, DeepMemorySectionsDoNotMakeTheLineTooLong) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    NestLongMemorySections(0, std::chrono::milliseconds(0));
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  for (const std::string& line : log.lines) EXPECT_LT(line.size(), std::size_t{1} << 20);
  EXPECT_GT(log.chunks[0].memory_sections.size(), 0u);
}

TEST(SectionLimits, WaitsInDeepSectionsDoNotMakeTheLineTooLong) {
  const RecordLog log = Recorded(
      [] {
        TrackMetrics metrics("ttbar");
        NestLongMemorySections(0, std::chrono::milliseconds(300));
      },
      {{"CREMA_WAITS", "100"}});
  ASSERT_EQ(log.chunks.size(), 1u);
  for (const std::string& line : log.lines) EXPECT_LT(line.size(), std::size_t{1} << 20);
  EXPECT_GT(log.end->dropped, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
