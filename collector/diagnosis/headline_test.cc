#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/measurement/catalog.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Headline(const nlohmann::ordered_json& document) { return crema::Headline(MeasurementOf(document)); }

TEST(Headline, SaysWhereTheCoreSecondsWentAndWhatTheLargestLossIs) {
  EXPECT_EQ(
      Headline(QuietRun()),
      "Compute-bound: your code computed for 90 % of 100 core-seconds. The largest avoidable loss is code that was "
      "blocked (4.0 %); all 100 chunks have results.");
}

TEST(Headline, SaysThatDecompressingTheInputIsAmongWhatTheCodeComputed) {
  nlohmann::ordered_json document = QuietRun();
  document["custom_metrics"] = {{{"name", "unzip_wall"}, {"unit", "s"}, {"sum", 47}}};
  AddInsight(&document);
  EXPECT_THAT(Headline(document),
              StartsWith("Compute-bound: your code computed for 90 % of 100 core-seconds; decompressing the input took "
                         "47 % of the core-seconds (wall time). The largest"));
  document = QuietRun();
  document["metrics"]["chunk_cpu_time"] = 90;
  document["functions"] = {{{"function", "lzma_decode"}, {"samples", 1000}, {"share", 1.0}, {"share_error", 0.02}}};
  AddInsight(&document);
  EXPECT_THAT(Headline(document), HasSubstr("; decompressing the input took about 90 % of the core-seconds. "));
  document = QuietRun();
  document["custom_metrics"] = {{{"name", "unzip_wall"}, {"unit", "s"}, {"sum", 7}}};
  document["metrics"]["decompression_share"] = 0.7;  // of the chunks' time: no warning
  AddInsight(&document);
  EXPECT_THAT(Headline(document), Not(HasSubstr("decompressing")));
  document = QuietRun();
  document["metrics"]["total_compression_overhead_seconds"] = 10;  // the engine's
  AddInsight(&document);
  EXPECT_THAT(Headline(document), Not(HasSubstr("decompressing")));
}

TEST(Headline, SaysAtTheEndThatNoResultIsMissingWhereTheRecordsSaySo) {
  nlohmann::ordered_json document = QuietRun();
  EXPECT_THAT(Headline(document), testing::EndsWith("(4.0 %); all 100 chunks have results."));
  document["verdicts"] = {{{"id", "slow-worker"}, {"sentence", "a took 3 times as long."}, {"saving", 0.3}}};
  EXPECT_THAT(Headline(document), testing::EndsWith("curing that would save 30 % of the core-seconds; all 100 chunks "
                                                    "have results."));
  document["metrics"]["num_chunks"] = 1;
  EXPECT_THAT(Headline(document), testing::EndsWith("; the chunk has its result."));
  document["metrics"]["num_chunks"] = 100;
  document["quality"]["processes_unreported"] = 1;
  EXPECT_THAT(Headline(document), testing::EndsWith("; all 100 chunks that began have results."));
  const nlohmann::ordered_json whole = QuietRun();
  const auto ends_without = [&whole](const char* pointer, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json changed = whole;
    changed[nlohmann::ordered_json::json_pointer(pointer)] = value;
    EXPECT_THAT(Headline(changed), Not(HasSubstr("results."))) << pointer;
  };
  ends_without("/metrics/num_unfinished_chunks", 1);
  ends_without("/metrics/num_unfinished_chunks", nullptr);
  ends_without("/quality/event_coverage", 0.9999);
  ends_without("/quality/records_dropped", 1);
  ends_without("/quality/records_lost", 1);
  ends_without("/run/state", "running");
  ends_without("/run/state", "killed");
  ends_without("/run/exit_status", 3);
}

