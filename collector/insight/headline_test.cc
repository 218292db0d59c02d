#include "collector/insight/headline.h"

#include "collector/insight/judged_document.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Headline, SaysWhereTheCoreSecondsWentAndWhatTheLargestLossIs) {
  EXPECT_EQ(
      Headline(QuietRun()),
      "Compute-bound: of 100 core-seconds, 90 % were CPU in your code; the largest avoidable loss is code blocked "
      "on I/O, locks or a device (4.0 %).");
}

TEST(Headline, NamesWaitingWhereItIsTheLargestUse) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 30}, {"cpu_wait", 5}, {"blocked", 45}, {"idle", 20}});
  EXPECT_THAT(Headline(document),
              AllOf(StartsWith("Waiting-bound: of 100 core-seconds, your code waited for 50 % and computed for 30 %;"),
                    HasSubstr("(45 %)")));
}

TEST(Headline, TellsMissingCpusFromBlockedCode) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 40}, {"cpu_wait", 45}, {"blocked", 15}});
  EXPECT_EQ(Headline(document),
            "Short of CPU: of 100 core-seconds, your code waited for 60 % and computed for 40 %; the largest avoidable "
            "loss is runnable threads that got no CPU (45 %).");
}

TEST(Headline, CallsARunStarvedWhoseCoresWereIdle) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 40}, {"startup", 20}, {"idle", 25}, {"tail", 15}});
  EXPECT_THAT(Headline(document), AllOf(StartsWith("Starved: of 100 core-seconds"),
                                        HasSubstr("cores were idle for 60 %, and your code computed for 40 %;"),
                                        HasSubstr("between chunks (25 %)")));
}

TEST(Headline, SaysOfEachOtherLargestUseWhatTookTheTime) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 20}, {"outside_chunk", 70}, {"idle", 10}});
  EXPECT_THAT(Headline(document), StartsWith("Opening-bound: of 100 core-seconds, opening and reading around your code "
                                             "took 70 %, and your code computed for 20 %;"));
  SetBudget(&document, {{"compute", 20}, {"framework", 30}, {"failed", 40}, {"idle", 10}});
  EXPECT_THAT(Headline(document), StartsWith("Overhead-bound: of 100 core-seconds, the framework and repeated work "
                                             "took 70 %, and your code computed for 20 %;"));
  SetBudget(&document, {{"compute", 55}, {"blocked", 25}, {"idle", 20}});
  EXPECT_THAT(Headline(document), StartsWith("Mixed: of 100 core-seconds, 55 % were CPU in your code;"));
}

TEST(Headline, CallsARunWaitingBoundFromThreeTenthsOnOrWhereItWaitsMoreThanItComputes) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 50}, {"blocked", 30}, {"idle", 20}});
  EXPECT_THAT(Headline(document), StartsWith("Waiting-bound: of 100 core-seconds, your code waited for 30 %"));
  SetBudget(&document, {{"compute", 20}, {"blocked", 22}, {"idle", 10}, {"unmeasured", 48}});
  EXPECT_THAT(Headline(document), StartsWith("Not judged"));
  SetBudget(&document, {{"compute", 22}, {"blocked", 24}, {"idle", 24}, {"outside_chunk", 14}, {"framework", 14}});
  EXPECT_THAT(Headline(document), StartsWith("Waiting-bound"));
}

TEST(Headline, SaysFirstWhatIsMissingFromTheRecordsAndFromTheResults) {
  nlohmann::ordered_json document = QuietRun();
  document["quality"]["event_coverage"] = 0.88;
  document["metrics"]["num_unfinished_chunks"] = 2;
  EXPECT_THAT(Headline(document),
              StartsWith("The records hold 88 % of the events only; 2 chunks have no result; compute-bound:"));
  document["quality"]["event_coverage"] = 0.995;
  document["quality"]["records_dropped"] = 3;
  document["quality"]["records_read"] = 1000;
  EXPECT_THAT(Headline(document), StartsWith("3 records were lost; 2 chunks have no result; compute-bound:"));
  document["run"]["state"] = "running";
  EXPECT_THAT(Headline(document), StartsWith("Still running; so far compute-bound"));
}

