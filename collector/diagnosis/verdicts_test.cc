#include "collector/diagnosis/verdicts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/diagnosis/verdict_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Json = nlohmann::ordered_json;

Json Asked(const char* server, double calls, double bytes, double seconds) {
  return {{"server", server}, {"operation", "readv"}, {"calls", calls}, {"bytes", bytes}, {"seconds", seconds}};
}

std::string SentenceOf(const std::string& id, const Json& document) {
  for (const Verdict& verdict : Judge(document)) {
    if (verdict.id == id) return verdict.sentence;
  }
  return "";
}

/// 100 s on one core; kernels of 20 s, copies, and waiting for them.
Json RunOnGpu(double waiting, double copies) {
  Json document = QuietRun();
  SetBudget(&document, {{"compute", 100 - waiting}, {"gpu_wait", waiting}});
  for (const auto& [key, value] : std::vector<std::pair<const char*, double>>{{"wall_time", 100},
                                                                              {"gpu_seconds", 20},
                                                                              {"gpu_copy_seconds", copies},
                                                                              {"gpu_busy_seconds", 25},
                                                                              {"gpu_wait_cpu_seconds", 0},
                                                                              {"gpu_to_device_bytes", 3e9},
                                                                              {"gpu_from_device_bytes", 1e9}}) {
    document["metrics"][key] = value;
  }
  return document;
}

TEST(Verdicts, SeeThreadsThatSpinInPools) {
  const auto run = [](const char* function, const char* file, double error) {
    Json document = QuietRun();
    document["metrics"]["chunk_cpu_time"] = 90;
    document["functions"] = Json::array(
        {{{"function", function}, {"file", file}, {"samples", 500}, {"share", 0.5}, {"share_error", error}},
         {{"function", "fit"}, {"file", "/home/ana/fit"}, {"samples", 500}, {"share", 0.5}, {"share_error", error}}});
    return document;
  };
  EXPECT_EQ(SentenceOf("spinning", run("libgomp.so.1+0x1f780", "/usr/lib/libgomp.so.1", 0.02)),
            "Threads waited for others in a loop for about 45 % of the core-seconds, by samples of stacks: in "
            "libgomp.so.1+0x1f780 most.");
  EXPECT_THAT(VerdictIds(run("pthread_spin_lock", "/lib/libc.so.6", 0.02)), Contains("spinning"));
  EXPECT_THAT(VerdictIds(run("libgomp.so.1+0x1f780", "/usr/lib/libgomp.so.1", 0.45)), Not(Contains("spinning")));
  EXPECT_THAT(VerdictIds(run("Fill", "/usr/lib/libHist.so", 0.02)), Not(Contains("spinning")));
}

TEST(Verdicts, SeeDecompressionInStacksWhereNobodyTimedIt) {
  const auto run = [](double share, double error) {
    Json document = QuietRun();
    document["metrics"]["chunk_cpu_time"] = 90;
    document["functions"] = Json::array(
        {{{"function", "lzma_decode"}, {"samples", 1000 * share}, {"share", share}, {"share_error", error}},
         {{"function", "fit"}, {"samples", 1000 * (1 - share)}, {"share", 1 - share}, {"share_error", error}}});
    return document;
  };
  EXPECT_EQ(SentenceOf("compression-heavy", run(0.6, 0.02)),
            "Decompressing the input took about 54 % of the core-seconds, by samples of stacks: lzma_decode most.");
  EXPECT_THAT(VerdictIds(run(0.6, 0.4)), Not(Contains("compression-heavy")));  // too few samples
  EXPECT_THAT(VerdictIds(run(0.3, 0.02)), Not(Contains("compression-heavy")));
  Json timed = run(0.6, 0.02);
  timed["custom_metrics"] = {{{"name", "unzip_wall"}, {"unit", "s"}, {"sum", 1}}};
  EXPECT_THAT(VerdictIds(timed), Not(Contains("compression-heavy")));
  Json compresses = run(0.6, 0.02);
  compresses["functions"][0]["function"] = "ZSTD_compressBlock_fast";
  EXPECT_THAT(VerdictIds(compresses), Not(Contains("compression-heavy")));
}

TEST(Verdicts, NameDecompressionThatIsMostOfFewChunksWithoutAWarning) {
  Json document = QuietRun();
  document["custom_metrics"] = {{{"name", "unzip_wall"}, {"unit", "s"}, {"sum", 7.1}}};
  document["metrics"]["decompression_share"] = 0.71;
  EXPECT_EQ(SentenceOf("compression-heavy", document),
            "Decompressing the input took 71 % of the chunks' time (wall time), more than reading it.");
  EXPECT_EQ(FindVerdict(document, "compression-heavy").severity, Severity::kInfo);
  document["custom_metrics"][0]["sum"] = 47;
  EXPECT_EQ(SentenceOf("compression-heavy", document),
            "Decompressing the input took 47 % of the core-seconds (wall time), more than reading it.");
  EXPECT_EQ(FindVerdict(document, "compression-heavy").severity, Severity::kWarning);
  document["custom_metrics"].push_back({{"name", "read_wall"}, {"unit", "s"}, {"sum", 48}});
  EXPECT_THAT(VerdictIds(document), Not(Contains("compression-heavy")));
}