TEST(Headline, SaysOfAGpuThatNobodyCountedOnlyWhatTheDriverReported) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["gpu_utilization"] = 0.75;
  EXPECT_THAT(Headline(document),
              StartsWith("May use a GPU: some kernel, maybe of others, ran on this machine for 75 % of "
                         "the time; your code computed or was blocked for 94 % of 100 core-seconds"));
  document["metrics"]["gpu_peak_memory_bytes"] = 1e9;
  EXPECT_THAT(Headline(document),
              StartsWith("Uses a GPU: some kernel ran for 75 % of the time in which it did; your code"));
  document["metrics"]["gpu_utilization"] = nullptr;  // as of a device that is divided (MIG)
  EXPECT_THAT(Headline(document), StartsWith("Uses a GPU: the driver does not report how busy it was; your code"));
  EXPECT_THAT(Headline(document), HasSubstr("(`crema run --gpu` shows it)"));
  nlohmann::ordered_json waiting = document;
  SetBudget(&waiting, {{"compute", 20}, {"cpu_wait", 5}, {"blocked", 60}, {"idle", 15}});
  EXPECT_THAT(Headline(waiting), StartsWith("Uses a GPU"));
  SetBudget(&waiting, {{"compute", 20}, {"cpu_wait", 60}, {"blocked", 5}, {"idle", 15}});
  EXPECT_THAT(Headline(waiting), StartsWith("Short of CPU")) << "the kernel reports that";
  document["metrics"]["gpu_wait_cpu_seconds"] = 0;
  EXPECT_THAT(Headline(document), StartsWith("Compute-bound"));
}

TEST(Headline, SaysOfAGpuThatWasCountedInPartThatItMayHaveBeenUsed) {
  nlohmann::ordered_json document = QuietRun();
  document["quality"]["not_measured"]["gpu_wait_cpu_seconds"] = "another user of CUPTI took over";
  EXPECT_THAT(Headline(document), StartsWith("May use a GPU, and what it did is not known; your code"));
  document["quality"]["not_measured"]["gpu_wait_cpu_seconds"] = FindMetric("gpu_wait_cpu_seconds")->why_null;
  EXPECT_THAT(Headline(document), StartsWith("Compute-bound")) << "no process asked for it";
}

TEST(Headline, NamesTheLargerOfKernelsAndCopies) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 30}, {"gpu_wait", 70}});
  document["metrics"]["gpu_wait_cpu_seconds"] = 70;
  document["metrics"]["gpu_seconds"] = 60;
  document["metrics"]["gpu_copy_seconds"] = 10;
  EXPECT_THAT(Headline(document), StartsWith("Gpu-bound: your code waited for the GPU for 70 % of 100 core-seconds"));
  document["metrics"]["gpu_copy_seconds"] = 61;
  EXPECT_THAT(Headline(document), StartsWith("Gpu-copies: your code waited for the GPU for 70 % of 100 core-seconds"));
}

TEST(Headline, NamesWaitingWhereItIsTheLargestUse) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 30}, {"cpu_wait", 5}, {"blocked", 45}, {"idle", 20}});
  EXPECT_EQ(
      Headline(document),
      "Waiting-bound: your code waited for 50 % of 100 core-seconds and computed for 30 %. The largest other loss is "
      "cores that were free between chunks (20 %); all 100 chunks have results.");
  document["sections"] = {{{"path", "read"}, {"total", 60}, {"self", 10}, {"cpu", 15}},
                          {{"path", "read/unzip"}, {"total", 50}, {"self", 50}, {"cpu", 10}},
                          {{"path", "fill"}, {"total", 20}, {"self", 20}}};
  document["datasets"] = {{{"name", "ttbar"}, {"blocked_sum", 40}}, {{"name", "data"}, {"blocked_sum", 5}}};
  document["workers"] = {{{"name", "a"}, {"blocked_sum", 20}}, {{"name", "b"}, {"blocked_sum", 25}}};
  EXPECT_EQ(
      Headline(document),
      "Waiting-bound: your code waited for 50 % of 100 core-seconds (most of it in section read/unzip, of dataset "
      "ttbar, on b) and computed for 30 %. The largest other loss is cores that were free between chunks (20 %); all "
      "100 chunks have results.");
  for (auto& row : document["datasets"]) row["duration_sum"] = row["name"] == "ttbar" ? 30 : 20;
  document["workers"][0]["duration_sum"] = 22;
  document["workers"][1]["duration_sum"] = 25;
  EXPECT_THAT(Headline(document), HasSubstr("(most of it in section read/unzip, of dataset ttbar)"))
      << "b waited for its share of the time only";
  document["workers"] = {{{"name", "a"}, {"blocked_sum", 22}}, {{"name", "b"}, {"blocked_sum", 22}}};
  document["sections"][1]["cpu"] = 30;
  EXPECT_THAT(Headline(document), HasSubstr("(most of it of dataset ttbar)"));
  document["datasets"][0]["name"] = "(other)";
  EXPECT_THAT(Headline(document), HasSubstr("waited for 50 % of 100 core-seconds and computed")) << "it names nothing";
}

