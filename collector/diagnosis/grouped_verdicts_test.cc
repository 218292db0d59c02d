#include "collector/diagnosis/verdicts.h"
#include "collector/measurement/measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Verdict Made(std::string id, Severity severity, std::optional<double> saving = std::nullopt) {
  Verdict verdict;
  verdict.id = std::move(id);
  verdict.severity = severity;
  verdict.saving = saving;
  return verdict;
}

nlohmann::ordered_json WithFailedAttempts(double count) { return {{"metrics", {{"num_failed_attempts", count}}}}; }

/// A straggler of 10 s that should take 1 s.
nlohmann::ordered_json Straggler(const char* worker, const char* file, double start) {
  return {{"worker", worker}, {"file", file}, {"start", start}, {"duration", 10}, {"predicted", 1}};
}

/// `id<cause`, in order.
std::vector<std::string> Reported(std::vector<Verdict> verdicts,
                                  const nlohmann::ordered_json& document = WithFailedAttempts(0)) {
  FindCauses(MeasurementOf(document), &verdicts);
  OrderByCause(&verdicts);
  std::vector<std::string> reported;
  for (const Verdict& verdict : verdicts) {
    reported.push_back(verdict.id + (verdict.cause.empty() ? "" : "<" + verdict.cause));
  }
  return reported;
}

TEST(GroupedVerdicts, PutSymptomsBehindTheirCause) {
  EXPECT_THAT(Reported({Made("long-tail", Severity::kWarning, 0.2), Made("hot-section", Severity::kWarning, 0.1),
                        Made("oversized-chunks", Severity::kWarning, 0.05)}),
              ElementsAre("hot-section", "oversized-chunks", "long-tail<oversized-chunks"));
  EXPECT_THAT(Reported({Made("long-tail", Severity::kWarning, 0.2)}), ElementsAre("long-tail"));
}

TEST(GroupedVerdicts, CoresThatRanNoTaskAreOfWhatHeldTheEventsUp) {
  const Verdict idle = Made("idle-workers", Severity::kBad, 0.5);
  for (const char* const cause : {"serial-module", "external-work", "nothing-ready"}) {
    EXPECT_THAT(Reported({idle, Made(cause, Severity::kWarning)}),
                ElementsAre(cause, std::string("idle-workers<") + cause));
  }
}

TEST(GroupedVerdicts, SayNothingOfASavingThatIsNextToNothing) {
  VerdictRow verdict;
  EXPECT_EQ(SavingText(verdict), "");
  verdict.saving = 3e-5;
  EXPECT_EQ(SavingText(verdict), "");
  verdict.saving = 0.12;
  EXPECT_EQ(SavingText(verdict), "≈ 12 %");
}

TEST(GroupedVerdicts, LogsThatOnlyLackTheirEndsAreOfTheWorkersThatDied) {
  Verdict incomplete = Made("incomplete-measurement", Severity::kWarning);
  incomplete.evidence = {{"quality.processes_lost", 4}};
  const Verdict loss = Made("worker-loss", Severity::kWarning);
  EXPECT_THAT(Reported({incomplete, loss}), ElementsAre("worker-loss", "incomplete-measurement<worker-loss"));
  incomplete.evidence.emplace_back("quality.records_lost", 12);
  EXPECT_THAT(Reported({incomplete, loss}), ElementsAre("incomplete-measurement", "worker-loss"));
}

TEST(GroupedVerdicts, ExplainStragglersOnlyByWhatMostOfThemShare) {
  const auto reported = [](const char* cause, const nlohmann::ordered_json& document) {
    return Reported({Made("stragglers", Severity::kWarning, 0.2), Made(cause, Severity::kWarning, 0.1)}, document)
        .back();
  };
  nlohmann::ordered_json document;
  document["expected_time"] = {{{"by", "worker"}, {"name", "slow"}, {"duration", 20}, {"predicted", 10}},
                               {{"by", "worker"}, {"name", "other"}, {"duration", 11}, {"predicted", 10}},
                               {{"by", "file"}, {"name", "far.root"}, {"duration", 25}, {"predicted", 10}}};
  document["slow_spells"] = {{{"by", "worker"}, {"name", "slow"}, {"start", 50}, {"stop", 60}}};
  document["stragglers"] = {Straggler("slow", "far.root", 55), Straggler("slow", "far.root", 58),
                            Straggler("other", "near.root", 55)};
  EXPECT_EQ(reported("slow-worker", document), "stragglers<slow-worker");
  EXPECT_EQ(reported("slow-file", document), "stragglers<slow-file");
  EXPECT_EQ(reported("slow-spell", document), "stragglers<slow-spell");
  document["stragglers"] = {Straggler("slow", "far.root", 90), Straggler("other", "near.root", 55)};
  EXPECT_EQ(reported("slow-worker", document), "slow-worker") << "as many are elsewhere";
  EXPECT_EQ(reported("slow-file", document), "slow-file");
  EXPECT_EQ(reported("slow-spell", document), "slow-spell") << "none of it is of that worker at that time";
}

