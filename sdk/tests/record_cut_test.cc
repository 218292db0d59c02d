// The cut flow of a chunk.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

std::vector<std::string> Names(const std::vector<CutRow>& cuts) {
  std::vector<std::string> names;
  for (const CutRow& cut : cuts) names.push_back(cut.name);
  return names;
}

TEST(RecordCut, KeepsTheOrderInWhichCutsFirstCame) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int block = 0; block < 3; ++block) {
      RecordCut("all", 100);
      RecordCut("two leptons", 10 + block);
      RecordCut("a Z boson", std::size_t{3});
    }
    RecordCut("late", 0);
  });
  EXPECT_EQ(Names(chunk.cuts), (std::vector<std::string>{"all", "two leptons", "a Z boson", "late"}));
  EXPECT_EQ(chunk.cuts[0].events, 300);
  EXPECT_EQ(chunk.cuts[1].events, 33);
  EXPECT_EQ(chunk.cuts[2].events, 9);
  EXPECT_EQ(chunk.cuts[3].events, 0);
}

TEST(RecordCut, ACutWithItsInputHasAPathInItsFlow) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int block = 0; block < 2; ++block) {
      RecordCut("all", 10, {{}, 10, "signal", {}});
      RecordCut("MET/HT", 4, {"all", -1, "signal", {}});
      RecordCut("jets", 1, 0.5, {"MET/HT", 3, "signal", {}});
      RecordCut("jets", 2, {"nobody", -1, {}, {}});
      RecordCut("jets", 7, {{}, 8, "signal", "all/jets (2)"});
      RecordCut("all", 9);
    }
  });
  std::vector<std::string> found;
  for (const CutRow& cut : chunk.cuts) {
    const std::string seen = cut.seen.has_value() ? std::to_string(*cut.seen) : "-";
    found.push_back(cut.name + "|" + std::to_string(cut.events) + "|" + seen + "|" + cut.path + "|" + cut.flow);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"all|20|20|all|signal", "MET/HT|8|-|all/MET%2FHT|signal",
                                             "jets|2|6|all/MET%2FHT/jets|signal", "jets|4|-|nobody/jets|",
                                             "jets|14|16|all/jets (2)|signal", "all|18|-||"}));
  EXPECT_EQ(chunk.cuts.at(2).weights, 1.0);
}

TEST(RecordCut, WhatACutSawIsKnownOnlyIfEachCallKnowsIt) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordCut("jets", 400, {{}, 1000});
    RecordCut("MET", 10, {"jets"});
    RecordCut("MET", 50, {"jets", 380});
    RecordCut("mass", 5, {"MET", 50});
    RecordCut("mass", 1, {"MET"});
  });
  EXPECT_EQ(chunk.cuts.at(0).seen, 1000);
  EXPECT_EQ(chunk.cuts.at(1).events, 60);
  EXPECT_EQ(chunk.cuts.at(1).seen, std::nullopt);
  EXPECT_EQ(chunk.cuts.at(2).seen, std::nullopt);
}

TEST(RecordCut, APathThatIsTooLongIsNotThatOfAnotherCut) {
  const std::string path(5'000, 'p');
  const ChunkLine chunk = RecordedChunk([&path] {
    TrackMetrics metrics("ttbar");
    RecordCut("long", 3, {{}, 4, {}, path});
    RecordCut("below", 3, {path, 4});
    RecordCut("short", 3, {{}, 4, {}, path.substr(0, 4'000)});
  });
  EXPECT_EQ(Names(chunk.cuts), (std::vector<std::string>{"short"}));
}

TEST(RecordCut, WeightsAreNullWhereNoneWasGiven) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordCut("plain", 4);
    RecordCut("weighted", 4, 3.25);
    RecordCut("weighted", 1, -0.5);
    RecordCut("weightless", 0, 0.0);
  });
  EXPECT_EQ(chunk.cuts.at(0).weights, std::nullopt);
  EXPECT_EQ(chunk.cuts.at(1).weights, 2.75);
  EXPECT_EQ(chunk.cuts.at(1).events, 5);
  EXPECT_EQ(chunk.cuts.at(2).weights, 0.0);
}

TEST(RecordCut, ThatMakesNoSenseIsCountedAsDropped) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    RecordCut("all", 10, 5.0);
    RecordCut("all", -1);
    RecordCut("all", 1, std::numeric_limits<double>::quiet_NaN());
  });
  EXPECT_EQ(log.chunks.at(0).cuts.at(0).events, 10);
  EXPECT_EQ(log.chunks.at(0).cuts.at(0).weights, 5.0);
  EXPECT_EQ(log.end->dropped, 2);
}

TEST(RecordCut, OutsideAChunkIsCountedAsDropped) {
  const RecordLog log = Recorded([] {
    RecordCut("all", 10);
    TrackMetrics metrics("ttbar");
  });
  EXPECT_EQ(log.end->dropped, 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