TEST(Headline, NamesNoHolderOfTheBlockedTimeWhereCodeWaitedForCpus) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 51}, {"cpu_wait", 48.9}, {"blocked", 0.1}});
  document["datasets"] = {{{"name", "ttbar"}, {"blocked_sum", 0.09}, {"cpu_wait_sum", 25}, {"duration_sum", 50}},
                          {{"name", "data"}, {"blocked_sum", 0.01}, {"cpu_wait_sum", 24}, {"duration_sum", 50}}};
  EXPECT_THAT(Headline(document),
              StartsWith("Short of CPU: your code waited for 49 % of 100 core-seconds and computed"));
  document["datasets"][0]["cpu_wait_sum"] = 45;
  document["datasets"][1]["cpu_wait_sum"] = 4;
  EXPECT_THAT(Headline(document), HasSubstr("(most of it of dataset ttbar)"));
}

TEST(Headline, NamesWhatBlockedCodeWaitedForWhereItWasSeen) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 30}, {"blocked", 70}});
  document["waits"] = {{{"kind", "read"},
                        {"section", "io"},
                        {"object", "/data/a.root"},
                        {"seconds", 50},
                        {"share", 0.71},
                        {"low", 0.675},
                        {"high", 0.745},
                        {"samples", 100},
                        {"coarse", false}},
                       {{"kind", "lock or condition"},
                        {"section", "fill"},
                        {"object", nullptr},
                        {"seconds", 20},
                        {"share", 0.29},
                        {"low", 0.255},
                        {"high", 0.325},
                        {"samples", 40},
                        {"coarse", false}}};
  EXPECT_THAT(Headline(document), HasSubstr("71 ± 4 % of the blocked time reading /data/a.root, 29 ± 4 % at locks or "
                                            "conditions"));
  document["waits"][0]["function"] = "TFile::ReadBuffer";
  EXPECT_THAT(Headline(document), HasSubstr("reading /data/a.root in TFile::ReadBuffer, 29"));
  document["waits"][1]["kind"] = "lock";
  document["waits"][1]["object"] = "held by section write";
  EXPECT_THAT(Headline(document), HasSubstr("29 ± 4 % at a lock held by section write"));
  document["waits"][1]["object"] = "/data/calibration.lock";
  EXPECT_THAT(Headline(document), HasSubstr("29 ± 4 % at a lock of /data/calibration.lock"));
  document["waits"].push_back(document["waits"][0]);
  document["waits"][2]["object"] = "/data/b.root";
  document["waits"][2]["seconds"] = 30;
  document["waits"][2]["share"] = 0.3;
  EXPECT_THAT(Headline(document), HasSubstr("reading, mostly /data/a.root in TFile::ReadBuffer, "));
  document["waits"].erase(2);
  document["metrics"]["chunk_blocked"] = 70;
  document["metrics"]["shared_cpu_time"] = 60;
  EXPECT_THAT(Headline(document), HasSubstr("calibration.lock, while threads without guards worked"));
  document["waits"][1]["coarse"] = true;  // some of these may have been reads
  EXPECT_THAT(Headline(document), HasSubstr("at least 67 % of the blocked time reading /data/a.root"));
  document["waits"][0]["coarse"] = true;
  EXPECT_THAT(Headline(document), Not(HasSubstr("reading")));
}