TEST(GroupedVerdicts, ExplainASkewByASlowWorkerOnlyIfItHasMostStragglers) {
  nlohmann::ordered_json document;
  document["expected_time"] = {{{"by", "worker"}, {"name", "slow"}, {"duration", 20}, {"predicted", 10}}};
  document["stragglers"] = {Straggler("slow", "a.root", 5), Straggler("slow", "b.root", 6)};
  const std::vector<Verdict> verdicts = {Made("skewed-dataset", Severity::kWarning),
                                         Made("slow-worker", Severity::kWarning)};
  EXPECT_EQ(Reported(verdicts, document).back(), "skewed-dataset<slow-worker");
  for (size_t i : {0, 1}) document["stragglers"][i]["worker"] = "other";
  EXPECT_THAT(Reported(verdicts, document), testing::UnorderedElementsAre("skewed-dataset", "slow-worker"));
}

TEST(GroupedVerdicts, ExplainTheLastWorkerOnlyByItsOwnSlowness) {
  nlohmann::ordered_json document;
  document["workers"] = {{{"name", "slow"}, {"state", "ended"}, {"first_chunk", 0}, {"last_chunk", 25}},
                         {{"name", "other"}, {"state", "ended"}, {"first_chunk", 0}, {"last_chunk", 15}}};
  document["expected_time"] = {{{"by", "worker"}, {"name", "slow"}, {"duration", 25}, {"predicted", 16}},
                               {{"by", "worker"}, {"name", "other"}, {"duration", 15}, {"predicted", 15}}};
  const std::vector<Verdict> verdicts = {Made("last-worker", Severity::kWarning),
                                         Made("slow-worker", Severity::kWarning)};
  EXPECT_EQ(Reported(verdicts, document).back(), "last-worker<slow-worker");
  document["expected_time"][0]["predicted"] = 24;  // it had more to do
  EXPECT_THAT(Reported(verdicts, document), testing::UnorderedElementsAre("last-worker", "slow-worker"));
  document["expected_time"][0]["predicted"] = 16;
  for (size_t i : {0, 1}) document["workers"][i]["last_chunk"] = i == 0 ? 15 : 25;
  EXPECT_THAT(Reported(verdicts, document), testing::UnorderedElementsAre("last-worker", "slow-worker"));
}

TEST(GroupedVerdicts, BlameAShortageOfCpuForWhatWaitedForOne) {
  nlohmann::ordered_json document;
  document["stragglers"] = {Straggler("a", "x.root", 5), Straggler("b", "y.root", 6), Straggler("b", "x.root", 7)};
  for (size_t i : {0, 1}) document["stragglers"][i]["reason"] = "cpu_wait";
  document["stragglers"][2]["reason"] = "blocked";
  document["slow_spells"] = {{{"by", "run"}, {"duration", 9}, {"predicted", 1}, {"reason", "cpu_wait"}}};
  const std::vector<Verdict> symptoms = {Made("stragglers", Severity::kWarning), Made("slow-spell", Severity::kWarning),
                                         Made("skewed-dataset", Severity::kWarning)};
  for (const char* cause : {"cpu-contention", "oversubscribed"}) {
    std::vector<Verdict> verdicts = symptoms;
    verdicts.push_back(Made(cause, Severity::kWarning));
    const std::string because = std::string("<") + cause;
    EXPECT_THAT(Reported(verdicts, document),
                ElementsAre(cause, "stragglers" + because, "slow-spell" + because, "skewed-dataset" + because));
  }
  std::vector<Verdict> verdicts = symptoms;
  verdicts.push_back(Made("cpu-contention", Severity::kWarning));
  verdicts.push_back(Made("oversubscribed", Severity::kWarning));
  EXPECT_THAT(Reported(verdicts, document),
              ElementsAre("oversubscribed", "stragglers<oversubscribed", "slow-spell<oversubscribed",
                          "skewed-dataset<oversubscribed", "cpu-contention<oversubscribed"));
  document["budget"] = {{{"part", "compute"}, {"core_seconds", 2}}, {{"part", "cpu_wait"}, {"core_seconds", 13}}};
  EXPECT_THAT(Reported(verdicts, document),
              ElementsAre("cpu-contention", "stragglers<cpu-contention", "slow-spell<cpu-contention",
                          "skewed-dataset<cpu-contention", "oversubscribed<cpu-contention"))
      << "threads alone cannot keep a core from computing";
  for (auto& straggler : document["stragglers"]) straggler["reason"] = "blocked";
  document["slow_spells"][0]["reason"] = "cpu";
  verdicts.pop_back();
  EXPECT_THAT(Reported(verdicts, document),
              ElementsAre("stragglers", "slow-spell", "skewed-dataset", "cpu-contention"));
}

