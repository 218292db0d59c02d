#include "collector/comparison/comparison.h"

#include <string>
#include <vector>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/measurement/measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Json = nlohmann::ordered_json;

Json Document(const Json& wall_time, int64_t events, double weights = 10) {
  return {{"run", {{"name", "ttbar"}, {"id", "1"}, {"state", "finished"}}},
          {"metrics", {{"wall_time", wall_time}, {"elapsed_time_seconds", wall_time}, {"total_events", events}}},
          {"cuts", Json::array({{{"name", "all"}, {"events", events}, {"weights", weights}}})}};
}

Comparison CompareTwo(const Json& first, const Json& second) {
  const Measurement one = MeasurementOf(first), other = MeasurementOf(second);
  return Compare({&one, &other});
}

bool Falls(const std::string& gate, const Json& first, const Json& second) {
  return Judge(ParseGate(gate).value(), CompareTwo(first, second)).value().fell;
}

TEST(Compare, LeavesOutAliases) {
  const Comparison comparison = CompareTwo(Document(2, 100), Document(3, 100));
  ASSERT_EQ(comparison.metrics.size(), 2u);
  EXPECT_EQ(comparison.metrics[0].key, "wall_time");
  EXPECT_DOUBLE_EQ(*comparison.metrics[0].changes[1], 0.5);
}

TEST(Compare, GivesTheTimeWithoutWorkersAsAPartOfItsOwn) {
  Json before = QuietRun();
  before["metrics"]["wall_time"] = 100;
  before["timelines"]["worker_counts"] = {{0.0, 1}, {100.0, 1}};
  Json after = before;
  after["metrics"]["wall_time"] = 140;
  after["timelines"]["worker_counts"] = {{0.0, 1}, {50.0, 0}, {90.0, 1}, {140.0, 1}};
  const Comparison comparison = CompareTwo(before, after);
  ASSERT_EQ(comparison.elapsed.size(), 1u);
  for (const ElapsedPart& part : comparison.elapsed[0].parts) {
    EXPECT_NEAR(part.difference.seconds, part.part == "no worker" ? 40 : 0, 1e-9) << part.part;
  }
  EXPECT_EQ(comparison.elapsed[0].parts[0].part, "no worker");
  EXPECT_THAT(comparison.sentences[0], HasSubstr("(+40.0 %). Per core: no worker +40.0 s."));
}

TEST(Compare, TellsRunsOfOneNameApart) {
  EXPECT_EQ(CompareTwo(Document(2, 100), Document(3, 100)).runs[1].name, "ttbar (2)");
}

TEST(Compare, NamesRunsOfOneNameByWhatTheirSourcesDifferIn) {
  const auto names = [](const std::string& first, const std::string& second) {
    const Measurement one = MeasurementOf(Document(2, 100)), other = MeasurementOf(Document(3, 100));
    const Comparison comparison = Compare({&one, &other}, {}, {first, second});
    return comparison.runs[0].name + ", " + comparison.runs[1].name + ": " + comparison.sentences[0];
  };
  EXPECT_THAT(names("before", "./after/"), testing::StartsWith("before, after: after took 3.00 s, before 2.00 s"));
  EXPECT_THAT(names("/data/v1/measured/records", "/data/v2/measured/records"), testing::StartsWith("v1, v2:"));
  EXPECT_THAT(names("same", "same"), testing::StartsWith("ttbar, ttbar (2):"));
  const Measurement one = MeasurementOf(Document(2, 100));
  Measurement other = MeasurementOf(Document(3, 100));
  other.run.name = "zjets";
  EXPECT_EQ(Compare({&one, &other}, {}, {"before", "after"}).runs[1].name, "zjets")
      << "names that tell them apart stay";
}

TEST(Compare, HasNoChangeFromZeroOrFromNothing) {
  const Comparison comparison = CompareTwo(Document(0, 100), Document(3, 100));
  EXPECT_FALSE(comparison.metrics[0].changes[1].has_value());
  EXPECT_TRUE(comparison.metrics[0].differs());
  EXPECT_FALSE(CompareTwo(Document(nullptr, 1), Document(3, 1)).metrics[0].changes[1].has_value());
}

TEST(Compare, SurvivesDocumentsThatAreNone) {
  for (const Json& document : {Json(), Json("text"), Json::array({1}), Json({{"metrics", {1, 2}}, {"cuts", "x"}})}) {
    const Comparison comparison = CompareTwo(document, Document(1, 1));
    EXPECT_EQ(comparison.runs.size(), 2u);
    EXPECT_FALSE(ComparisonAsJson(comparison).empty());
  }
}

TEST(Unequal, TakesRoundingOfWeightsForEqualAndNothingElse) {
  EXPECT_THAT(CompareTwo(Document(1, 100, 0.3), Document(1, 100, 0.1 + 0.2)).Unequal(), IsEmpty());
  EXPECT_EQ(CompareTwo(Document(1, 100, 0.3), Document(1, 100, 0.3000001)).Unequal().size(), 1u);
  EXPECT_EQ(CompareTwo(Document(1, 100), Document(1, 101)).Unequal().size(), 2u);  // in all, and after the cut
}

