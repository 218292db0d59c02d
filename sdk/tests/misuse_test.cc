// Guards that are not used as they should be: one warning, and records that still add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

/// The log of a child that ran `body` and ended by itself, with exactly one warning on stderr.
RecordLog RecordedWithAWarning(const std::function<void()>& body) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, body);
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal << "\n" << child.errors;
  EXPECT_EQ(child.errors.substr(0, 7), "crema: ");
  EXPECT_EQ(std::count(child.errors.begin(), child.errors.end(), '\n'), 1) << child.errors;
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  EXPECT_EQ(logs.size(), 1u);
  if (logs.empty()) return {};
  EXPECT_TRUE(logs[0].malformed.empty());
  EXPECT_TRUE(logs[0].end.has_value());
  return logs[0];
}

/// Self times are not negative, and add up to what the outermost sections took.
void ExpectConsistent(const ChunkLine& chunk) {
  std::int64_t self_ns = 0;
  std::int64_t outermost_ns = 0;
  for (const SectionRow& row : chunk.sections) {
    EXPECT_GE(row.self_ns, 0) << row.path;
    self_ns += row.self_ns;
    if (row.path.find('/') == std::string::npos) outermost_ns += row.total_ns;
  }
  EXPECT_EQ(self_ns, outermost_ns);
  EXPECT_LE(outermost_ns, chunk.duration_ns());
}

template <class Guard>
void EndOnAnotherThread(std::unique_ptr<Guard> guard) {
  std::thread([&] { guard.reset(); }).join();
}

/// As above, on a thread that records too.
template <class Guard>
void EndOnAThreadThatRecords(std::unique_ptr<Guard> guard) {
  std::thread([&] {
    TrackSection section("other thread's");
    guard.reset();
  }).join();
}

TEST(Misuse, ASectionThatEndsOnAnotherThreadEndsWithItsChunk) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics metrics("ttbar");
    EndOnAThreadThatRecords(std::make_unique<TrackSection>("wanders"));
    TrackSection after("after");
  });
  EXPECT_EQ(Section(log.chunks.at(0).sections, "wanders").count, 1);
  ExpectConsistent(log.chunks.at(0));
  EXPECT_GT(log.end->dropped, 0);
}

TEST(Misuse, SectionsThatEndBeforeThoseInsideThem) {
  const RecordLog log = RecordedWithAWarning([] {
    for (int i = 0; i < 3; ++i) {
      TrackMetrics metrics("ttbar");
      auto outer = std::make_unique<TrackSection>("outer");
      auto inner = std::make_unique<TrackSection>("inner", kCpuTime);
      outer.reset();
      TrackSection after("after");
      inner.reset();
    }
  });
  ASSERT_EQ(log.chunks.size(), 3u);
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_EQ(Section(chunk.sections, "outer").count, 1);
    EXPECT_EQ(Section(chunk.sections, "outer/inner").count, 1);
    EXPECT_EQ(Section(chunk.sections, "after").count, 1);
    ExpectConsistent(chunk);
  }
}

TEST(Misuse, ASectionThatOutlivesItsChunkEndsWithIt) {
  const RecordLog log = RecordedWithAWarning([] {
    std::unique_ptr<TrackSection> section;
    {
      TrackMetrics metrics("first");
      section = std::make_unique<TrackSection>("long");
    }
    TrackMetrics metrics("second");
    TrackSection same("long");
    section.reset();
  });
  EXPECT_EQ(Section(ChunkOf(log, "first").sections, "long").count, 1);
  EXPECT_EQ(Section(ChunkOf(log, "second").sections, "long").count, 1);
  ExpectConsistent(ChunkOf(log, "first"));
  ExpectConsistent(ChunkOf(log, "second"));
}

TEST(Misuse, AChunkThatEndsOnAnotherThreadFailsWhenItsOwnGoesOn) {
  const RecordLog log = RecordedWithAWarning([] {
    EndOnAnotherThread(std::make_unique<TrackMetrics>("wanders"));
    TrackMetrics metrics("next");
  });
  EXPECT_EQ(ChunkOf(log, "wanders").status, "failed");
  EXPECT_EQ(ChunkOf(log, "next").status, "ok");
  EXPECT_EQ(log.end->open, 0);
}

TEST(Misuse, AChunkThatEndsOnAnotherThreadFailsAtTheEndOfItsOwn) {
  const RecordLog log = RecordedWithAWarning([] {
    std::unique_ptr<TrackMetrics> metrics;
    std::thread([&] {
      metrics = std::make_unique<TrackMetrics>("wanders");
      EndOnAnotherThread(std::move(metrics));
    }).join();
  });
  EXPECT_EQ(ChunkOf(log, "wanders").status, "failed");
  EXPECT_EQ(log.end->open, 0);
}