TEST(Verdicts, OfAGpuSayForWhichPartOfTheRunItWorked) {
  EXPECT_EQ(
      SentenceOf("gpu-bound", RunOnGpu(40, 1)),
      "Your code waited for the GPU for 40 % of the core-seconds. Kernels ran for 20.0 s, and the GPU was at work for "
      "25 % of the run.");
  EXPECT_EQ(SentenceOf("gpu-copies", RunOnGpu(40, 30)),
            "Your code waited for the GPU for 40 % of the core-seconds, and copies (3 GB to it, 1 GB from it) took "
            "longer than kernels: 30.0 s and 20.0 s.");
  Json document = RunOnGpu(10, 1);
  EXPECT_EQ(SentenceOf("gpu-starved", document),
            "Kernels and copies of the processes that record ran for 25 % of the run only.");
  document["metrics"]["gpu_utilization"] = 0.27;
  EXPECT_EQ(
      SentenceOf("gpu-starved", document),
      "Kernels and copies of the processes that record ran for 25 % of the run only; while they used the GPU, some "
      "kernel ran for 27 % of the time.");
}

TEST(Verdicts, BlameNoGpuForWhatWasNotSeenOfIt) {
  Json busy = RunOnGpu(10, 1);
  busy["metrics"]["gpu_utilization"] = 0.9;
  EXPECT_EQ(SentenceOf("gpu-starved", busy), "") << "of a process that does not record, or of others";
  Json parallel = RunOnGpu(10, 1);
  parallel["metrics"]["gpu_busy_seconds"] = 120;
  EXPECT_EQ(SentenceOf("gpu-starved", parallel), "") << "several processes or devices";
  Json inside = RunOnGpu(40, 30);
  for (const char* key : {"gpu_to_device_bytes", "gpu_from_device_bytes"}) inside["metrics"][key] = 0;
  EXPECT_EQ(SentenceOf("gpu-copies", inside), "") << "copies inside the device cannot be saved by keeping data there";
  Json idle = RunOnGpu(40, 1);
  idle["metrics"]["gpu_seconds"] = 2;
  EXPECT_EQ(SentenceOf("gpu-bound", idle), "") << "kernels do not explain the waiting";
}

TEST(Verdicts, NameTheSlowServer) {
  Json document = QuietRun();
  document["requests"] = {Asked("root://fast", 500, 5e9, 5), Asked("root://slow", 500, 5e9, 25)};
  EXPECT_EQ(SentenceOf("slow-server", document),
            "Server root://slow took 5 times as long for readv as the others of its kind, 20.0 s longer in all.");
  EXPECT_EQ(SentenceOf("many-small-reads", document), "");
}

TEST(Verdicts, FindNoServerSlowThatWasAskedForMoreBytes) {
  Json document = QuietRun();
  document["requests"] = {Asked("root://fast", 500, 1e9, 5), Asked("root://large", 500, 5e9, 25)};
  EXPECT_EQ(SentenceOf("slow-server", document), "");
  document["requests"][1]["server"] = "(other)";  // nobody knows whose they are
  document["requests"][1]["bytes"] = 1e9;
  EXPECT_EQ(SentenceOf("slow-server", document), "");
}

TEST(Verdicts, FindNoServerSlowBesideAMountOrAnotherScheme) {
  Json document = QuietRun();
  document["requests"] = {Asked("/data", 500, 5e9, 0.05), Asked("root://one", 500, 5e9, 25)};
  EXPECT_EQ(SentenceOf("slow-server", document), "");
  document["requests"][0]["server"] = "https://cache";
  EXPECT_EQ(SentenceOf("slow-server", document), "");
}

TEST(Verdicts, CompareMountsWithMountsAndNamesWithNames) {
  Json document = QuietRun();
  document["requests"] = {Asked("/fast", 500, 5e9, 5), Asked("/", 500, 5e9, 25), Asked("cache", 500, 5e9, 0.1)};
  EXPECT_EQ(SentenceOf("slow-server", document),
            "Server / took 5 times as long for readv as the others of its kind, 20.0 s longer in all.");
  document["requests"] = {Asked("near", 500, 5e9, 5), Asked("far", 500, 5e9, 25)};
  EXPECT_EQ(SentenceOf("slow-server", document),
            "Server far took 5 times as long for readv as the others of its kind, 20.0 s longer in all.");
}

TEST(Verdicts, NameTheServerOfManySmallReads) {
  Json document = QuietRun();
  document["requests"] = {Asked("/data", 20000, 2e7, 30), Asked("root://one", 5000, 5e9, 30)};
  EXPECT_EQ(SentenceOf("many-small-reads", document),
            "20 000 requests (readv) moved 1 kB each from /data, and took 30.0 s.");
}

TEST(Verdicts, SayWhatTheKernelDidForChunks) {
  Json document = QuietRun();
  Json& metrics = document["metrics"];
  metrics["busy_time"] = 100;
  metrics["chunk_cpu_time"] = 60;
  metrics["system_cpu_time"] = 48;
  EXPECT_EQ(SentenceOf("kernel-time", document),
            "80 % of the CPU time of your chunks was spent in the kernel, 48 % of the core-seconds.");
  EXPECT_EQ(SentenceOf("page-faults", document), "");
  metrics["process_read_calls"] = 2e7;
  metrics["process_read_call_bytes"] = 4e7;
  EXPECT_EQ(SentenceOf("kernel-time", document),
            "80 % of the CPU time of your chunks was spent in the kernel, 48 % of the core-seconds; it answered "
            "20 M read calls of 2 B each meanwhile.");
  EXPECT_EQ(SentenceOf("many-small-reads", document),
            "20 M read calls returned 2 B each: 333 k in each second of CPU time of your chunks.");
  EXPECT_EQ(FindVerdict(document, "kernel-time").cause, "many-small-reads");
  metrics["system_cpu_time"] = 0.01;
  EXPECT_EQ(SentenceOf("many-small-reads", document), "") << "a few calls of a run that hardly computes";
  metrics["system_cpu_time"] = 48;
  metrics["minor_faults"] = 3e7;
  EXPECT_EQ(SentenceOf("page-faults", document),
            "30 M minor page faults in your chunks, 500 k in each second of their CPU time: the kernel filled "
            "in pages of new memory, or of files that it had.");
  metrics["chunk_major_faults"] = 307201;
  EXPECT_EQ(SentenceOf("page-faults", document),
            "307 k major page faults stopped your chunks, 3 072 in each second of them: pages of mapped files, or of "
            "swapped memory, came from storage.");
}

