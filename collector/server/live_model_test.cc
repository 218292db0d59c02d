#include "collector/server/live_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model_fixture.h"
#include "collector/server/live_sources.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Fault [logs]: lines of chunks are lost while the run is watched
/// Shown: `records_lost` on the live page; nothing is failed, lost or open for ever
TEST_F(LiveModelTest, ALostLineIsNoLostAttempt) {
  const auto worker = Worker(1);
  for (int64_t number = 0; number < 4; ++number) {
    Record begin;
    begin.type = RecordType::kBegin;
    begin.begin.number = number;
    begin.begin.time_ns = At(static_cast<double>(number));
    begin.begin.tid = 7;
    begin.begin.input = InputOf(number);
    Add(worker, begin);
    if (number % 2 == 0) {
      const auto start = static_cast<double>(number);
      Add(worker, ChunkRecord(number, start, start + 0.5));
    }
  }
  EXPECT_EQ(model_.open_chunks(), 1) << "the thread is at its last";
  EXPECT_EQ(model_.unrecorded(), 1);
  Record end;
  end.type = RecordType::kEnd;
  end.end.time_ns = At(4);
  end.end.open = 0;
  Add(worker, end);
  model_.SetLife(worker, false);
  EXPECT_EQ(model_.unrecorded(), 2);
  EXPECT_EQ(model_.totals().counts.num_lost_attempts, 0);
  EXPECT_EQ(model_.unrecovered(), 0);
  EXPECT_EQ(model_.totals().counts.num_attempts, 4);
}

TEST_F(LiveModelTest, ASuspendedChunkStaysOpenWhileItsThreadBeginsOthers) {
  const auto worker = Worker(1);
  for (int64_t number = 0; number < 3; ++number) {
    Record begin;
    begin.type = RecordType::kBegin;
    begin.begin.number = number;
    begin.begin.time_ns = At(static_cast<double>(number));
    begin.begin.tid = 7;
    begin.begin.suspended = number;
    begin.begin.input = InputOf(number);
    Add(worker, begin);
  }
  EXPECT_EQ(model_.open_chunks(), 3);
  Add(worker, ChunkRecord(0, 0, 4));
  Add(worker, ChunkRecord(2, 2, 4));
  EXPECT_EQ(model_.open_chunks(), 1);
  EXPECT_EQ(model_.unrecorded(), 0);
  model_.SetLife(worker, false);
  EXPECT_EQ(model_.totals().counts.num_lost_attempts, 1);
  EXPECT_EQ(model_.totals().counts.num_attempts, 3);
}

TEST_F(LiveModelTest, AChunkStaysOpenWhileItsThreadIsInOneInsideIt) {
  const auto worker = Worker(1);
  for (int64_t number = 0; number < 3; ++number) {
    Record begin;
    begin.type = RecordType::kBegin;
    begin.begin.number = number;
    begin.begin.time_ns = At(static_cast<double>(number));
    begin.begin.tid = 7;
    if (number > 0) begin.begin.inside = number - 1;
    begin.begin.input = InputOf(number);
    Add(worker, begin);
  }
  EXPECT_EQ(model_.open_chunks(), 3);
  EXPECT_EQ(model_.unrecorded(), 0);
}

TEST_F(LiveModelTest, SumsWhatChunksSay) {
  const auto worker = Worker(1, 2);
  Begin(worker, 0, 0);
  Begin(worker, 1, 0);
  PassTo(4);
  Add(worker, ChunkRecord(0, 0, 4));
  EXPECT_EQ(model_.totals().counts.num_chunks, 1);
  EXPECT_EQ(model_.totals().events.sum, 100);
  EXPECT_EQ(model_.totals().bytes.read, 1000);
  EXPECT_EQ(model_.totals().busy_ns.sum, 4 * kSecondNs);
  EXPECT_EQ(model_.totals().cpu_ns.sum, 3 * kSecondNs);
  EXPECT_EQ(model_.open_chunks(), 1);
  EXPECT_DOUBLE_EQ(model_.core_seconds(), 8);
  EXPECT_NEAR(ComputeLiveFigures(model_).cpu_efficiency.value_or(0), 3.0 / 8, 1e-12);
}

