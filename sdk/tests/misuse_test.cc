// Guards that are not used as they should be: one warning, and records that still add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/misused_guards.h"
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

TEST(Misuse, AVariableWithAValueThatMakesNoSenseIsNamed) {
  constexpr std::pair<const char*, const char*> kSenseless[] = {
      {"CREMA_OFF", "true"},        {"CREMA_TRACE", "yes"},        {"CREMA_NO_ARGUMENTS", "2"}, {"CREMA_THREADS", "x"},
      {"CREMA_TOTAL_EVENTS", "-1"}, {"CREMA_MAX_LOG_BYTES", "1G"}, {"CREMA_INTERVAL", "1s"},    {"CREMA_WAITS", "on"}};
  for (const auto& [name, value] : kSenseless) {
    const std::string directory = NewDirectory();
    const ChildResult child =
        RunInChild({{"CREMA_DIR", directory}, {name, value}}, [] { TrackMetrics metrics("ttbar"); });
    EXPECT_EQ(child.errors, std::string("crema: ") + name + "=" + value + " makes no sense, and counts as not set\n");
    EXPECT_EQ(ReadRecordLogs(directory).at(0).chunks.size(), 1u) << name;
  }
  constexpr std::pair<const char*, const char*> kSensible[] = {
      {"CREMA_OFF", "0"},           {"CREMA_TRACE", "1"},          {"CREMA_THREADS", "2"}, {"CREMA_THREADS", ""},
      {"CREMA_MAX_LOG_BYTES", "0"}, {"CREMA_INTERVAL", "0.5"},     {"CREMA_WAITS", "off"}, {"CREMA_WAITS", "auto"},
      {"CREMA_WAITS", "20"},        {"CREMA_TOTAL_EVENTS", "100"}, {"CREMA_STACKS", "0"}};
  for (const auto& [name, value] : kSensible) {
    const ChildResult child =
        RunInChild({{"CREMA_DIR", NewDirectory()}, {name, value}}, [] { TrackMetrics metrics("a"); });
    EXPECT_EQ(child.errors, "") << name << "=" << value;
  }
}

TEST(Misuse, ALocaleWithADecimalCommaLeavesNumbersAsTheyAre) {
  const char* comma = nullptr;
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* const name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr && *std::localeconv()->decimal_point == ',') comma = name;
  }
  std::setlocale(LC_NUMERIC, before.c_str());
  if (comma == nullptr) GTEST_SKIP() << "this machine has none";
  for (const char* const name : {"CREMA_INTERVAL", "CREMA_WAITS"}) {
    const ChildResult child = RunInChild({{"CREMA_DIR", NewDirectory()}, {name, "0.5"}}, [&] {
      std::setlocale(LC_ALL, comma);
      TrackMetrics metrics("ttbar");
    });
    EXPECT_EQ(child.errors, "") << name;
  }
}

template <class Guard>
void EndOnAThreadWithoutGuards(std::unique_ptr<Guard> guard) {
  std::thread([&] { guard.reset(); }).join();
}

TEST(Misuse, ASectionThatEndsOnAnotherThreadEndsWithItsChunk) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics metrics("ttbar");
    EndOnAnotherThread(std::make_unique<TrackSection>("wanders"));
    TrackSection after("after");
  });
  EXPECT_EQ(Section(log.chunks.at(0).sections, "wanders").count, 1);
  ExpectSelfTimesAddUp(log.chunks.at(0));
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
    ExpectSelfTimesAddUp(chunk);
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
  ExpectSelfTimesAddUp(ChunkOf(log, "first"));
  ExpectSelfTimesAddUp(ChunkOf(log, "second"));
}

TEST(Misuse, AChunkThatEndsOnAnotherThreadLastsUntilItsOwnGoesOn) {
  const RecordLog log = RecordedWithAWarning([] {
    EndOnAThreadWithoutGuards(std::make_unique<TrackMetrics>("wanders"));
    TrackMetrics metrics("next");
  });
  EXPECT_EQ(ChunkOf(log, "wanders").status, "ok");
  EXPECT_EQ(log.end->misused, 1);
  EXPECT_EQ(ChunkOf(log, "next").status, "ok");
  EXPECT_EQ(log.end->open, 0);
}