TEST(Verdicts, NameTheSectionOfSmallReadsThatTrackIoCounted) {
  Json document = QuietRun();
  document["custom_metrics"] = {{{"name", "read.read_calls"}, {"unit", "count"}, {"sum", 6e6}},
                                {{"name", "read.rchar_bytes"}, {"unit", "B"}, {"sum", 6e6}}};
  document["sections"] = {{{"path", "read"}, {"total", 21.0}},
                          {{"path", "read/read"}, {"total", 20.0}},
                          {{"path", "spread"}, {"total", 70.0}}};
  EXPECT_EQ(SentenceOf("many-small-reads", document),
            "6 M read calls in section read returned 1 B each, and the section took 20.0 s.");
  document["custom_metrics"][0]["sum"] = 5e4;
  EXPECT_EQ(SentenceOf("many-small-reads", document), "") << "the section computed for most of its time";
}

TEST(Verdicts, NameSmallReadsWhoseTimeWasRecorded) {
  Json document = QuietRun();
  const auto metric = [](const char* name, const char* unit, double sum) {
    return Json{{"name", name}, {"unit", unit}, {"sum", sum}};
  };
  document["custom_metrics"] = {metric("read_calls", "count", 6e6), metric("bytes_read", "B", 6e6),
                                metric("read_wall", "s", 20)};
  EXPECT_EQ(SentenceOf("many-small-reads", document), "6 M reads moved 1 B each, and took 20.0 s.");
  document["custom_metrics"][2]["sum"] = 1;
  EXPECT_EQ(SentenceOf("many-small-reads", document), "") << "they took no time";
  document["custom_metrics"][2]["sum"] = 20;
  document["custom_metrics"][0]["sum"] = 10;
  EXPECT_EQ(SentenceOf("many-small-reads", document), "") << "they were few and large";
}

TEST(Verdicts, NameAQuotaAndNotOtherPrograms) {
  Json document = QuietRun();
  SetBudget(&document, {{"compute", 40}, {"cpu_wait", 60}});
  EXPECT_THAT(FindVerdict(document, "cpu-contention").suggestion, HasSubstr("Other programs"));
  document["metrics"]["throttled_time"] = 50;
  document["workers"] = {{{"name", "h:1"}, {"throttled", 50}, {"allowed_cores", 0.3}}};
  EXPECT_EQ(SentenceOf("cpu-contention", document),
            "Threads were runnable but got no CPU for 60 % of the core-seconds: the quota of 0.3 cores held them back "
            "for 50.0 s.");
  EXPECT_THAT(FindVerdict(document, "cpu-contention").suggestion, HasSubstr("larger CPU quota"));
  document["workers"][0]["allowed_cores"] = 2;
  EXPECT_THAT(SentenceOf("cpu-contention", document), HasSubstr("a CPU quota held them back")) << "or 2 CPUs";
  document["metrics"]["throttled_time"] = 20;
  EXPECT_THAT(SentenceOf("cpu-contention", document), Not(HasSubstr("quota"))) << "others took most";
}

TEST(Verdicts, FindNothingInAQuietRun) {
  EXPECT_THAT(VerdictIds(QuietRun()), ElementsAre("largest-loss", "compute-bound", "healthy"));
}

TEST(Verdicts, ChunksThatWereComputedAgainDidNotFail) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 50}, {"failed", 50}});
  document["metrics"]["num_recomputed_chunks"] = 40;
  EXPECT_EQ(FindVerdict(document, "retry-waste").sentence,
            "40 chunks that had a result were computed again: 50 % of the core-seconds.");
  EXPECT_THAT(FindVerdict(document, "retry-waste").suggestion, HasSubstr("in the input twice"));
  document["metrics"]["num_failed_attempts"] = 1;
  EXPECT_EQ(FindVerdict(document, "retry-waste").sentence,
            "40 chunks that had a result were computed again, and 1 attempt gave no result: together 50 % of the "
            "core-seconds.");
  EXPECT_FALSE(FindVerdict(document, "failing-chunks").saving.has_value()) << "the repeats took it, not the failure";
  document["metrics"]["num_recomputed_chunks"] = 0;
  EXPECT_EQ(FindVerdict(document, "retry-waste").sentence,
            "Attempts that gave no result cost 50 % of the core-seconds.");
}

TEST(Verdicts, ChunksOfAWorkerThatLeftWereNotTwiceInTheInput) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 50}, {"failed", 50}});
  document["metrics"]["num_recomputed_chunks"] = 3;
  document["run"]["engine"] = "Dask 2026.8.0";
  const nlohmann::ordered_json stays = {
      {"name", "a"}, {"chunks", 20}, {"attempts", 20}, {"stop", 9}, {"last_chunk", 8}};
  const nlohmann::ordered_json left = {{"name", "b"}, {"state", "ended"}, {"left_reason", "closed"},
                                       {"chunks", 0}, {"attempts", 4},    {"lost", 1},
                                       {"stop", 2},   {"last_chunk", 1}};
  document["workers"] = {stays, left};
  EXPECT_EQ(FindVerdict(document, "retry-waste").suggestion,
            "1 worker that left had held their results, so Dask 2026.8.0 computed them again. See why: crema show "
            "--table workers.");
  document["workers"][1]["stop"] = 8.5;
  EXPECT_THAT(FindVerdict(document, "retry-waste").suggestion, HasSubstr("in the input twice")) << "it left at the end";
  document["workers"][1].update({{"stop", 2}, {"chunks", 1}});
  EXPECT_THAT(FindVerdict(document, "retry-waste").suggestion, HasSubstr("in the input twice")) << "it held only 2";
}