TEST_F(LiveModelTest, CountsAResultOnceAndItsCostTwice) {
  const auto worker = Worker(1);
  Add(worker, ChunkRecord(0, 0, 1));
  Record again = ChunkRecord(0, 1, 2);
  again.chunk.number = 1;
  Add(worker, again);
  EXPECT_EQ(model_.totals().counts.num_chunks, 1);
  EXPECT_EQ(model_.totals().events.sum, 100);
  EXPECT_EQ(model_.totals().counts.num_recomputed_chunks, 1);
  EXPECT_EQ(model_.totals().busy_ns.sum, 2 * kSecondNs);
}

/// Two copies of the SDK, or several logs of a process with many threads: each numbers its chunks.
TEST_F(LiveModelTest, KnowsTheChunksOfOneLogOfAProcessFromThoseOfAnother) {
  ProcessFact fact;
  fact.run_id = "run";
  fact.host = "node";
  fact.pid = 1;
  fact.start_ns = At(0);
  LiveLog* logs[] = {nullptr, nullptr};
  for (const int64_t recorder : {0, 1}) {
    fact.recorder = recorder;
    logs[recorder] = model_.AddProcess(fact);
    ASSERT_NE(logs[recorder], nullptr);
    Record begin;
    begin.type = RecordType::kBegin;
    begin.begin.number = 0;
    begin.begin.tid = 7 + recorder;
    begin.begin.time_ns = At(0);
    model_.Add(*logs[recorder], begin);
  }
  EXPECT_EQ(model_.workers().size(), 1u);
  EXPECT_EQ(model_.open_chunks(), 2);
  for (LiveLog* log : logs) {
    Record chunk = ChunkRecord(0, 0, 1);
    chunk.chunk.input = {};
    model_.Add(*log, chunk);
  }
  EXPECT_EQ(model_.open_chunks(), 0);
  EXPECT_EQ(model_.totals().counts.num_chunks, 2) << "neither repeats the other";
  EXPECT_EQ(model_.totals().counts.num_recomputed_chunks, 0);
}

SumsFact SumsUntil(double stop, int64_t chunks) {
  SumsFact fact;
  fact.input.dataset = "ttbar";
  fact.chunks = chunks;
  fact.first_start_ns = At(0);
  fact.last_stop_ns = At(stop);
  fact.time_ns = At(stop);
  fact.duration_ns = chunks * kSecondNs / 10;
  fact.chunks_with_events = chunks;
  fact.events = 100 * chunks;
  fact.bytes_read = 1000 * chunks;
  fact.cpu_ns = fact.duration_ns / 2;
  return fact;
}