TEST(Headline, NamesTheCauseWithTheLargestSaving) {
  nlohmann::ordered_json document = QuietRun();
  document["verdicts"] = {{{"id", "slow-file"}, {"saving", 0.04}},
                          {{"id", "slow-worker"}, {"saving", 0.05}},
                          {{"id", "long-tail"}, {"saving", 0.5}}};
  EXPECT_THAT(Headline(document), HasSubstr("(4.0 %); a slow worker cost 5.0 %."));
  document["verdicts"] = {{{"id", "slow-worker"}, {"saving", 0.01}}};
  EXPECT_THAT(Headline(document), Not(HasSubstr("slow worker")));
}

TEST(Headline, SaysWhatAReportAloneTells) {
  nlohmann::ordered_json document;
  document["metrics"]["num_chunks"] = 480;
  EXPECT_EQ(Headline(document), "No chunk was recorded; Coffea reports 480 chunks and not where their time went.");
}

TEST(Headline, SaysThatNoLossStandsOutInsteadOfNamingASmallOne) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 98}, {"blocked", 1}, {"idle", 1}});
  EXPECT_THAT(Headline(document), HasSubstr("no avoidable loss reaches 3 %"));
}

TEST(Headline, SaysFirstThatARunGoesOnOrDidNotEndWell) {
  nlohmann::ordered_json document = QuietRun();
  document["run"]["state"] = "running";
  EXPECT_THAT(Headline(document), StartsWith("Still running; so far compute-bound"));
  document["run"]["state"] = "killed";
  EXPECT_THAT(Headline(document), StartsWith("Killed; until then compute-bound"));
  document["run"]["state"] = "finished";
  document["run"]["exit_status"] = 3;
  EXPECT_THAT(Headline(document), StartsWith("The command failed with exit status 3; compute-bound"));
}

TEST(Headline, DoesNotJudgeLessThanACoreSecond) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 0.1}, {"startup", 0.8}});
  EXPECT_EQ(Headline(document),
            "Too little was measured to judge: 100 chunks ended in 0.90 core-seconds, 11 % of them CPU in your code.");
}

TEST(Headline, GivesTheReasonWhereCoreSecondsWereNotMeasured) {
  nlohmann::ordered_json document = QuietRun();
  document.erase("budget");
  document["quality"]["not_measured"]["core_seconds"] = "no process declared its cores";
  EXPECT_EQ(Headline(document), "Too little was measured to judge (no process declared its cores).");
}

TEST(Headline, SaysThatNoChunkEnded) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["num_chunks"] = 0;
  document["metrics"]["num_attempts"] = 5;
  document["metrics"]["num_lost_attempts"] = 2;
  EXPECT_EQ(Headline(document), "No chunk ended, 5 begun and 2 lost with their process.");
}

TEST(Headline, FallsBackToTheProcessTreeWhereNoChunkWasRecorded) {
  nlohmann::ordered_json document;
  EXPECT_EQ(Headline(document), "No chunk was recorded, so nothing can be said about the work.");
  document["metrics"]["tree_cpu_user"] = 3.9;
  document["metrics"]["tree_cpu_system"] = 0.3;
  document["metrics"]["job_cpu_efficiency"] = 0.41;
  EXPECT_EQ(Headline(document), "No chunk was recorded; the command used 4.20 s of CPU, 41 % of its allocated cores.");
}

TEST(Headline, IsOneSentenceWhateverTheDocumentHolds) {
  for (const nlohmann::ordered_json& document :
       {nlohmann::ordered_json(), nlohmann::ordered_json("text"), nlohmann::ordered_json::array({1, 2}), QuietRun()}) {
    const std::string headline = Headline(document);
    EXPECT_THAT(headline, AllOf(testing::EndsWith("."), Not(HasSubstr("\n")), Not(HasSubstr(". "))));
  }
}

}  // namespace
}  // namespace crema