TEST(Verdicts, OfManyThreadsSaveNoMoreThanTheirShareOfThem) {
  nlohmann::ordered_json document = QuietRun();
  const double cores = document["metrics"]["core_seconds"];
  document["expected_time"] = nlohmann::ordered_json::array();
  for (int i = 0; i < 4; ++i) {
    document["expected_time"].push_back({{"by", "worker"},
                                         {"name", "h:" + std::to_string(i)},
                                         {"attempts", 20},
                                         {"duration", i == 0 ? 2 * cores : cores},
                                         {"predicted", i == 0 ? cores / 2 : cores}});
  }
  document["metrics"]["oversubscribed_core_seconds"] = 3 * cores;
  EXPECT_NEAR(FindVerdict(document, "slow-worker").saving.value_or(0), 1.5 / 4, 1e-9);
}

struct PartCase {
  std::string id;
  std::string part;
};

class VerdictsOfOnePart : public testing::TestWithParam<PartCase> {};

TEST_P(VerdictsOfOnePart, FireFromTheirThresholdOnAndTurnBadFromTheSecond) {
  const VerdictRule& rule = RuleOf(GetParam().id);
  nlohmann::ordered_json document = QuietRun();
  auto set_share = [&](double share) {
    SetBudget(&document, {{"compute", 100 * (1 - share)}, {GetParam().part, 100 * share}});
  };
  set_share(rule.threshold.value - 0.001);
  EXPECT_THAT(VerdictIds(document), Not(Contains(GetParam().id)));
  set_share(rule.threshold.value + 0.001);
  EXPECT_EQ(FindVerdict(document, GetParam().id).severity, Severity::kWarning);
  EXPECT_NEAR(FindVerdict(document, GetParam().id).saving.value_or(-1), rule.threshold.value + 0.001, 1e-9);
  set_share(rule.threshold.bad + 0.001);
  EXPECT_EQ(FindVerdict(document, GetParam().id).severity, Severity::kBad);
}

INSTANTIATE_TEST_SUITE_P(Budget, VerdictsOfOnePart,
                         testing::Values(PartCase{"waiting-bound", "blocked"}, PartCase{"waiting-bound", "waiting"},
                                         PartCase{"cpu-contention", "cpu_wait"}, PartCase{"long-tail", "tail"},
                                         PartCase{"idle-workers", "idle"}, PartCase{"unused-cores", "unused_by_tasks"},
                                         PartCase{"startup-dominated", "startup"}));

TEST(Verdicts, CallARunWaitingBoundThatWaitsLessThanAThirdButMoreThanItComputes) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 15}, {"blocked", 20}, {"idle", 65}});
  EXPECT_THAT(VerdictIds(document), Contains("waiting-bound"));
  SetBudget(&document, {{"compute", 20}, {"blocked", 15}, {"idle", 65}});
  EXPECT_THAT(VerdictIds(document), Not(Contains("waiting-bound")));
}

TEST(Verdicts, DoNotSayWhatCodeWaitedForWhereTheKernelDidNotTell) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 60}, {"waiting", 40}});
  const Verdict verdict = FindVerdict(document, "waiting-bound");
  EXPECT_THAT(verdict.sentence, HasSubstr("the kernel does not report for what"));
  EXPECT_EQ(verdict.evidence.front().first, "budget.waiting.share");
  EXPECT_THAT(VerdictIds(document), Not(Contains("cpu-contention")));
  SetBudget(&document, {{"compute", 60}, {"blocked", 40}});
  EXPECT_EQ(
      FindVerdict(document, "waiting-bound").sentence,
      "Your code was blocked for 40 % of the core-seconds and computed for 60 %. What it waited for is not known.");
}

TEST(Verdicts, SuggestToLookAtWaitsOnlyWhereTheyCanBeSeen) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 60}, {"blocked", 40}});
  EXPECT_THAT(FindVerdict(document, "waiting-bound").suggestion, HasSubstr("crema run --waits"));
  document["waits"] = {{{"kind", "sync"},
                        {"section", "write"},
                        {"seconds", 40},
                        {"share", 1},
                        {"low", 0.3},
                        {"high", 1},
                        {"samples", 12}}};
  EXPECT_THAT(FindVerdict(document, "waiting-bound").suggestion, HasSubstr("crema run --waits shows"));
  document["waits"][0]["function"] = "Write";
  EXPECT_THAT(FindVerdict(document, "waiting-bound").suggestion,
              HasSubstr("run for longer, or crema run --waits=100."));
  document["waits"].push_back(
      {{"kind", "not known"}, {"seconds", 160}, {"share", 0.8}, {"low", 0.75}, {"high", 0.85}, {"samples", 50}});
  EXPECT_THAT(FindVerdict(document, "waiting-bound").suggestion, HasSubstr("run for longer")) << "not asked for again";
  document["waits"].erase(1);
  document["waits"][0].update({{"seconds", 20}, {"share", 0.5}, {"low", 0.48}, {"high", 0.52}});
  document["waits"].push_back(document["waits"][0]);
  document["waits"][0].update({{"kind", "read"}, {"seconds", 19.9}});
  document["waits"][1]["seconds"] = 19.9;
  document["waits"].push_back({{"kind", "poll"},
                               {"section", "write"},
                               {"seconds", 0.2},
                               {"share", 0.005},
                               {"low", 0},
                               {"high", 0.02},
                               {"samples", 1}});
  EXPECT_EQ(FindVerdict(document, "waiting-bound").suggestion,
            "crema show --table waits lists what threads waited for.");
  document.erase("waits");
  document["quality"]["processes_without_waits"] = 1;
  EXPECT_THAT(FindVerdict(document, "waiting-bound").suggestion,
              AllOf(HasSubstr("crema show --table quality"), Not(HasSubstr("--waits"))));
}