TEST(Headline, NamesAProcessWithoutGuardsThatBlockedCodeMayHaveWaitedFor) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 1}, {"blocked", 99}});
  document["metrics"]["chunk_blocked"] = 99;
  document["workers"] = {{{"name", "node:17"}, {"process", "node:17"}}};
  document["processes"] = {{{"name", "analysis"}, {"host", "node"}, {"pid", 17}, {"cpu", 90}},
                           {{"name", "server"}, {"host", "node"}, {"pid", 18}, {"cpu", 20}}};
  EXPECT_THAT(Headline(document),
              HasSubstr("; process server (18), which has no chunk in these records, computed for 20.0 s in "
                        "this run"));
  document["metrics"]["children_cpu_time"] = 15;  // a chunk that waited for it has this
  EXPECT_THAT(Headline(document), Not(HasSubstr("server")));
  document["metrics"]["children_cpu_time"] = 0;
  document["run"]["engine"] = "made up";
  EXPECT_THAT(Headline(document), Not(HasSubstr("server"))) << "a worker may have its chunks";
  document["run"]["engine"] = nullptr;
  document["processes"][1]["cpu"] = 19;
  EXPECT_THAT(Headline(document), Not(HasSubstr("server"))) << "less than a fifth of the blocked time";
}

TEST(Headline, CallsNoCoresIdleWhereThreadsWithoutGuardsMayHaveWaitedForThem) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 50}, {"joined", 50}});
  document["metrics"]["chunk_joined"] = 50;
  EXPECT_THAT(Headline(document), StartsWith("Starved: cores were idle for 50 %"));
  document["metrics"]["unannounced_cpu_time"] = 25;
  EXPECT_THAT(Headline(document), StartsWith("Starved: no chunk used the cores for 50 %"));
}

TEST(Headline, NamesALossThatIsLargerThanWhatAnyCauseCosts) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 75}, {"blocked", 21}, {"idle", 4}});
  document["datasets"] = {{{"name", "ttbar"}, {"blocked_sum", 20}}, {{"name", "data"}, {"blocked_sum", 1}}};
  document["verdicts"] = {{{"id", "oversized-chunks"}, {"sentence", "Two chunks are too large."}, {"saving", 0.05}}};
  EXPECT_THAT(Headline(document), testing::EndsWith("The largest avoidable loss is code that was blocked "
                                                    "(21 %, most of it of dataset ttbar); all 100 chunks "
                                                    "have results."));
  document["verdicts"][0]["saving"] = 0.22;
  EXPECT_THAT(Headline(document),
              testing::EndsWith("Two chunks are too large; curing that would save 22 % of the core-seconds; all 100 "
                                "chunks have results."));
}

TEST(Headline, DoesNotNameALossTwice) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 1}, {"process_cpu", 97}, {"idle", 2}});
  EXPECT_EQ(Headline(document),
            "Busy outside chunks: processes computed outside chunks for 97 % of 100 core-seconds, and your "
            "code computed for 1.0 %; all 100 chunks have results.");
}

TEST(Headline, TellsMissingCpusFromBlockedCode) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 40}, {"cpu_wait", 45}, {"blocked", 15}});
  EXPECT_EQ(Headline(document),
            "Short of CPU: your code waited for 60 % of 100 core-seconds and computed for 40 %; all 100 chunks have "
            "results.");
}

TEST(Headline, CallsARunStarvedWhoseCoresWereIdle) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 40}, {"startup", 20}, {"idle", 25}, {"tail", 15}});
  EXPECT_THAT(Headline(document),
              AllOf(StartsWith("Starved: cores were idle for 60 % of 100 core-seconds, and your code "
                               "computed for 40 %. "),
                    HasSubstr("between chunks (25 %)")));
  document["metrics"]["wall_time"] = 50;
  document["processes"] = {{{"name", "cc1plus"}, {"start", 0}, {"stop", 30}, {"cpu", 25}, {"cpu_wait", 2}}};
  EXPECT_THAT(Headline(document), StartsWith("Starved: no chunk used the cores for 60 % of 100 core-seconds, and"));
}

