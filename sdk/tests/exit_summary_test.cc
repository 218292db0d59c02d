// The summary that CREMA_SUMMARY=1 prints at exit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ChildResult RunWithSummary(const char* summary, const std::string& directory, const std::function<void()>& body) {
  return RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}, {"CREMA_SUMMARY", summary}}, body);
}

void RecordChunks() {
  std::puts("the program's own");
  for (int i = 0; i < 3; ++i) {
    TrackMetrics metrics({"ttbar", "f", i, i + 1});
    TrackSection read("read");
    SpinCpu(2000000);
    TrackSection jets("jets");
    metrics.SetEvents(1000);
    if (i == 2) metrics.Fail("no");
  }
}

TEST(ExitSummary, TellsChunksEventsTimesAndSections) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunWithSummary("1", directory, RecordChunks);
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(child.output, "the program's own\n");
  EXPECT_THAT(child.errors, StartsWith("crema: 3 chunks, 1 failed, in "));
  EXPECT_THAT(child.errors, HasSubstr("\n  events 2000, "));
  EXPECT_THAT(child.errors, ContainsRegex("\n  busy 0\\.[0-9]+ s: CPU [0-9.]+ %"));
  EXPECT_THAT(child.errors, ContainsRegex("\n  read +3 +0\\.[0-9]+ s +[0-9.]+ %"));
  EXPECT_THAT(child.errors, ContainsRegex("\n  read/jets +3 "));
  EXPECT_THAT(child.errors, HasSubstr("\n  (other) "));
  EXPECT_THAT(child.errors, HasSubstr("\n  records in " + directory + "\n"));
}

TEST(ExitSummary, ShowsTheLongestSectionsAndCountsTheOthers) {
  const ChildResult child = RunWithSummary("1", NewDirectory(), [] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 20; ++i) TrackSection section("section " + std::to_string(i));
    TrackSection longest("longest");
    SpinWall(2000000);
  });
  EXPECT_THAT(child.errors, ContainsRegex("own time[^\n]*\n  longest "));
  EXPECT_THAT(child.errors, HasSubstr("\n  and 9 more sections\n"));
}

TEST(ExitSummary, TellsWhatHelpersDid) {
  const ChildResult child = RunWithSummary("1", NewDirectory(), [] {
    TrackMetrics metrics("ttbar");
    const ChunkHandle handle = metrics.handle();
    std::thread([&] {
      TrackHelper helper(handle);
      SpinCpu(2000000);
    }).join();
  });
  EXPECT_THAT(child.errors, HasSubstr("\n  helper threads: CPU 0.0"));
}

TEST(ExitSummary, IsNotPrintedUnlessAskedOrWithoutAChunk) {
  EXPECT_EQ(RunWithSummary("0", NewDirectory(), RecordChunks).errors, "");
  EXPECT_EQ(RunWithSummary("1", NewDirectory(), [] { TrackSection section("outside"); }).errors, "");
}

TEST(ExitSummary, OfAProgramWithoutStderrDoesNoHarm) {
  const ChildResult child = RunWithSummary("1", NewDirectory(), [] {
    RecordChunks();
    std::fclose(stderr);
    std::exit(7);
  });
  EXPECT_EQ(child.exit_status, 7);
  EXPECT_EQ(child.output, "the program's own\n");
}

}  // namespace
}  // namespace testing
}  // namespace crema