TEST(Verdicts, CallComputeBoundFromSixtyPercentOn) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 60.1}, {"idle", 39.9}});
  EXPECT_EQ(FindVerdict(document, "compute-bound").severity, Severity::kInfo);
  EXPECT_EQ(FindVerdict(document, "compute-bound").saving, std::nullopt);
  SetBudget(&document, {{"compute", 59.9}, {"idle", 40.1}});
  EXPECT_THAT(VerdictIds(document), Not(Contains("compute-bound")));
}

TEST(Verdicts, SpeakOfLostAttemptsAndMissingResultsAlone) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["num_lost_attempts"] = 1;
  EXPECT_EQ(FindVerdict(document, "failing-chunks").sentence, "1 of 100 attempts was lost.");
  document["metrics"]["num_lost_attempts"] = 0;
  document["metrics"]["num_unfinished_chunks"] = 2;
  EXPECT_EQ(FindVerdict(document, "failing-chunks").sentence, "2 chunks have no result.");
}

TEST(Verdicts, DoNotTakeEventsToComeForMissingOnes) {
  nlohmann::ordered_json document = QuietRun();
  document["quality"]["event_coverage"] = 0.5;
  EXPECT_THAT(VerdictIds(document), Contains("incomplete-measurement"));
  document["run"]["state"] = "running";
  EXPECT_THAT(VerdictIds(document), Not(Contains("incomplete-measurement")));
}

TEST(Verdicts, SayOfAReportAloneThatNoChunkWasRecorded) {
  nlohmann::ordered_json document;
  document["metrics"]["num_chunks"] = 480;
  EXPECT_THAT(FindVerdict(document, "incomplete-measurement").sentence, HasSubstr("No chunk was recorded"));
}

TEST(Verdicts, CountFailedAndLostAttempts) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["num_attempts"] = 1000;
  document["metrics"]["num_failed_attempts"] = 9;
  EXPECT_THAT(VerdictIds(document), Not(Contains("failing-chunks")));
  document["metrics"]["num_lost_attempts"] = 1;
  EXPECT_EQ(FindVerdict(document, "failing-chunks").severity, Severity::kWarning);
  EXPECT_EQ(FindVerdict(document, "failing-chunks").sentence, "9 of 1 000 attempts failed, 1 more lost.");
  document["metrics"]["num_failed_attempts"] = 50;
  EXPECT_EQ(FindVerdict(document, "failing-chunks").severity, Severity::kBad);
}

TEST(Verdicts, CallOneChunkWithoutResultBadOnceTheRunIsOver) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["num_attempts"] = 1000;
  document["metrics"]["num_failed_attempts"] = 1;
  document["metrics"]["num_unfinished_chunks"] = 1;
  EXPECT_EQ(FindVerdict(document, "failing-chunks").severity, Severity::kBad);
  document["run"]["state"] = "running";
  EXPECT_THAT(VerdictIds(document), Not(Contains("failing-chunks")));
}

TEST(Verdicts, SayFirstThatTheRunFailed) {
  nlohmann::ordered_json document = QuietRun();
  document["run"]["exit_status"] = 139;
  document["quality"]["records_malformed"] = 1;
  EXPECT_EQ(VerdictIds(document).front(), "failed-run");
  EXPECT_THAT(VerdictIds(document), Not(Contains("healthy")));
  const Verdict verdict = FindVerdict(document, "failed-run");
  EXPECT_EQ(verdict.sentence, "The run failed: exit status 139, as after signal 11 (segmentation fault).");
  EXPECT_EQ(verdict.severity, Severity::kBad);
  document["run"]["exit_status"] = nullptr;
  document["run"]["state"] = "failed";
  document["run"]["error"] = "ValueError: no file.";
  EXPECT_EQ(FindVerdict(document, "failed-run").sentence, "The run failed: ValueError: no file.");
  document["run"]["state"] = "running";
  EXPECT_THAT(VerdictIds(document), Not(Contains("failed-run")));
}

TEST(Verdicts, WeighStragglersByWhatTheyTookBeyondTheirPrediction) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["straggler_chunks"] = 1;
  document["stragglers"].push_back({{"duration", 1.5}, {"predicted", 1.0}});
  EXPECT_THAT(VerdictIds(document), Not(Contains("stragglers")));
  document["stragglers"].push_back({{"duration", 3.5}, {"predicted", 1.0}, {"reason", "cpu"}});
  document["metrics"]["straggler_chunks"] = 2;
  const Verdict verdict = FindVerdict(document, "stragglers");
  EXPECT_THAT(verdict.sentence, HasSubstr("2 stragglers took 3.00 s longer"));
  EXPECT_THAT(verdict.suggestion, HasSubstr("crema run --stacks"));
  EXPECT_NEAR(verdict.saving.value_or(0), 0.03, 1e-9);
  document["quality"]["lost_samples"] = 0;  // they were asked for
  EXPECT_THAT(FindVerdict(document, "stragglers").suggestion, Not(HasSubstr("--stacks")));
}

TEST(Verdicts, SeeOversubscriptionWhereThreadsWantedMoreCpuThanThereWas) {
  nlohmann::ordered_json document = QuietRun();
  auto& metrics = document["metrics"];
  metrics["oversubscribed_core_seconds"] = 50;
  metrics["core_efficiency"] = 1;
  metrics["chunk_cpu_time"] = 60;
  metrics["lane_cpu_wait"] = 43;
  EXPECT_THAT(VerdictIds(document), Not(Contains("oversubscribed"))) << "the other threads only wait";
  metrics["lane_cpu_wait"] = 46;
  EXPECT_EQ(FindVerdict(document, "oversubscribed").severity, Severity::kWarning);
  metrics["lane_cpu_wait"] = 80;
  EXPECT_EQ(FindVerdict(document, "oversubscribed").severity, Severity::kBad);
  metrics["oversubscribed_core_seconds"] = 1;
  EXPECT_THAT(VerdictIds(document), Not(Contains("oversubscribed"))) << "others use the cores";
}

