#include "collector/insight/grouped_verdicts.h"

#include "collector/insight/verdicts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

/// `id<cause`, in order.
std::vector<std::string> Told(std::vector<Verdict> verdicts, double failed_attempts = 0) {
  nlohmann::ordered_json document;
  document["metrics"]["num_failed_attempts"] = failed_attempts;
  FindCauses(document, &verdicts);
  OrderByCause(&verdicts);
  std::vector<std::string> told;
  for (const Verdict& verdict : verdicts) {
    told.push_back(verdict.id + (verdict.cause.empty() ? "" : "<" + verdict.cause));
  }
  return told;
}

TEST(GroupedVerdicts, PutSymptomsBehindTheirCause) {
  EXPECT_THAT(Told({Made("stragglers", Severity::kWarning, 0.2), Made("hot-section", Severity::kWarning, 0.1),
                    Made("slow-worker", Severity::kWarning, 0.05)}),
              ElementsAre("hot-section", "slow-worker", "stragglers<slow-worker"));
  EXPECT_THAT(Told({Made("stragglers", Severity::kWarning, 0.2)}), ElementsAre("stragglers"));
}

TEST(GroupedVerdicts, MakeACauseAsBadAsWhatItBrings) {
  EXPECT_THAT(Told({Made("waiting-bound", Severity::kBad, 0.5), Made("worker-loss", Severity::kWarning),
                    Made("failing-chunks", Severity::kBad), Made("retry-waste", Severity::kWarning, 0.1)}),
              ElementsAre("worker-loss", "failing-chunks<worker-loss", "retry-waste<worker-loss", "waiting-bound"));
}

TEST(GroupedVerdicts, DoNotBlameALostWorkerForChunksThatFailed) {
  EXPECT_THAT(Told({Made("worker-loss", Severity::kWarning), Made("failing-chunks", Severity::kBad),
                    Made("retry-waste", Severity::kWarning, 0.1)},
                   3),
              ElementsAre("failing-chunks", "retry-waste<failing-chunks", "worker-loss"));
}

TEST(GroupedVerdicts, HaveOneLevel) {
  EXPECT_THAT(Told({Made("long-tail", Severity::kWarning), Made("chunks-too-large", Severity::kWarning),
                    Made("oversized-chunks", Severity::kWarning)}),
              ElementsAre("oversized-chunks", "long-tail<oversized-chunks", "chunks-too-large<oversized-chunks"));
}

TEST(GroupedVerdicts, AreReadFromTheDocument) {
  const nlohmann::ordered_json document = {
      {"verdicts",
       {{{"id", "slow-worker"}}, {{"id", "stragglers"}, {"cause", "slow-worker"}}, {{"id", "x"}, {"cause", "gone"}}}}};
  const std::vector<VerdictGroup> groups = GroupVerdicts(document);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ((*groups[0].cause)["id"], "slow-worker");
  ASSERT_EQ(groups[0].symptoms.size(), 1u);
  EXPECT_EQ((*groups[0].symptoms[0])["id"], "stragglers");
  EXPECT_EQ((*groups[1].cause)["id"], "x");
  EXPECT_THAT(groups[1].symptoms, IsEmpty());
  EXPECT_THAT(GroupVerdicts("text"), IsEmpty());
}

}  // namespace
}  // namespace crema