TEST(Misuse, AChunkThatEndsOnAnotherThreadLastsUntilTheEndOfItsOwn) {
  const RecordLog log = RecordedWithAWarning([] {
    std::unique_ptr<TrackMetrics> metrics;
    std::thread([&] {
      metrics = std::make_unique<TrackMetrics>("wanders");
      EndOnAThreadWithoutGuards(std::move(metrics));
    }).join();
  });
  EXPECT_EQ(ChunkOf(log, "wanders").status, "ok");
  EXPECT_EQ(log.end->misused, 1);
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
  EXPECT_EQ(ChunkOf(log, "inner").status, "ok");
  EXPECT_GE(log.end->misused, 1);
  EXPECT_EQ(ChunkOf(log, "next").status, "ok");
  EXPECT_EQ(log.end->open, 0);
}

TEST(Misuse, AChunkThatIsSuspendedWithAChunkInsideIt) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics outer({"outer", "f", 0, 1});
    TrackMetrics inner({"inner", "f", 1, 2});
    outer.Suspend();
    outer.Resume();
  });
  EXPECT_EQ(log.chunks.size(), 2u);
  EXPECT_EQ(log.end->misused, 1);
}

TEST(Misuse, MemoryGuardsThatEndElsewhereOrTooLateAreNotRecorded) {
  const RecordLog log = RecordedWithAWarning([] {
    std::unique_ptr<TrackMemory> late;
    {
      TrackMetrics metrics("first");
      EndOnAnotherThread(std::make_unique<TrackMemory>("wanders"));
      late = std::make_unique<TrackMemory>("late");
    }
    TrackMetrics metrics("second");
    TrackMemory memory("late");
    late.reset();
  });
  for (const MemoryRow& row : ChunkOf(log, "first").memory_sections) EXPECT_EQ(row.count, 0) << row.path;
  EXPECT_EQ(Memory(ChunkOf(log, "second"), "late").count, 1);
}

TEST(Misuse, AChunkThatEndsBeforeTheOneInsideItLeavesTheThreadItsLane) {
  const RecordLog log = RecordedWithAWarning([] {
    auto outer = std::make_unique<TrackMetrics>(Chunk{"outer", "f.root", 0, 100});
    TrackMetrics inner({"inner", "f.root", 100, 200});
    outer.reset();
    inner.Suspend();
    inner.Resume();
    std::thread([] { TrackMetrics other({"other", "f.root", 200, 300}); }).join();
    TrackMetrics last({"last", "f.root", 300, 400});
  });
  EXPECT_EQ(ChunkOf(log, "inner").lanes_peak, 2) << "and the other thread's";
  EXPECT_EQ(ChunkOf(log, "other").lanes_peak, 2);
  EXPECT_EQ(ChunkOf(log, "last").lanes_peak, 1);
}

TEST(Misuse, AHelperScopeThatEndsOnAnotherThreadDoesNotHoldItsThread) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics metrics("helped");
    const ChunkHandle handle = metrics.handle();
    std::thread([&] {
      EndOnAnotherThread(std::make_unique<TrackHelper>(handle));
      { TrackMetrics own({"own", "f", 0, 1}); }
      TrackMetrics unnamed("unnamed");
    }).join();
  });
  EXPECT_EQ(ChunkOf(log, "own").status, "ok");
  EXPECT_EQ(ChunkOf(log, "unnamed").status, "ok");
  EXPECT_EQ(ChunkOf(log, "helped").status, "ok");
  EXPECT_EQ(ChunkOf(log, "unnamed").lanes_peak, 2);
}

TEST(Misuse, AHelperScopeThatOutlivesItsChunkLeavesTheNextOneAlone) {
  const RecordLog log = RecordedWithAWarning([] {
    TrackMetrics helped({"helped", "f", 0, 1});
    std::thread([handle = helped.handle()] {
      auto own = std::make_unique<TrackMetrics>(Chunk{"own", "f", 1, 2});
      auto stale = std::make_unique<TrackHelper>(handle);
      own.reset();
      TrackMetrics next({"next", "f", 2, 3});
      TrackHelper helper(handle);  // in the same place
      stale.reset();
      TrackSection section("in the scope");
    }).join();
  });
  EXPECT_EQ(Section(ChunkOf(log, "helped").sections, "in the scope", true).count, 1);
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
    EndOnAnotherThread(std::make_unique<Span>("wanders"));
  });
  EXPECT_EQ(log.spans.size(), 1u);
  EXPECT_EQ(log.chunks.size(), 1u);
}

TEST(Misuse, OfAllKindsIsOneWarning) {
  const RecordLog log = RecordedWithAWarning([] {
    for (int i = 0; i < 10; ++i) {
      TrackMetrics metrics("ttbar");
      EndOnAnotherThread(std::make_unique<TrackSection>("wanders"));
      EndOnAnotherThread(std::make_unique<TrackMemory>("wanders"));
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