TEST(Headline, SaysOfEachOtherLargestUseWhatTookTheTime) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 40}, {"unused_by_tasks", 50}, {"idle", 10}});
  EXPECT_THAT(Headline(document),
              AllOf(StartsWith("Over-allocated: tasks held cores that they did not use for 50 % of 100 core-seconds, "
                               "and your code computed for 40 %."),
                    Not(HasSubstr("avoidable"))));
  SetBudget(&document, {{"compute", 20}, {"outside_chunk", 70}, {"idle", 10}});
  EXPECT_THAT(Headline(document), StartsWith("Around chunks: tasks were outside chunks for 70 % of 100 "
                                             "core-seconds, and your code computed for 20 %."));
  document["metrics"]["outside_chunk_time"] = 70;
  document["metrics"]["first_before_chunk_time"] = 50;
  EXPECT_THAT(Headline(document),
              StartsWith("Set-up-bound: tasks were outside chunks, most of it before the first chunk of each thread, "
                         "for 70 % of 100 core-seconds"));
  SetBudget(&document, {{"compute", 20}, {"framework", 30}, {"failed", 40}, {"idle", 10}});
  EXPECT_THAT(Headline(document), StartsWith("Overhead-bound: the framework and repeated work took 70 % of 100 "
                                             "core-seconds, and your code computed for 20 %."));
  SetBudget(&document, {{"compute", 20}, {"process_cpu", 70}, {"idle", 10}});
  EXPECT_THAT(Headline(document), StartsWith("Busy outside chunks: processes computed outside chunks for 70 % "
                                             "of 100 core-seconds, and your code computed for 20 %."));
  document["process_sections"] = {{{"path", "a {} section"}, {"self_in_workers", 60}}};
  EXPECT_THAT(Headline(document),
              StartsWith("Busy outside chunks: processes computed outside chunks, where section a {} section took 1 m "
                         "00 s, for 70 % of 100 core-seconds, and your code computed for 20 %."));
  SetBudget(&document, {{"compute", 20}, {"outside_chunk", 70}, {"idle", 10}});
  EXPECT_THAT(Headline(document), StartsWith("Around chunks: tasks were outside chunks, where section a {} "
                                             "section took 1 m 00 s, for 70 % of 100 core-seconds"));
  document.erase("process_sections");
  SetBudget(&document, {{"compute", 55}, {"blocked", 25}, {"idle", 20}});
  EXPECT_THAT(Headline(document), StartsWith("Mixed: your code computed for 55 % of 100 core-seconds."));
}

TEST(Headline, CallsARunWaitingBoundFromThreeTenthsOnOrWhereItWaitsMoreThanItComputes) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 50}, {"blocked", 30}, {"idle", 20}});
  EXPECT_THAT(Headline(document), StartsWith("Waiting-bound: your code waited for 30 % of 100 core-seconds"));
  SetBudget(&document, {{"compute", 20}, {"blocked", 22}, {"idle", 10}, {"unmeasured", 48}});
  EXPECT_THAT(Headline(document), StartsWith("Not judged"));
  SetBudget(&document, {{"compute", 22}, {"blocked", 24}, {"idle", 24}, {"outside_chunk", 14}, {"framework", 14}});
  EXPECT_THAT(Headline(document), StartsWith("Waiting-bound"));
}

TEST(Headline, SaysFirstWhatIsMissingFromTheRecordsAndFromTheResults) {
  nlohmann::ordered_json document = QuietRun();
  document["quality"]["event_coverage"] = 0.88;
  document["metrics"]["num_unfinished_chunks"] = 2;
  EXPECT_EQ(Headline(document),
            "2 of 102 chunks have no result and the records hold only 88 % of the events. The largest avoidable loss "
            "is code that was blocked (4.0 %).");
  document["verdicts"] = {{{"id", "waiting-bound"}, {"sentence", "Your code waits, 40 %."}, {"saving", 0.4}}};
  EXPECT_THAT(Headline(document), testing::EndsWith("of the events. Your code waits, 40 %."));
  document.erase("verdicts");
  document["quality"]["event_coverage"] = 0.995;
  document["quality"]["records_dropped"] = 3;
  document["quality"]["records_read"] = 1000;
  EXPECT_THAT(Headline(document), StartsWith("2 of 102 chunks have no result and 3 records were lost. The largest"));
  document["run"]["state"] = "running";
  EXPECT_THAT(Headline(document), StartsWith("Still running; so far compute-bound"));
}

nlohmann::ordered_json Worker(const char* name, const char* state, double stop, double chunks) {
  return {{"name", name}, {"state", state}, {"start", 0}, {"stop", stop}, {"chunks", chunks}, {"events", 10 * chunks}};
}

