#include "collector/diagnosis/chunk_size_advice.h"

#include <string>

#include "collector/measurement/measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::HasSubstr;

/// 10 cores for 100 s, all busy; chunks of 2 s + 1 ms an event.
nlohmann::ordered_json ThousandCoreSeconds() {
  nlohmann::ordered_json document;
  document["metrics"]["busy_time"] = 1000;
  document["metrics"]["total_cores"] = 10;
  document["chunk_fits"].push_back({{"dataset", "ttbar"},
                                    {"attempts", 100},
                                    {"fixed_seconds", 0.2},
                                    {"seconds_per_event", 1e-3},
                                    {"events_min", 1000},
                                    {"events_p50", 5000},
                                    {"events_max", 6000}});
  return document;
}

ChunkSizeAdvice Advise(const nlohmann::ordered_json& document) {
  return AdviseChunkSizes(MeasurementOf(document)).at(0);
}

TEST(ChunkSizeAdvice, KeepsFixedCostAndTailBelowFivePercent) {
  const ChunkSizeAdvice advice = Advise(ThousandCoreSeconds());
  // 0.2 s / 0.05 = 4 s, of which 3.8 s are 3,800 events
  EXPECT_NEAR(advice.events_least.value_or(0), 3800, 1);
  EXPECT_NEAR(advice.SecondsOf(advice.events_least).value_or(0), 4, 1e-3);
  // chunks of d leave 10 d / 2 of 1,000 core-seconds free: d = 10 s
  EXPECT_NEAR(advice.EventsMost().value_or(0), 9800, 1);
  EXPECT_EQ(AdviceInWords(advice), "use 3 800 to 9 800 events a chunk");
}

TEST(ChunkSizeAdvice, KeepsTheWorkerBelowItsMemoryLimit) {
  nlohmann::ordered_json document = ThousandCoreSeconds();
  document["metrics"]["max_open_chunks"] = 1;
  document["metrics"]["avg_memory_per_worker_bytes"] = 1e9;
  document["metrics"]["chunk_rss_delta_per_event_p95"] = 1e5;
  document["workers"] = {{{"memory_limit_bytes", 3e9}}, {{"memory_limit_bytes", 2e9}}};
  const ChunkSizeAdvice advice = Advise(document);
  EXPECT_NEAR(advice.EventsMost().value_or(0), 6000, 1);  // (0.8 x 2 GB - 1 GB) / 0.1 MB
  EXPECT_EQ(ChunkSizeAdviceRows({advice})[0].limited_by, "memory");
  document["metrics"]["max_open_chunks"] = 2;
  EXPECT_NEAR(Advise(document).EventsMost().value_or(0), 9800, 1);
  EXPECT_THAT(Advise(document).reason, HasSubstr("share their process's memory"));
}

TEST(ChunkSizeAdvice, AsksForNoMoreEventsThanThereAre) {
  nlohmann::ordered_json document = ThousandCoreSeconds();
  document["metrics"]["total_events"] = 5000;
  EXPECT_EQ(Advise(document).EventsMost(), 5000);
  document["metrics"]["total_events"] = 3000;
  EXPECT_EQ(AdviceInWords(Advise(document)), "");
  EXPECT_EQ(Advise(document).reason, "even one chunk of all 3 000 events would have a fixed cost above 5 %");
  document["datasets"] = {{{"name", "ttbar"}, {"events", 4000}}};
  EXPECT_NEAR(Advise(document).events_least.value_or(0), 3800, 1);
  document["chunk_fits"].push_back(document["chunk_fits"][0]);  // another pass
  document["chunk_fits"][1]["pass"] = "second";
  document["datasets"][0]["events"] = 3000;
  EXPECT_EQ(Advise(document).events_least, std::nullopt) << "a pass reads no more than all passes";
}