TEST(Verdicts, SayWhichRecordsAreMissing) {
  nlohmann::ordered_json document = QuietRun();
  document["quality"]["records_dropped"] = 3;
  EXPECT_THAT(FindVerdict(document, "incomplete-measurement").sentence, HasSubstr("records dropped: 3"));
  EXPECT_THAT(VerdictIds(document), Not(Contains("healthy")));
  document["quality"]["records_dropped"] = 0;
  document["quality"]["event_coverage"] = 0.98;
  EXPECT_THAT(FindVerdict(document, "incomplete-measurement").sentence, HasSubstr("event coverage: 98.0 %"));
}

TEST(Verdicts, ExpectATornLineOfARunningJobOnly) {
  nlohmann::ordered_json document = QuietRun();
  document["quality"]["records_torn"] = 1;
  EXPECT_THAT(VerdictIds(document), Contains("incomplete-measurement"));
  document["run"]["state"] = "running";
  EXPECT_THAT(VerdictIds(document), Not(Contains("incomplete-measurement")));
}

TEST(Verdicts, JudgeNothingButTheMeasurementWhenItIsTooSmall) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 0.1}, {"startup", 0.8}});
  EXPECT_THAT(VerdictIds(document), ElementsAre("incomplete-measurement"));
  EXPECT_THAT(VerdictIds(nlohmann::ordered_json()), ElementsAre("incomplete-measurement"));
}

TEST(Verdicts, CallHealthyOnlyWhatIsEfficient) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["cpu_efficiency"] = 0.69;
  EXPECT_THAT(VerdictIds(document), Not(Contains("healthy")));
  document["metrics"]["cpu_efficiency"] = nullptr;
  EXPECT_THAT(VerdictIds(document), Not(Contains("healthy")));
}

TEST(Verdicts, StandWorstFirstThenLargestSavingFirst) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 41}, {"tail", 12}, {"idle", 18}, {"startup", 15}, {"cpu_wait", 14}});
  document["metrics"]["num_unfinished_chunks"] = 1;
  EXPECT_THAT(VerdictIds(document),
              ElementsAre("failing-chunks", "idle-workers", "startup-dominated", "cpu-contention", "long-tail"));
}

TEST(Verdicts, AreRowsOfTheDocumentWithEvidence) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 90}, {"tail", 10}});
  AddInsight(&document);
  EXPECT_THAT(document["headline"].get<std::string>(), HasSubstr("Compute-bound"));
  const nlohmann::ordered_json& row = document["verdicts"][0];
  EXPECT_EQ(row["id"], "long-tail");
  EXPECT_EQ(row["severity"], "warning");
  EXPECT_EQ(row["evidence"][0]["key"], "budget.tail.share");
  EXPECT_NEAR(row["evidence"][0]["value"].get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(row["saving"].get<double>(), 0.1, 1e-12);
  EXPECT_TRUE(document["verdicts"][1]["saving"].is_null());
  std::vector<std::string> fields;
  for (const auto& [key, value] : row.items()) fields.push_back(key);
  EXPECT_THAT(fields, ElementsAre("id", "severity", "sentence", "evidence", "suggestion", "saving", "cause"));
}

TEST(Verdicts, TasksThatFailedWithoutAChunkAreTroubleThatNoRecordTells) {
  nlohmann::ordered_json document = QuietRun();
  document["run"]["engine"] = "HTCondor";
  document["metrics"]["num_tasks"] = 40;
  document["metrics"]["num_failed_tasks"] = 3;
  document["metrics"]["num_failed_tasks_without_chunk"] = 1;
  AddInsight(&document);
  EXPECT_EQ(document["trouble"]["state"], "finished, 3 tasks failed");
  EXPECT_EQ(document["trouble"]["mark"], "bad");
  EXPECT_THAT(document["trouble"]["clauses"], ElementsAre("3 of 40 tasks failed, 1 without a recorded chunk"));
  EXPECT_THAT(document["headline"].get<std::string>(),
              testing::StartsWith("3 of 40 tasks failed, 1 without a recorded chunk"));
  const nlohmann::ordered_json& verdict = document["verdicts"][0];
  EXPECT_EQ(verdict["id"], "failing-tasks");
  EXPECT_EQ(verdict["severity"], "bad");
  EXPECT_EQ(verdict["sentence"],
            "HTCondor says that 3 of 40 tasks failed and were not tried again. No chunk was recorded in 1 of them, "
            "so nobody knows what it would have added.");
}

TEST(Verdicts, TasksThatFailedWithTheirChunksAreToldOnce) {
  nlohmann::ordered_json document = QuietRun();
  document["run"]["engine"] = "HTCondor";
  document["metrics"]["num_tasks"] = 40;
  document["metrics"]["num_failed_tasks"] = 1;
  document["metrics"]["num_failed_tasks_without_chunk"] = 0;
  AddInsight(&document);
  EXPECT_EQ(document["trouble"]["mark"], "watch");
  EXPECT_THAT(document["trouble"]["clauses"], ElementsAre("1 of 40 tasks failed"));
  EXPECT_EQ(document["verdicts"][0]["sentence"], "HTCondor says that 1 of 40 tasks failed and was not tried again.");
  document["metrics"]["num_unfinished_chunks"] = 1;  // of that task
  AddInsight(&document);
  EXPECT_THAT(document["trouble"]["clauses"], ElementsAre("1 of 101 chunks has no result"));
}