TEST_F(LiveModelTest, CountsSummedChunksAsTheyCome) {
  const auto worker = Worker(1);
  Begin(worker, 0, 0);
  PassTo(10);
  SumsFact first = SumsUntil(10, 100);
  first.begun = {0};
  AddSums(worker, first);
  EXPECT_EQ(model_.open_chunks(), 0) << "it was summed";
  PassTo(20);
  AddSums(worker, SumsUntil(20, 150));  // a line holds all that its row has come to
  AddSums(worker, SumsUntil(20, 150));
  EXPECT_EQ(model_.totals().counts.num_chunks, 150);
  EXPECT_EQ(model_.totals().counts.num_attempts, 150);
  EXPECT_EQ(model_.totals().counts.num_summed_attempts, 150);
  EXPECT_EQ(model_.totals().events.sum, 15000);
  EXPECT_EQ(model_.totals().bytes.read, 150'000);
  EXPECT_EQ(model_.totals().busy_ns.sum, 15 * kSecondNs);
  EXPECT_EQ(model_.totals().counts.num_lost_attempts, 0);
  EXPECT_EQ(model_.totals().records, 4);
  EXPECT_EQ(model_.datasets().front().sums.events.sum, 15000);
}

TEST_F(LiveModelTest, KnowsWhichLostChunksHaveNoResult) {
  const auto first = Worker(1);
  const auto second = Worker(2);
  for (int64_t number = 0; number < 3; ++number) Begin(first, number, 0);
  Begin(second, 0, 1);
  Add(second, ChunkRecord(0, 1, 2));
  model_.SetLife(first, false);
  EXPECT_EQ(model_.totals().counts.num_lost_attempts, 3);
  EXPECT_EQ(model_.unrecovered(), 2) << "one was done elsewhere before";
  Add(second, ChunkRecord(1, 2, 3));
  EXPECT_EQ(model_.unrecovered(), 1);
  EXPECT_EQ(model_.totals().recovered, 1);
}

TEST_F(LiveModelTest, SaysWhatFailedAndWhatSucceededOnRetry) {
  const auto first = Worker(1);
  const auto second = Worker(2);
  Record failed = ChunkRecord(3, 0, 1);
  failed.chunk.failed = true;
  failed.chunk.error = "XRootD: operation expired\nmore";
  Add(first, failed);
  EXPECT_EQ(model_.unrecovered(), 1);
  Add(second, ChunkRecord(3, 1, 2));
  EXPECT_EQ(model_.unrecovered(), 0);
  EXPECT_EQ(model_.totals().recovered, 1);
  EXPECT_THAT(Texts(), Contains("ttbar.root · 300 to 400 failed on node:1: XRootD: operation expired"));
  EXPECT_THAT(Texts(), Contains("ttbar.root · 300 to 400 succeeded on node:2 (attempt 2)"));
}

TEST_F(LiveModelTest, TellsAWorkerThatVanishedFromOneThatEnded) {
  const auto lost = Worker(1);
  const auto ended = Worker(2);
  Begin(lost, 0, 0);
  Add(ended, ChunkRecord(1, 0, 1));
  Record end;
  end.type = RecordType::kEnd;
  end.end.time_ns = At(2);
  Add(ended, end);
  PassTo(3);
  EXPECT_EQ(model_.state(), ProcessState::kRunning);
  model_.SetLife(lost, false);
  model_.SetLife(ended, false);
  PassTo(4);
  EXPECT_EQ(model_.state(), ProcessState::kEnded);
  EXPECT_EQ(model_.totals().counts.num_lost_attempts, 1);
  EXPECT_EQ(model_.totals().counts.num_attempts, 2);
  EXPECT_EQ(model_.open_chunks(), 0);
  EXPECT_THAT(Texts(), Contains("node:1 vanished without an end, with 1 open chunk"));
}

TEST_F(LiveModelTest, CallsARunKilledThatStopsWithoutAnEnd) {
  const auto worker = Worker(1);
  Add(worker, ChunkRecord(0, 0, 1));
  Begin(worker, 1, 1);
  PassTo(2);
  model_.SetLife(worker, false);
  PassTo(3);
  EXPECT_EQ(model_.state(), ProcessState::kLost);
  EXPECT_DOUBLE_EQ(model_.wall_seconds(), 1);  // to its last sign of life
}

TEST_F(LiveModelTest, CallsAProcessThatEndsBetweenChunksNoLoss) {
  const auto worker = Worker(1);
  Add(worker, ChunkRecord(0, 0, 1));
  PassTo(2);
  model_.SetLife(worker, false);
  PassTo(3);
  EXPECT_EQ(model_.state(), ProcessState::kUnreported);
  EXPECT_THAT(Texts(), Contains("node:1 ended without a report"));
  EXPECT_TRUE(LiveDocument(model_, ComputeLiveFigures(model_))["run"]["state"].is_null());
}

TEST_F(LiveModelTest, DecidesByTheExitStatusHowAProcessEndedBetweenChunks) {
  const auto killed = Worker(1), done = Worker(2), again = Worker(3);
  for (const auto worker : {killed, done, again}) Add(worker, ChunkRecord(worker, 0, 1));
  const auto exit = [this](int64_t pid, int exit_status, double second) {
    TreeReapFact reaped;
    reaped.pid = pid;
    reaped.exit_status = exit_status;
    reaped.time_ns = At(second);
    model_.AddExit("node", reaped);
  };
  exit(1, 137, 2);  // before its log is found to be left
  exit(3, 139, 0);  // another process, which had the number before
  PassTo(2);
  for (const auto worker : {killed, done, again}) model_.SetLife(worker, false);
  exit(2, 0, 2);
  PassTo(3);
  EXPECT_EQ(model_.workers()[killed].state, ProcessState::kLost);
  EXPECT_EQ(model_.workers()[done].state, ProcessState::kEnded);
  EXPECT_EQ(model_.workers()[again].state, ProcessState::kUnreported);
  EXPECT_EQ(model_.totals().counts.num_lost_attempts, 0) << "no chunk was open";
  EXPECT_THAT(Texts(), Contains("node:1 was lost: killed by signal 9"));
}

TEST_F(LiveModelTest, CallsARunKilledIfOneWorkerVanishedInAChunkAndNoneReportedItsEnd) {
  const auto lost = Worker(1);
  const auto between = Worker(2);
  Begin(lost, 0, 0);
  Add(between, ChunkRecord(1, 0, 1));
  model_.SetLife(lost, false);
  model_.SetLife(between, false);
  PassTo(2);
  EXPECT_EQ(model_.state(), ProcessState::kLost);
  const auto workers = LiveDocument(model_, ComputeLiveFigures(model_))["workers"];
  EXPECT_EQ(workers[0]["state"], "unreported");
  EXPECT_EQ(workers[1]["state"], "lost");
}

TEST_F(LiveModelTest, SplitsTheLastHalfMinuteIntoSharesThatAddUp) {
  const auto worker = Worker(1, 2);
  for (int i = 0; i < 20; ++i) {
    Begin(worker, i, i);
    PassTo(i + 1);
    Add(worker, ChunkRecord(i, i, i + 1));
  }
  PassTo(21);
  const LiveFigures figures = ComputeLiveFigures(model_);
  double sum = 0;
  for (const RecentShare& share : figures.recent) {
    EXPECT_GE(share.share, 0) << share.key;
    sum += share.share;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  ASSERT_EQ(figures.recent.size(), 5u);
  EXPECT_NEAR(figures.recent[0].share, 0.375, 0.03);  // one of two cores, three quarters of its time
  EXPECT_NEAR(figures.recent[1].share, 0.125, 0.03);
  EXPECT_NEAR(figures.event_rate, 100, 6);
}

TEST_F(LiveModelTest, KeepsRatesRightWhenTheClockJumps) {
  const auto worker = Worker(1);
  for (int i = 0; i < 20; ++i) {
    PassTo(i + 1);
    Add(worker, ChunkRecord(i, i, i + 1));
  }
  const int64_t jump = 3600 * kSecondNs;
  model_.Tick(At(21) + jump, kSecondNs);
  EXPECT_THAT(Texts(), Contains("this machine's clock was set forward by 1 h 00 m 00 s"));
  for (int i = 21; i < 30; ++i) {  // processes keep the clock that they began with
    Add(worker, ChunkRecord(i, i - 1, i));
    model_.Tick(At(i + 1) + jump, kSecondNs);
  }
  const LiveFigures figures = ComputeLiveFigures(model_);
  EXPECT_NEAR(figures.event_rate, 100, 8);
}

TEST_F(LiveModelTest, PutsWhatWasReadAfterwardsWhereItHappened) {
  PassTo(100);
  ProcessFact fact;
  fact.host = "node";
  fact.run_id = "run";
  fact.pid = 1;
  fact.start_ns = At(0);
  LiveLog* const log = model_.AddProcess(fact);
  for (int i = 0; i < 50; ++i) model_.Add(*log, ChunkRecord(i, i, i + 1));
  EXPECT_EQ(ComputeLiveFigures(model_).event_rate, 0);  // the last of them ended 50 s ago
  ASSERT_GE(model_.series().bins().size(), 50u);
  EXPECT_EQ(model_.series().bins()[20].events, 100);
}

TEST_F(LiveModelTest, TakesTheRecordsOfOneRunOnly) {
  Worker(1);
  ProcessFact other;
  other.run_id = "another";
  other.host = "node";
  other.pid = 9;
  EXPECT_EQ(model_.AddProcess(other), nullptr);
  EXPECT_THAT(Texts(), Contains(HasSubstr("records of another run (another) are left out")));
}

TEST_F(LiveModelTest, ShowsGpusThatTheRunUsesUntilItEnds) {
  TreeFeed feed(&model_);
  const auto sample = [&feed](const std::string& gpus) {
    feed.Add(R"({"type":"tree_sample","time_ns":1790000001000000000,"gpus":[)" + gpus + "]}\n");
  };
  feed.Add(R"({"type":"run","name":"r","command":["r"],"start_ns":1790000000000000000,"host":"node"})"
           "\n");
  const std::string unused = R"({"index":0,"utilization_percent":99,"power_mw":300000,"tree_memory_bytes":0})";
  sample(unused);
  EXPECT_EQ(ComputeLiveFigures(model_).gpus.count, 0);
  EXPECT_EQ(LiveKeyFigureRows(model_, ComputeLiveFigures(model_)).size(), 6u);
  sample(unused + R"(,{"index":1,"utilization_percent":60,"power_mw":200000,"tree_memory_bytes":1000000000},)" +
         R"({"index":2,"utilization_percent":80,"power_mw":250000,"tree_memory_bytes":2000000000})");
  LiveFigures figures = ComputeLiveFigures(model_);
  EXPECT_DOUBLE_EQ(figures.gpus.utilization.value_or(0), 0.7);
  EXPECT_EQ(figures.gpus.memory_bytes, 3000000000);
  EXPECT_DOUBLE_EQ(figures.gpus.power_watts.value_or(0), 450);
  EXPECT_EQ(LiveKeyFigureRows(model_, figures).back().label, "GPU");
  figures.cpu_efficiency = 1;
  figures.core_seconds = 1e6;
  EXPECT_EQ(LiveKeyFigureRows(model_, figures)[3].mark, std::nullopt) << "nobody knows whether the thread spins";
  EXPECT_DOUBLE_EQ(LiveDocument(model_, figures)["metrics"]["live_gpu_power_watts"].get<double>(), 450);
  sample(R"({"index":0,"utilization_percent":60,"power_mw":null,"tree_memory_bytes":null})");  // as in a container
  figures = ComputeLiveFigures(model_);
  EXPECT_DOUBLE_EQ(figures.gpus.utilization.value_or(0), 0.6);
  EXPECT_EQ(figures.gpus.memory_bytes, std::nullopt);
  EXPECT_EQ(figures.gpus.power_watts, std::nullopt);
  sample(R"({"index":0,"utilization_percent":null,"tree_memory_bytes":1000000000})");  // as of one that is divided
  EXPECT_EQ(ComputeLiveFigures(model_).gpus.utilization, std::nullopt);
  EXPECT_EQ(ComputeLiveFigures(model_).gpus.count, 1);
  feed.Add(R"({"type":"run_end","time_ns":1790000002000000000,"exit_status":0})"
           "\n");
  EXPECT_EQ(ComputeLiveFigures(model_).gpus.count, 0);
}

TEST_F(LiveModelTest, SaysInAFewWordsThatWorkersWereLost) {
  const auto killed = Worker(1);
  const auto idle = Worker(2);
  const auto alive = Worker(3);
  const auto trouble = [this] { return LiveTrouble(model_, ComputeLiveFigures(model_)); };
  const auto mark = [this] { return LiveKeyFigureRows(model_, ComputeLiveFigures(model_)).back().mark; };
  for (int i = 0; i < 300; ++i) Add(alive, ChunkRecord(i, 0, 1));
  Add(idle, ChunkRecord(0, 0, 1));
  Begin(killed, 0, 1);
  Begin(alive, 400, 1);
  PassTo(2);
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(mark(), Mark::kGood);
  model_.SetLife(killed, /*running=*/false);
  EXPECT_EQ(trouble(), "1 of 3 workers lost");
  EXPECT_EQ(mark(), Mark::kWatch) << "though 1 of 303 attempts is few";
  ASSERT_EQ(model_.latest_chunks().all().size(), 1u) << "it is red where chunks are drawn";
  EXPECT_TRUE(model_.latest_chunks().all()[0].failed);
  EXPECT_EQ(model_.latest_chunks().all()[0].start_ns, At(1));
  model_.SetLife(idle, /*running=*/false);
  PassTo(10);
  EXPECT_EQ(trouble(), "1 of 3 workers lost") << "it may be the end of a pool";
}

TEST_F(LiveModelTest, HasNoMoreCoresThanWereAllowedUnlessTheyAreDeclared) {
  LiveWorker worker;
  worker.lanes_peak = 5;
  EXPECT_EQ(worker.cores(), 5);
  worker.allowed_cores = 2.5;
  EXPECT_EQ(worker.cores(), 2.5);
  worker.declared_threads = 4;
  EXPECT_EQ(worker.cores(), 4);
}

TEST_F(LiveModelTest, WarnsWhenMemoryGrowsTowardsTheLimit) {
  const auto worker = Worker(1);
  Begin(worker, 0, 0);
  for (int second = 1; second <= 40; ++second) {
    Sample(worker, second, 600'000'000 + 5'000'000 * second);
  }
  EXPECT_THAT(Texts(), Contains(HasSubstr("node:1 memory grows")));
  const auto memory = ComputeLiveFigures(model_).memory;
  ASSERT_TRUE(memory.has_value());
  EXPECT_NEAR(memory->seconds_to_limit.value_or(0), 40, 1);  // 200 MB at 5 MB a second
}

TEST_F(LiveModelTest, ShowsTheKernelsPeakAndDoesNotWarnOfAMappedFile) {
  const auto worker = Worker(1);
  Begin(worker, 0, 0);
  ProcessCounts counts;
  counts.anonymous_bytes = 100'000'000;
  for (int second = 1; second <= 40; ++second) {
    if (second == 40) counts.rss_peak_bytes = 990'000'000;
    Record record;
    record.type = RecordType::kSample;
    record.sample.time_ns = At(second);
    record.sample.rss_bytes = 600'000'000 + 5'000'000 * second;
    record.sample.counts = counts;
    Add(worker, record);
    PassTo(second);
  }
  EXPECT_THAT(Texts(), Not(Contains(HasSubstr("memory grows"))));
  EXPECT_EQ(model_.workers()[worker].peak_rss_bytes(), 990'000'000);
}

TEST_F(LiveModelTest, DoesNotWarnOfMemoryThatOnlyFluctuates) {
  const auto worker = Worker(1);
  Begin(worker, 0, 0);
  for (int second = 1; second <= 60; ++second) {
    Sample(worker, second, 700'000'000 + (second % 7) * 3'000'000);
  }
  EXPECT_THAT(Texts(), Not(Contains(HasSubstr("memory grows"))));
}

TEST_F(LiveModelTest, DoesNotWarnOfMemoryThatGrewAndCameToRest) {
  const auto worker = Worker(1);
  Begin(worker, 0, 0);
  for (int second = 1; second <= 100; ++second) {
    // 150 MB in the first ten seconds, before there are samples enough to judge; then a plateau with a ripple
    Sample(worker, second, 500'000'000 + 15'000'000 * std::min(second, 10) + (second % 5) * 1'000'000);
  }
  EXPECT_THAT(Texts(), Not(Contains(HasSubstr("memory grows"))));
}

TEST_F(LiveModelTest, WarnsOnceOfMemoryThatGrowsByFitsAndStarts) {
  const auto worker = Worker(1);
  Begin(worker, 0, 0);
  int64_t rss = 600'000'000;
  for (int second = 1; second <= 110; ++second) {
    if (second % 40 < 25) rss += 5'000'000;
    Sample(worker, second, rss);
  }
  const auto texts = Texts();
  EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                          [](const std::string& text) { return text.find("memory gr") != std::string::npos; }),
            1);
}