TEST(ChunkSizeAdvice, HasNoUpperBoundOnOneCore) {
  nlohmann::ordered_json document = ThousandCoreSeconds();
  document["metrics"]["total_cores"] = 1;
  EXPECT_EQ(AdviceInWords(Advise(document)), "");  // they are large enough as they are
  document["chunk_fits"][0]["events_p50"] = 3000;
  const ChunkSizeAdvice advice = Advise(document);
  EXPECT_EQ(advice.EventsMost(), std::nullopt);
  EXPECT_EQ(AdviceInWords(advice), "use at least 3 800 events a chunk");
  EXPECT_FALSE(ChunkSizeAdviceRows({advice})[0].events_most.has_value());
}

TEST(ChunkSizeAdvice, SaysWhereBothCannotBeHad) {
  nlohmann::ordered_json document = ThousandCoreSeconds();
  document["metrics"]["busy_time"] = 100;
  EXPECT_THAT(AdviceInWords(Advise(document)), HasSubstr("cannot have both"));
}

TEST(ChunkSizeAdvice, IsNotGivenWhereTheFitTellsNothing) {
  for (const auto& [field, value, reason] :
       {std::tuple<std::string, nlohmann::ordered_json, std::string>{"attempts", 7, "at least 8 chunks"},
        {"events_p50", nullptr, "how many events"},
        {"fixed_seconds", nullptr, "of one size"},
        {"events_min", 5500, "of one size"},
        {"seconds_per_event", -1e-6, "does not grow"}}) {
    nlohmann::ordered_json document = ThousandCoreSeconds();
    document["chunk_fits"][0][field] = value;
    const ChunkSizeAdvice advice = Advise(document);
    EXPECT_EQ(advice.events_least, std::nullopt) << field;
    EXPECT_THAT(advice.reason, HasSubstr(reason));
    EXPECT_EQ(AdviceInWords(advice), "");
  }
}

TEST(ChunkSizeAdvice, IsWithheldWhereTheFitIsVague) {
  nlohmann::ordered_json document = ThousandCoreSeconds();
  document["chunk_fits"][0]["fixed_seconds_low"] = -0.5;
  document["chunk_fits"][0]["fixed_seconds_high"] = 1.5;
  const ChunkSizeAdvice advice = Advise(document);
  EXPECT_EQ(AdviceInWords(advice), "");
  EXPECT_EQ(advice.reason, "the fit is too vague: a chunk's fixed cost is between 0 s and 1.50 s");
}

TEST(ChunkSizeAdvice, TakesTheTimeOfChunksForFixedWhereTheirEventsTakeLittleOfIt) {
  nlohmann::ordered_json document = ThousandCoreSeconds();
  nlohmann::ordered_json& fit = document["chunk_fits"][0];
  fit["events_min"] = 4900;
  fit["events_max"] = 5100;
  fit["fixed_seconds"] = 0.03;
  fit["seconds_per_event"] = -1e-8;
  fit["seconds_per_event_high"] = 1e-6;
  const ChunkSizeAdvice advice = Advise(document);
  EXPECT_NEAR(advice.fixed_seconds.value_or(0), 0.03 - 5000e-6, 1e-12);
  EXPECT_NEAR(advice.events_least.value_or(0), 19 * 0.025 / 1e-6, 1);
  fit["seconds_per_event_high"] = 3e-6;  // half of the time may be of events
  EXPECT_EQ(Advise(document).events_least, std::nullopt);
}

TEST(ChunkSizeAdvice, DoesNotAdviseWhatDidHarmInTheRun) {
  nlohmann::ordered_json document = ThousandCoreSeconds();
  document["budget"] = {{{"part", "compute"}, {"core_seconds", 85}}, {{"part", "tail"}, {"core_seconds", 15}}};
  const ChunkSizeAdvice advice = Advise(document);  // 9 800 by the fit, and 6 000 left that tail
  EXPECT_EQ(advice.EventsMost(), std::nullopt);
  EXPECT_EQ(advice.reason, "no upper bound: chunks of at most 6 000 events left a tail of 15 %");
  document["chunk_fits"][0]["events_p50"] = 1000;
  document["chunk_fits"][0]["events_max"] = 5000;
  document["chunk_fits"][0]["oversized"] = 2;
  document.erase("budget");
  EXPECT_EQ(Advise(document).EventsMost(), 3000);
}

}  // namespace
}  // namespace crema