TEST(Headline, SaysFirstWhichWorkersVanishedAndWhatHangsOnThem) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["num_unfinished_chunks"] = 1;
  document["workers"] = {Worker("a", "ended", 100, 40), Worker("b", "lost", 30, 9), Worker("c", "lost", 40, 12),
                         Worker("d", "ended", 100, 39)};
  EXPECT_THAT(Headline(document),
              StartsWith("1 of 101 chunks has no result and 2 of 4 workers vanished (b, c) after 21 "
                         "ended chunks whose results may be lost too. "));
  document["run"]["engine"] = "dask";  // computes again what was lost
  EXPECT_THAT(Headline(document), StartsWith("1 of 101 chunks has no result and 2 of 4 workers vanished (b, c). "));
  document["run"]["state"] = "killed";  // as a whole
  EXPECT_THAT(Headline(document), StartsWith("The run was killed and 1 of 101 chunks has no result. "));
}

TEST(Headline, CountsWorkersThatWereNotThereAsALoss) {
  nlohmann::ordered_json document = QuietRun();
  document["run"]["engine"] = "dask";
  document["workers"] = {Worker("a", "ended", 100, 40), Worker("b", "ended", 100, 39), Worker("c", "lost", 50, 9),
                         Worker("d", "lost", 50, 12)};
  EXPECT_EQ(Headline(document),
            "2 of 4 workers vanished (c, d). The vanished workers would have given 25 % of the worker-seconds; all 100 "
            "chunks have results.");
  document["verdicts"] = {{{"id", "slow-worker"}, {"sentence", "a took 3 times as long."}, {"saving", 0.3}}};
  EXPECT_THAT(Headline(document),
              HasSubstr("a took 3 times as long; curing that would save 30 % of the core-seconds; "));
  document["run"]["state"] = "running";
  document["verdicts"][0]["saving"] = 0.1;
  EXPECT_THAT(Headline(document), HasSubstr("a took 3 times as long")) << "they may come again";
}

TEST(Headline, CountsWorkersThatCameLateAsALoss) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["wall_time"] = 290;
  document["metrics"]["peak_workers"] = 4;
  document["timelines"]["worker_counts"] = {{0.0, 1}, {39.0, 4}, {290.0, 4}};
  AddInsight(&document);
  EXPECT_THAT(Headline(document),
              testing::EndsWith("It took 39.0 s until nearly all of the 4 workers were there; 10 % of what they could "
                                "have done is missing; all 100 chunks have results."));
  document["timelines"]["worker_counts"] = {{0.0, 1}, {5.0, 4}, {290.0, 4}};
  AddInsight(&document);
  EXPECT_THAT(Headline(document), Not(HasSubstr("workers were there")));
}

TEST(Headline, EndsWithTheCauseWithTheLargestSavingInTheWordsOfItsVerdict) {
  nlohmann::ordered_json document = QuietRun();
  document["verdicts"] = {
      {{"id", "slow-file"}, {"sentence", "x.root is slow."}, {"saving", 0.04}},
      {{"id", "slow-worker"}, {"sentence", "w1 took 2 times as long."}, {"saving", 0.05}},
      {{"id", "long-tail"}, {"sentence", "The tail."}, {"saving", 0.5}, {"cause", "oversized-chunks"}}};
  EXPECT_THAT(Headline(document),
              testing::EndsWith("core-seconds. w1 took 2 times as long; curing that would save 5.0 % of the "
                                "core-seconds; all 100 chunks have results."));
  document["verdicts"] = {{{"id", "slow-worker"}, {"sentence", "w1 took 2 times as long."}, {"saving", 0.01}}};
  EXPECT_THAT(Headline(document), Not(HasSubstr("w1")));
}

TEST(Headline, SaysWhatAReportAloneTells) {
  nlohmann::ordered_json document;
  document["metrics"]["num_chunks"] = 480;
  EXPECT_EQ(Headline(document), "No chunk was recorded; Coffea reports 480 chunks, but not where their time went.");
}

TEST(Headline, SaysThatNoLossStandsOutInsteadOfNamingASmallOne) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 98}, {"blocked", 1}, {"idle", 1}});
  EXPECT_THAT(Headline(document), testing::EndsWith("No avoidable loss reaches 3 %; all 100 chunks have results."));
}