TEST_F(LiveModelTest, TellsTheWorkerThatIsSlowAndThatItIsBackToNormal) {
  const auto slow = Worker(1);
  const auto others = Worker(2, 4);
  int number = 0;
  const auto second = [&](int i, double slow_seconds) {
    PassTo(i + 1);
    for (int k = 0; k < 4; ++k) Add(others, ChunkRecord(number++, i, i + 1));
    Add(slow, ChunkRecord(number++, i + 1 - slow_seconds, i + 1));
  };
  for (int i = 0; i < 20; ++i) second(i, 3);
  EXPECT_THAT(Texts(), Contains(HasSubstr("node:1 takes 2.")));
  for (int i = 20; i < 90; ++i) second(i, 1);
  EXPECT_THAT(Texts(), Contains(HasSubstr("node:1 is back to normal")));
}

TEST_F(LiveModelTest, WritesAMeasurementOfWhatIsKnown) {
  const auto worker = Worker(1);
  Add(worker, ChunkRecord(0, 0, 2));
  PassTo(2);
  const auto document = LiveDocument(model_, ComputeLiveFigures(model_));
  EXPECT_EQ(document["metrics"]["num_chunks"], 1);
  EXPECT_EQ(document["run"]["state"], "running");
  for (const auto& [key, value] : document["metrics"].items()) {
    EXPECT_TRUE(document["definitions"].contains(key)) << key;
  }
}