TEST(Misuse, AChunkThatOutlivesItsThreadIsLost) {
  const RecordLog log = RecordedWithAWarning([] {
    std::unique_ptr<TrackMetrics> metrics;
    std::thread([&] { metrics = std::make_unique<TrackMetrics>("lost"); }).join();
    metrics.reset();
    TrackMetrics next("next");
  });
  EXPECT_EQ(log.begins.size(), 2u);
  EXPECT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.end->open, 1);
}

TEST(Misuse, AChunkThatEndsBeforeTheChunkInsideIt) {
  const RecordLog log = RecordedWithAWarning([] {
    auto outer = std::make_unique<TrackMetrics>(Chunk{"outer", "f", 0, 1});
    auto inner = std::make_unique<TrackMetrics>(Chunk{"inner", "f", 1, 2});
    TrackSection section("read");
    outer.reset();
    inner.reset();
    TrackMetrics next("next");
  });
  EXPECT_EQ(ChunkOf(log, "outer").status, "ok");
  EXPECT_EQ(ChunkOf(log, "inner").status, "failed");
  EXPECT_EQ(ChunkOf(log, "next").status, "ok");
  EXPECT_EQ(log.end->open, 0);
}

TEST(Misuse, MemoryGuardsThatEndElsewhereOrTooLateAreNotRecorded) {
  const RecordLog log = RecordedWithAWarning([] {
    std::unique_ptr<TrackMemory> late;
    {
      TrackMetrics metrics("first");
      EndOnAThreadThatRecords(std::make_unique<TrackMemory>("wanders"));
      late = std::make_unique<TrackMemory>("late");
    }
    TrackMetrics metrics("second");
    TrackMemory memory("late");
    late.reset();
  });
  for (const MemoryRow& row : ChunkOf(log, "first").memory_sections) EXPECT_EQ(row.count, 0) << row.path;
  EXPECT_EQ(Memory(ChunkOf(log, "second"), "late").count, 1);
}

TEST(Misuse, AHelperScopeThatEndsOnAnotherThreadDoesNotHoldItsThread) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics metrics("helped");
    const ChunkHandle handle = metrics.handle();
    std::thread([&] {
      EndOnAThreadThatRecords(std::make_unique<TrackHelper>(handle));
      { TrackMetrics own({"own", "f", 0, 1}); }
      TrackMetrics unnamed("unnamed");
    }).join();
  });
  EXPECT_EQ(ChunkOf(log, "own").status, "ok");
  EXPECT_EQ(ChunkOf(log, "unnamed").status, "ok");
  EXPECT_EQ(ChunkOf(log, "helped").status, "ok");
  EXPECT_EQ(ChunkOf(log, "unnamed").lanes_peak, 2);
}

TEST(Misuse, AHelperScopeThatEndsBeforeTheChunkInsideIt) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics metrics("helped");
    const ChunkHandle handle = metrics.handle();
    std::thread([&] {
      auto helper = std::make_unique<TrackHelper>(handle);
      auto own = std::make_unique<TrackMetrics>(Chunk{"own", "f", 0, 1});
      helper.reset();
      own.reset();
      TrackMetrics next("next");
    }).join();
  });
  EXPECT_EQ(ChunkOf(log, "own").status, "ok");
  EXPECT_EQ(ChunkOf(log, "next").status, "ok");
  EXPECT_EQ(ChunkOf(log, "next").lanes_peak, 2);
}

TEST(Misuse, ASpanThatEndsOnAnotherThreadIsStillWritten) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics metrics("ttbar");
    EndOnAThreadThatRecords(std::make_unique<Span>("wanders"));
  });
  EXPECT_EQ(log.spans.size(), 1u);
  EXPECT_EQ(log.chunks.size(), 1u);
}

TEST(Misuse, OfAllKindsIsOneWarning) {
  const RecordLog log = RecordedWithAWarning([] {
    for (int i = 0; i < 10; ++i) {
      TrackMetrics metrics("ttbar");
      EndOnAThreadThatRecords(std::make_unique<TrackSection>("wanders"));
      EndOnAThreadThatRecords(std::make_unique<TrackMemory>("wanders"));
      auto outer = std::make_unique<TrackSection>("outer");
      TrackSection inner("inner");
      outer.reset();
    }
  });
  EXPECT_EQ(log.chunks.size(), 10u);
  EXPECT_GE(log.end->dropped, 30);
}

}  // namespace
}  // namespace testing
}  // namespace crema