TEST(Unequal, NamesWhatOnlyOneRunHas) {
  Json without = Document(1, 100);
  without["cuts"] = Json::array();
  EXPECT_EQ(CompareTwo(Document(1, 100), without).Unequal().size(), 2u);
}

TEST(ComparisonGate, IsBeyondTheLimitAndNotAtIt) {
  EXPECT_TRUE(Falls("wall_time>5%", Document(100, 1), Document(106, 1)));
  EXPECT_FALSE(Falls("wall_time>5%", Document(100, 1), Document(105, 1)));
  EXPECT_TRUE(Falls("wall_time<-5%", Document(100, 1), Document(94, 1)));
  EXPECT_FALSE(Falls("wall_time<-5%", Document(100, 1), Document(200, 1)));
  EXPECT_TRUE(Falls("wall_time > 5", Document(100, 1), Document(105.5, 1)));
}

TEST(ComparisonGate, FallsFromZeroAndWhereNothingWasMeasured) {
  EXPECT_TRUE(Falls("wall_time>500%", Document(0, 1), Document(1, 1)));
  EXPECT_FALSE(Falls("wall_time>5%", Document(0, 1), Document(0, 1)));
  EXPECT_TRUE(Falls("wall_time>5%", Document(1, 1), Document(nullptr, 1)));
}

TEST(ComparisonGate, OnEqualityFallsWhereNothingWasCompared) {
  EXPECT_FALSE(Falls("unequal", Document(1, 100), Document(1, 100)));
  Json empty = Document(1, 100);
  empty["metrics"]["total_events"] = nullptr;
  empty["cuts"] = Json::array();
  empty["datasets"] = Json::array();
  EXPECT_TRUE(Falls("unequal", empty, empty));
}

TEST(ComparisonGate, ChecksEveryRunAgainstTheFirst) {
  const Measurement first = MeasurementOf(Document(100, 1)), second = MeasurementOf(Document(101, 1)),
                    third = MeasurementOf(Document(120, 1));
  const GateResult result = Judge(ParseGate("wall_time>5%").value(), Compare({&first, &second, &third})).value();
  EXPECT_TRUE(result.fell);
  EXPECT_THAT(result.sentence, HasSubstr("by +20.0 % in ttbar (3)"));
}

TEST(ComparisonGate, OnElapsedTimeIsDoubtfulWhereThreadsWaitedForCpus) {
  Json before = Document(10, 1);
  before["metrics"]["chunk_cpu_time"] = 5;
  before["sections"] = {{{"path", "select"}, {"helper", false}, {"self", 5}, {"count", 1}}};
  const Measurement one = MeasurementOf(before);
  PairedChange paired;
  for (const bool is_busy : {false, true}) {
    paired.is_beside_others = is_busy;
    const Comparison comparison = Compare({&one, &one}, {paired});
    for (const auto& [gate, is_elapsed] : {std::pair<const char*, bool>{"wall_time>5%", true},
                                           {"section:select:self>5%", true},
                                           {"section:select:count>5%", false},
                                           {"chunk_cpu_time>5%", false},
                                           {"unequal", false}}) {
      EXPECT_EQ(Judge(ParseGate(gate).value(), comparison).value().doubt.empty(), !is_busy || !is_elapsed) << gate;
    }
  }
}

TEST(ComparisonGate, OfSureChangesNamesWhatOneRunASideAssumes) {
  const Measurement one = MeasurementOf(Document(10, 1));
  PairedChange paired;
  paired.conclusion = ChangeConclusion::kSlower;
  paired.change = 0.07, paired.low = 0.04, paired.high = 0.1, paired.assumed = 0.02;
  std::vector<JudgedGate> judged;
  JudgeSure(3, Compare({&one, &one}, {paired}), &judged);
  paired.between_runs = 0.01;
  JudgeSure(3, Compare({&one, &one}, {paired}), &judged);
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_TRUE(judged[0].result.fell);
  EXPECT_THAT(judged[0].result.sentence,
              HasSubstr("if equal runs differ by no more than ±2.0 %, which one run a side"));
  EXPECT_TRUE(judged[1].result.fell);
  EXPECT_THAT(judged[1].result.sentence, testing::EndsWith("+10.0 % (limit: +3.0 %)")) << "they measured it";
}

TEST(ComparisonGate, KnowsItsKeys) {
  const Comparison comparison = CompareTwo(Document(1, 1), Document(1, 1));
  const auto unknown = Judge(ParseGate("wal_time>5%").value(), comparison);
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("`wal_time`; did you mean wall_time"));
  EXPECT_TRUE(Falls("wall_time>5%", Document(nullptr, 1), Document(nullptr, 1))) << "known, and measured in no run";
  for (const char* text : {"", "5%", ">5%", "wall_time>", "wall_time>x%", "wall_time>nan"}) {
    EXPECT_FALSE(ParseGate(text).ok()) << text;
  }
}

}  // namespace
}  // namespace crema