TEST(Headline, SaysFirstThatARunGoesOnOrDidNotEndWell) {
  nlohmann::ordered_json document = QuietRun();
  document["run"]["state"] = "running";
  EXPECT_THAT(Headline(document), StartsWith("Still running; so far compute-bound"));
  document["run"]["state"] = "killed";
  EXPECT_THAT(Headline(document),
              StartsWith("The run was killed. The largest avoidable loss is code that was blocked"));
  SetBudget(&document, {{"compute", 98}, {"blocked", 2}});
  EXPECT_THAT(Headline(document), StartsWith("The run was killed. Compute-bound"));
  EXPECT_THAT(Headline(document), testing::EndsWith("core-seconds; no avoidable loss reaches 3 %."));
  document["run"]["state"] = "finished";
  document["run"]["exit_status"] = 3;
  EXPECT_THAT(Headline(document), StartsWith("The command failed with exit status 3. Compute-bound"));
  document["run"]["error"] = "Error: restarted. Run again.";
  EXPECT_THAT(Headline(document), StartsWith("The run failed with Error: restarted. Run again. Compute-bound"));
}

TEST(Headline, DoesNotJudgeLessThanACoreSecond) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 0.1}, {"startup", 0.8}});
  EXPECT_EQ(Headline(document),
            "Too little was measured to judge: 100 chunks ended in 0.90 core-seconds, 11 % of it CPU in your code.");
}

TEST(Headline, GivesTheReasonWhereCoreSecondsWereNotMeasured) {
  nlohmann::ordered_json document = QuietRun();
  document.erase("budget");
  document["metrics"]["core_seconds"] = nullptr;
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

TEST(Headline, BlamesNoChunkForWhatProcessesWaitedOutside) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 3}, {"cpu_wait", 10}, {"process_cpu", 21}, {"process_cpu_wait", 66}});
  EXPECT_THAT(Headline(document),
              StartsWith("Short of CPU outside chunks: processes waited for a CPU outside chunks for 66 % of "));
}

TEST(Headline, FallsBackToTheProcessTreeWhereNoChunkWasRecorded) {
  nlohmann::ordered_json document;
  EXPECT_EQ(Headline(document), "No chunk was recorded, so nothing is known about the work.");
  document["metrics"]["tree_cpu_user"] = 3.9;
  document["metrics"]["tree_cpu_system"] = 0.3;
  document["metrics"]["job_cpu_efficiency"] = 0.41;
  EXPECT_EQ(Headline(document), "No chunk was recorded; the command used 4.20 s of CPU.");
  document["metrics"]["allocated_cores"] = 2;
  EXPECT_EQ(Headline(document), "No chunk was recorded; the command used 4.20 s of CPU, on average 0.8 of 2 cores.");
  document["metrics"]["tree_cpu_wait"] = 1.5;
  EXPECT_EQ(
      Headline(document),
      "No chunk was recorded; the command used 4.20 s of CPU, on average 0.8 of 2 cores; its threads waited for a "
      "CPU for 1.50 s of core time.");
  document["metrics"].erase("tree_cpu_wait");
  document["metrics"]["tree_cpu_system"] = 3.9;
  document["metrics"]["tree_write_bytes"] = 3.02e8;
  EXPECT_EQ(
      Headline(document),
      "No chunk was recorded; the command used 7.80 s of CPU, on average 0.8 of 2 cores; 50 % of the CPU time was "
      "in the kernel; it wrote 302 MB.");
  EXPECT_THAT(Judge(MeasurementOf(document)), testing::IsEmpty());  // nothing else was asked
}

TEST(Headline, IsTextWhateverTheDocumentHolds) {
  for (const nlohmann::ordered_json& document :
       {nlohmann::ordered_json(), nlohmann::ordered_json("text"), nlohmann::ordered_json::array({1, 2}), QuietRun()}) {
    const std::string headline = Headline(document);
    EXPECT_THAT(headline, AllOf(testing::EndsWith("."), Not(HasSubstr("\n")), Not(HasSubstr(".."))));
  }
}

}  // namespace
}  // namespace crema