TEST(Verdicts, TroubleIsInTheDocumentAsPillAndHeadlineSayIt) {
  nlohmann::ordered_json document = QuietRun();
  AddInsight(&document);
  EXPECT_EQ(
      document["trouble"],
      nlohmann::ordered_json({{"state", "finished"}, {"mark", "good"}, {"clauses", nlohmann::ordered_json::array()}}));
  document["metrics"]["num_unfinished_chunks"] = 2;
  AddInsight(&document);
  EXPECT_EQ(document["trouble"]["state"], "finished, 2 chunks without a result");
  EXPECT_EQ(document["trouble"]["mark"], "bad");
  EXPECT_THAT(document["trouble"]["clauses"], ElementsAre("2 of 102 chunks have no result"));
  document["run"]["state"] = "running";
  AddInsight(&document);
  EXPECT_TRUE(document["trouble"]["mark"].is_null());
}

TEST(VerdictTable, GivesEachRuleAConditionWithItsNumbersAndAReason) {
  for (const VerdictRule& rule : VerdictTable()) {
    EXPECT_THAT(rule.condition, HasSubstr("{0}")) << rule.id;
    EXPECT_THAT(ConditionText(rule), Not(HasSubstr("{"))) << rule.id;
    EXPECT_THAT(rule.reason, Not(IsEmpty())) << rule.id;
    EXPECT_LT(rule.threshold.value, rule.threshold.bad) << rule.id;
    EXPECT_EQ(rule.suggestion.empty(), rule.id == "healthy") << rule.id;
    EXPECT_EQ(FindRule(rule.id), &rule);
  }
  EXPECT_EQ(FindRule("no-such-verdict"), nullptr);
}

TEST(Verdicts, BlameNoChunkSizeForATailThatIsLongerThanAnyChunk) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 80}, {"tail", 20}});
  document["metrics"]["tail_time"] = 10;
  document["datasets"] = {{{"name", "ttbar"}, {"duration_max", 6}}};
  document["threads"] = {{{"name", "node:17/18"}, {"attempts", 16}}, {{"name", "node:17/19"}, {"attempts", 8}}};
  EXPECT_THAT(FindVerdict(document, "long-tail").suggestion, HasSubstr("Use smaller chunks"));
  document["datasets"][0]["duration_max"] = 5;
  const Verdict tail = FindVerdict(document, "long-tail");
  EXPECT_EQ(tail.sentence,
            "20 % of the core-seconds went to free cores while the last chunks ran; thread node:17/18 ran 16 of 24 "
            "chunks.");
  EXPECT_THAT(tail.suggestion, HasSubstr("chunks from one queue"));
  document["threads"][1]["attempts"] = 13;
  EXPECT_THAT(FindVerdict(document, "long-tail").sentence, Not(HasSubstr("thread"))) << "about its share";
}

TEST(Verdicts, SayThatShortChunksMakeMeasuringCostly) {
  nlohmann::ordered_json document = QuietRun();
  document["metrics"]["instrumentation_overhead"] = 0.5;
  document["metrics"]["busy_time_per_attempt"] = 1e-5;
  EXPECT_EQ(FindVerdict(document, "instrumentation-heavy").sentence,
            "Measuring itself took 50 % of the chunks' time: a chunk takes 10.0 µs on average.");
  document["metrics"]["instrumentation_overhead"] = nullptr;
  document["quality"]["not_measured"]["instrumentation_overhead"] = kTooManySeconds;
  EXPECT_EQ(FindVerdict(document, "instrumentation-heavy").sentence,
            "Measuring itself took longer than the chunks themselves: a chunk takes 10.0 µs on average.");
  document["metrics"]["instrumentation_overhead"] = 0.5;
  document["metrics"]["busy_time_per_attempt"] = 0.01;
  document["metrics"]["num_attempts"] = 100;
  EXPECT_THAT(FindVerdict(document, "instrumentation-heavy").suggestion, HasSubstr("a longer run"));
  document["functions"] = {{{"function", "Fit"}, {"samples", 5}}};
  EXPECT_THAT(FindVerdict(document, "instrumentation-heavy").suggestion, HasSubstr("Stacks were taken"));
  document["functions"] = nlohmann::ordered_json::array();
  document["sections"][0]["count"] = 1000;
  EXPECT_THAT(FindVerdict(document, "instrumentation-heavy").suggestion, HasSubstr("not inside the event loop"));
}

TEST(Verdicts, SayWhereThreadsHadNoCpu) {
  nlohmann::ordered_json document = QuietRun();
  SetBudget(&document, {{"compute", 3}, {"cpu_wait", 10}, {"process_cpu", 21}, {"process_cpu_wait", 66}});
  const Verdict contention = FindVerdict(document, "cpu-contention");
  EXPECT_EQ(contention.sentence,
            "Threads were runnable but got no CPU for 76 % of the core-seconds, mostly outside chunks.");
  EXPECT_THAT(contention.suggestion, HasSubstr("or there are more threads than cores"));
  document["metrics"]["oversubscribed_core_seconds"] = 0;
  EXPECT_THAT(FindVerdict(document, "cpu-contention").suggestion,
              AllOf(HasSubstr("Other programs, other workers, or threads without guards"), Not(HasSubstr("fewer"))));
  document["metrics"]["allocated_cores"] = 2;
  document["metrics"]["peak_cores"] = 8;
  EXPECT_EQ(FindVerdict(document, "cpu-contention").suggestion,
            "The workers share 2 cores and wanted up to 8 at once: run fewer workers, or fewer threads.");
  EXPECT_THAT(FindVerdict(document, "largest-loss").sentence, HasSubstr("CPU outside chunks"));
  EXPECT_THAT(FindVerdict(document, "largest-loss").suggestion, HasSubstr("Put sections around"));
  document["process_sections"] = {{{"path", "just-in-time compilation"}, {"self_in_workers", 20}}};
  EXPECT_THAT(FindVerdict(document, "largest-loss").suggestion, HasSubstr("C++ functions instead of text"));
}