class ProgressTest : public LiveModelTest {
 protected:
  static LiveOptions Options() {
    LiveOptions options;
    options.total_events = 10'000;
    return options;
  }
  ProgressTest() : LiveModelTest(Options()) {}
};

TEST_F(ProgressTest, TellsTheTimeLeftOnceThereIsARate) {
  const auto worker = Worker(1);
  EXPECT_EQ(ComputeLiveFigures(model_).progress.left, std::nullopt);
  for (int i = 0; i < 60; ++i) {
    Add(worker, ChunkRecord(i, i, i + 1));
    PassTo(i + 1);
  }
  const Progress progress = ComputeLiveFigures(model_).progress;
  EXPECT_DOUBLE_EQ(progress.share.value_or(0), 0.6);
  EXPECT_NEAR(progress.left.value_or(0), 40, 3);  // 4,000 events at 100 a second
  EXPECT_LE(progress.left_low.value_or(1e9), *progress.left);
  EXPECT_GE(progress.left_high.value_or(0), *progress.left);
}

TEST_F(ProgressTest, CountsOnTheWorkersThatAreLeft) {
  const auto worker = Worker(1), lost = Worker(2);
  for (int i = 0; i < 30; ++i) {
    Add(worker, ChunkRecord(i, i, i + 1));
    Add(lost, ChunkRecord(1000 + i, i, i + 1));
    PassTo(i + 1);
  }
  Begin(lost, 2000, 30);
  EXPECT_NEAR(ComputeLiveFigures(model_).progress.left.value_or(0), 20, 3);  // 4,000 events at 200 a second
  model_.SetLife(lost, false);
  EXPECT_NEAR(ComputeLiveFigures(model_).progress.left.value_or(0), 40, 5);
}

TEST_F(ProgressTest, HasNoTimeLeftWhileNothingEnds) {
  const auto worker = Worker(1);
  Add(worker, ChunkRecord(0, 0, 1));
  PassTo(200);
  EXPECT_EQ(ComputeLiveFigures(model_).progress.left, std::nullopt);
  EXPECT_GE(model_.quiet_seconds(), 198);
}

}  // namespace
}  // namespace crema