TEST(GroupedVerdicts, BlameASlowTimeForFilesThatWereReadThen) {
  nlohmann::ordered_json document;
  document["expected_time"] = {{{"by", "file"}, {"name", "far.root"}, {"duration", 25}, {"predicted", 10}}};
  document["slow_spells"] = {{{"by", "run"}, {"start", 50}, {"stop", 60}}};
  document["stragglers"] = {Straggler("a", "far.root", 55), Straggler("b", "far.root", 58),
                            Straggler("a", "near.root", 90)};
  const std::vector<Verdict> verdicts = {Made("slow-file", Severity::kWarning), Made("slow-spell", Severity::kWarning)};
  EXPECT_THAT(Reported(verdicts, document), ElementsAre("slow-file", "slow-spell<slow-file")) << "one file, whenever";
  document["expected_time"].push_back({{"by", "file"}, {"name", "too.root"}, {"duration", 25}, {"predicted", 10}});
  EXPECT_THAT(Reported(verdicts, document), ElementsAre("slow-spell", "slow-file<slow-spell"));
  document["stragglers"][1]["start"] = 80;
  EXPECT_THAT(Reported(verdicts, document), ElementsAre("slow-file", "slow-spell"));
  // no straggler shows when they were read
  document["stragglers"] = nlohmann::ordered_json::array();
  EXPECT_THAT(Reported(verdicts, document), ElementsAre("slow-file", "slow-spell"));
  document["slow_spells"][0].update({{"duration", 60}, {"predicted", 30}});
  EXPECT_THAT(Reported(verdicts, document), ElementsAre("slow-spell", "slow-file<slow-spell"));
  document["expected_time"].erase(1);
  EXPECT_THAT(Reported(verdicts, document), ElementsAre("slow-file", "slow-spell")) << "one file is a cause as well";
}

TEST(GroupedVerdicts, MakeACauseAsBadAsWhatItBrings) {
  EXPECT_THAT(Reported({Made("waiting-bound", Severity::kBad, 0.5), Made("worker-loss", Severity::kWarning),
                        Made("failing-chunks", Severity::kBad), Made("retry-waste", Severity::kWarning, 0.1)}),
              ElementsAre("worker-loss", "failing-chunks<worker-loss", "retry-waste<worker-loss", "waiting-bound"));
}

TEST(GroupedVerdicts, DoNotBlameALostWorkerForChunksThatFailed) {
  EXPECT_THAT(Reported({Made("worker-loss", Severity::kWarning), Made("failing-chunks", Severity::kBad),
                        Made("retry-waste", Severity::kWarning, 0.1)},
                       WithFailedAttempts(3)),
              ElementsAre("failing-chunks", "retry-waste<failing-chunks", "worker-loss"));
}

TEST(GroupedVerdicts, HaveOneLevel) {
  EXPECT_THAT(Reported({Made("long-tail", Severity::kWarning), Made("chunks-too-large", Severity::kWarning),
                        Made("oversized-chunks", Severity::kWarning)}),
              ElementsAre("oversized-chunks", "long-tail<oversized-chunks", "chunks-too-large<oversized-chunks"));
}

TEST(GroupedVerdicts, AreReadFromTheDocument) {
  const Measurement measurement = MeasurementOf({{"verdicts",
                                                  {{{"id", "slow-worker"}},
                                                   {{"id", "stragglers"}, {"cause", "slow-worker"}},
                                                   {{"id", "x"}, {"cause", "gone"}}}}});
  const std::vector<VerdictGroup> groups = GroupVerdicts(measurement);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].cause->id, "slow-worker");
  ASSERT_EQ(groups[0].symptoms.size(), 1u);
  EXPECT_EQ(groups[0].symptoms[0]->id, "stragglers");
  EXPECT_EQ(groups[1].cause->id, "x");
  EXPECT_THAT(groups[1].symptoms, IsEmpty());
  EXPECT_THAT(GroupVerdicts(MeasurementOf("text")), IsEmpty());
}

}  // namespace
}  // namespace crema