TEST(Verdicts, LeadFromASectionThatIsBlockedToWhatItWaitsFor) {
  nlohmann::ordered_json document = QuietRun();
  document["sections"] = {{{"path", "fill"}, {"self", 60}, {"total", 60}, {"cpu", 6}, {"share", 0.6}},
                          {{"path", "read"}, {"self", 20}, {"total", 20}, {"share", 0.2}}};
  EXPECT_THAT(FindVerdict(document, "hot-section").suggestion, HasSubstr("--stacks")) << "it may have waited for a CPU";
  document["waits"] = {{{"section", "fill"}, {"kind", "lock or condition"}, {"seconds", 40}}};
  EXPECT_THAT(FindVerdict(document, "hot-section").suggestion, HasSubstr("--table waits"));
  document["waits"][0]["section"] = "read";
  document["quality"]["lost_samples"] = 0;
  EXPECT_EQ(FindVerdict(document, "hot-section").suggestion, "Look there first: crema show --table functions.")
      << "the table says why there is no stack";
  document["functions"] = {{{"function", "Fit"}, {"samples", 5}}};
  EXPECT_THAT(FindVerdict(document, "hot-section").suggestion,
              testing::StartsWith("Look there first: crema show --table functions."));
  document["metrics"].update({{"chunk_cpu_time", 30}, {"unannounced_cpu_time", 29}});
  EXPECT_THAT(FindVerdict(document, "hot-section").suggestion, HasSubstr("put TrackHelper into these threads"));
  document["functions"][0]["section"] = "fill";
  EXPECT_THAT(FindVerdict(document, "hot-section").suggestion, testing::StartsWith("Look there first"));
}

TEST(Verdicts, SayWhereMisusedGuardsAreNamed) {
  nlohmann::ordered_json document = QuietRun();
  document["quality"]["guards_misused"] = 3;
  const Verdict verdict = FindVerdict(document, "incomplete-measurement");
  EXPECT_THAT(verdict.sentence, HasSubstr("3 guards were not used as they should be"));
  EXPECT_THAT(verdict.suggestion, HasSubstr("standard error names the first"));
  EXPECT_THAT(Headline(MeasurementOf(document)), Not(HasSubstr("--table quality")));
}

TEST(Verdicts, SayHowMuchOfASectionWasOnACpuOnlyWhereItHasNoSectionsInside) {
  nlohmann::ordered_json document = QuietRun();
  document["sections"] = {{{"path", "fill"}, {"self", 60}, {"total", 60}, {"cpu", 6}, {"share", 0.6}},
                          {{"path", "read"}, {"self", 20}, {"total", 20}, {"share", 0.2}}};
  EXPECT_THAT(FindVerdict(document, "hot-section").sentence, HasSubstr("10 % of it on a CPU"));
  document["sections"][0].update({{"total", 120}, {"cpu", 66}});
  EXPECT_THAT(FindVerdict(document, "hot-section").sentence, Not(HasSubstr("on a CPU")));
}

TEST(Verdicts, NameTheFunctionThatHasMostSamplesOfTheHotSection) {
  nlohmann::ordered_json document = QuietRun();
  document["sections"] = {{{"path", "fill"}, {"self", 60}, {"total", 60}, {"share", 0.6}},
                          {{"path", "read"}, {"self", 20}, {"total", 20}, {"share", 0.2}}};
  const auto row = [](const char* section, const char* function, int samples, double share) {
    return nlohmann::ordered_json{
        {"section", section}, {"function", function}, {"samples", samples}, {"share", share}, {"share_error", 0.05}};
  };
  document["functions"] = {row("fill", "Fit", 60, 0.6), row("fill", "Sort", 40, 0.4), row("read", "Sort", 90, 1)};
  EXPECT_EQ(FindVerdict(document, "hot-section").sentence,
            "Section fill takes 60 % of the chunks' time, most of its samples in Fit.");
  document["functions"][0] = row("fill", "Fit", 40, 0.5);
  EXPECT_EQ(FindVerdict(document, "hot-section").sentence, "Section fill takes 60 % of the chunks' time.");
}

TEST(Verdicts, NameWhatHeldUpACommandWithoutChunks) {
  nlohmann::ordered_json document;
  document["metrics"] = {{"wall_time", 10}, {"allocated_cores", 4}, {"tree_cpu_user", 8}, {"tree_cpu_system", 2}};
  EXPECT_THAT(Judge(MeasurementOf(document)), testing::IsEmpty());
  document["metrics"]["tree_cpu_system"] = 6;
  document["metrics"]["tree_cpu_wait"] = 12;
  EXPECT_THAT(VerdictIds(document), ElementsAre("cpu-contention", "kernel-time"));
  EXPECT_EQ(FindVerdict(document, "cpu-contention").sentence,
            "Threads of the command were runnable but got no CPU for 30 % of the core-seconds.");
  EXPECT_EQ(FindVerdict(document, "kernel-time").sentence,
            "43 % of the command's CPU time was spent in the kernel, 15 % of the core-seconds.");
  document["metrics"] = {
      {"wall_time", 0.005}, {"allocated_cores", 2}, {"tree_cpu_user", 0}, {"tree_cpu_system", 0.002}};
  EXPECT_THAT(VerdictIds(document), testing::IsEmpty()) << "of `true`, all that was seen is how processes start";
}

}  // namespace
}  // namespace crema
