#include "collector/engines/taskvine/vine_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "collector/engines/engines.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kSampleRun[] = "collector/engines/testdata/taskvine/vine-run-info";
constexpr char kHead[] = "# time manager_pid MANAGER manager_pid START|END time_from_origin\n";
constexpr int64_t kOrigin = 1'700'000'000;

int64_t At(double seconds) { return kOrigin * 1'000'000'000 + static_cast<int64_t>(seconds * 1e9); }

std::string VineLine(double seconds, const std::string& text, int manager = 7) {
  return fmt::format("{} {} {}\n", At(seconds) / 1000, manager, text);
}

std::string Join(double seconds, const std::string& worker = "w1") {
  return VineLine(seconds, "WORKER " + worker + " CONNECTION 10.0.0.1:50912") +
         VineLine(seconds,
                  "WORKER " + worker + R"( RESOURCES {"memory":[4000,"MB"],"disk":[10,"MB"],"cores":[2,"cores"]})");
}

std::string Ready(double seconds, int task, int attempt = 1) {
  return VineLine(seconds, fmt::format("TASK {} READY processing FIRST_RESOURCES {} {{}}", task, attempt));
}

std::string Running(double seconds, int task, const std::string& worker = "w1", const std::string& cores = "1") {
  return VineLine(seconds, fmt::format(R"(TASK {} RUNNING {}  FIRST_RESOURCES {{"time_commit_start":[{},"s"],)"
                                       R"("time_commit_end":[{},"s"],"cores":[{},"cores"]}})",
                                       task, worker, kOrigin + seconds, kOrigin + seconds, cores));
}

/// The worker's own times may be on another clock.
std::string Retrieved(double seconds, int task, double start, double stop, const std::string& result = "SUCCESS  0 ") {
  return VineLine(seconds, fmt::format("TASK {} WAITING_RETRIEVAL w1", task)) +
         VineLine(seconds, fmt::format(R"(TASK {} RETRIEVED {} {{}} {{"time_worker_start":[{:.6f},"s"],)"
                                       R"("time_worker_end":[{:.6f},"s"]}})",
                                       task, result, kOrigin + start, kOrigin + stop)) +
         VineLine(seconds, fmt::format("TASK {} DONE {}", task, result));
}

class VineLog : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(getenv("TEST_TMPDIR")) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  std::string Write(const std::string& text, const std::string& path = "transactions") {
    fs::create_directories((directory_ / path).parent_path());
    std::ofstream(directory_ / path, std::ios::binary) << text;
    return (directory_ / path).string();
  }
  EngineReading Read(const std::string& text) {
    const auto reading = ReadVineLog(Write(kHead + text));
    EXPECT_TRUE(reading.ok()) << reading.status();
    return reading.ok() ? *reading : EngineReading();
  }
  fs::path directory_;
};

TEST_F(VineLog, IsFoundFromEachDirectoryAboveIt) {
  for (const char* below : {"", "/vine-logs", "/vine-logs/transactions"}) {
    EXPECT_EQ(FindVineLog(kSampleRun + std::string(below)), std::string(kSampleRun) + "/vine-logs/transactions")
        << below;
  }
  const std::optional<EngineLog> found = FindEngineLog(kSampleRun);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->engine->traits.name, "TaskVine");
  EXPECT_EQ(FindVineLog("collector/engines/testdata/taskvine/records"), std::nullopt);
  EXPECT_EQ(FindVineLog("/nowhere"), std::nullopt);
}

TEST_F(VineLog, OfSeveralRunsTheMostRecentIsTaken) {
  Write(kHead, "vine-run-info/2026-01-01/vine-logs/transactions");
  const std::string second = Write(kHead, "vine-run-info/2026-01-02/vine-logs/transactions");
  const std::string first = (directory_ / "vine-run-info/2026-01-01").string();
  EXPECT_EQ(FindVineLog((directory_ / "vine-run-info").string()), second);
  fs::create_directory_symlink(first, directory_ / "vine-run-info/most-recent");
  EXPECT_EQ(FindVineLog((directory_ / "vine-run-info").string()),
            (directory_ / "vine-run-info/most-recent/vine-logs/transactions").string());
  EXPECT_EQ(VineRunsIn((directory_ / "vine-run-info").string()),
            std::vector<std::string>({first + "/vine-logs/transactions", second}));
  EXPECT_TRUE(VineRunsIn((directory_ / "vine-run-info/most-recent").string()).empty());
}

TEST_F(VineLog, TellsTheSamplesWorkerAndTasks) {
  const auto reading = ReadVineLog(kSampleRun + std::string("/vine-logs/transactions"));
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed + reading->torn + reading->unknown, 0);
  ASSERT_EQ(reading->clusters.size(), 1u);
  const ClusterFact& cluster = reading->clusters[0];
  EXPECT_THAT(cluster.complaints, IsEmpty()) << "what the manager counted in `performance` is there";
  ASSERT_EQ(cluster.workers.size(), 1u);
  const ClusterWorkerFact& worker = cluster.workers[0];
  EXPECT_EQ(worker.address, "worker-7e8d24613b97170a961749d43f0e9b43");
  EXPECT_EQ(worker.threads, 2);
  EXPECT_EQ(worker.memory_limit_bytes, 4000 * (int64_t{1} << 20));
  EXPECT_EQ(worker.joined_ns, 1795382037584012000);
  EXPECT_EQ(worker.left_ns, 1795382098883431000);
  EXPECT_EQ(worker.left_reason, "EXPLICIT");
  EXPECT_FALSE(worker.is_lost);
  EXPECT_EQ(worker.clock_offset_ns, std::nullopt);
  ASSERT_EQ(cluster.tasks.size(), 25u);
  const ClusterTaskFact& task = cluster.tasks[0];
  EXPECT_EQ(task.prefix, "preprocessing");
  EXPECT_EQ(task.job, "taskvine 1");
  EXPECT_EQ(task.start_ns, 1795382037587157000);
  EXPECT_EQ(task.stop_ns, 1795382043928345000);
  EXPECT_EQ(task.dispatch_ns, 1795382037587157000 - 1795382037584440000);
  EXPECT_EQ(task.retrieval_ns, 1795382043929511000 - 1795382043928345000);
  EXPECT_EQ(task.queue_ns, 1795382037584440000 - 1795382031567563000);
  EXPECT_EQ(task.cores, 1);
  EXPECT_FALSE(task.failed || task.is_repeat);
}

TEST_F(VineLog, IsKeptInOneFileThatSaysTheSame) {
  ASSERT_TRUE(KeepVineLog(kSampleRun + std::string("/vine-logs/transactions"), directory_.string(), "run").ok());
  const auto kept = ReadVineLog((directory_ / "run.taskvine.log").string());
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->malformed + kept->torn + kept->unknown, 0);
  ASSERT_EQ(kept->clusters.size(), 1u);
  EXPECT_EQ(kept->clusters[0].tasks.size(), 25u);
}

TEST_F(VineLog, HasItsPerformanceBesideItWhenBothAreNamedAsCompressed) {
  const fs::path logs = kSampleRun + std::string("/vine-logs");
  for (const char* name : {"transactions", "performance"}) {
    // A reader goes by the contents, whatever the name says.
    fs::copy_file(logs / name, directory_ / (name + std::string(".gz")), fs::copy_options::overwrite_existing);
  }
  const std::string transactions = (directory_ / "transactions.gz").string();
  ASSERT_TRUE(KeepVineLog(transactions, directory_.string(), "run").ok());
  EXPECT_EQ(fs::file_size(directory_ / "run.taskvine.log"),
            fs::file_size(logs / "transactions") + 1 + fs::file_size(logs / "performance"));
}

TEST_F(VineLog, ATaskWhoseWorkerWentWasTriedAndIsTriedAgain) {
  const EngineReading reading =
      Read(VineLine(0, "MANAGER 7 START 0") + Join(1) + Ready(1, 1) + Running(2, 1) +
           VineLine(5, "WORKER w1 DISCONNECTION FAILURE") + Ready(5, 1, 2) + Join(6, "w2") + Running(7, 1, "w2") +
           Retrieved(9, 1, 7.5, 8.5) + VineLine(10, "MANAGER 7 END 10"));
  const ClusterFact& cluster = reading.clusters.at(0);
  ASSERT_EQ(cluster.tasks.size(), 2u);
  EXPECT_TRUE(cluster.tasks[0].failed);
  EXPECT_EQ(cluster.tasks[0].worker, "w1");
  EXPECT_EQ(cluster.tasks[0].stop_ns, At(5));
  EXPECT_FALSE(cluster.tasks[1].failed);
  EXPECT_TRUE(cluster.tasks[1].is_repeat);
  EXPECT_FALSE(cluster.tasks[0].is_last);
  EXPECT_TRUE(cluster.tasks[1].is_last);
  EXPECT_EQ(cluster.tasks[1].start_ns, At(7.5));
  EXPECT_TRUE(cluster.workers.at(0).is_lost);
  EXPECT_THAT(cluster.complaints, ElementsAre("w1 was lost: the manager says FAILURE"));
}

TEST_F(VineLog, LinesMayEndAsInWindows) {
  std::string text = VineLine(0, "MANAGER 7 START 0") + Join(1) + VineLine(5, "WORKER w1 DISCONNECTION FAILURE") + "\n";
  for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 2)) text.insert(end, "\r");
  const EngineReading reading = Read(text);
  EXPECT_EQ(reading.malformed + reading.torn, 0);
  EXPECT_TRUE(reading.clusters.at(0).workers.at(0).is_lost);
  EXPECT_EQ(reading.clusters[0].workers[0].left_reason, "FAILURE");
}

TEST_F(VineLog, ATaskThatWaitsForAnotherTryOrIsCancelledHasNoLastOne) {
  const std::string lost = VineLine(0, "MANAGER 7 START 0") + Join(1) + Ready(1, 1) + Running(2, 1) +
                           VineLine(5, "WORKER w1 DISCONNECTION FAILURE") + Ready(5, 1, 2);
  const EngineReading waits = Read(lost);
  ASSERT_EQ(waits.clusters.at(0).tasks.size(), 1u);
  EXPECT_FALSE(waits.clusters[0].tasks[0].is_last);
  const EngineReading cancelled = Read(lost + VineLine(6, "TASK 1 CANCELED"));
  ASSERT_EQ(cancelled.clusters.at(0).tasks.size(), 1u);
  EXPECT_FALSE(cancelled.clusters[0].tasks[0].is_last);
}

TEST_F(VineLog, AProgramThatFailedIsAFailedTaskThoughItsResultIsSuccess) {
  const EngineReading reading = Read(Join(1) + Ready(1, 1) + Running(2, 1) + Retrieved(4, 1, 2, 3, "SUCCESS  7 ") +
                                     Ready(1, 2) + Running(2, 2) + Retrieved(4, 2, 2, 3, "RESOURCE_EXHAUSTION  0 "));
  ASSERT_EQ(reading.clusters.at(0).tasks.size(), 2u);
  EXPECT_TRUE(reading.clusters[0].tasks[0].failed);
  EXPECT_TRUE(reading.clusters[0].tasks[1].failed);
  EXPECT_EQ(reading.clusters[0].erred, 2);
}

TEST_F(VineLog, ATaskThatItsWorkerGaveBackIsDoneTwiceForTheManager) {
  const std::string given_back = VineLine(3, "TASK 1 WAITING_RETRIEVAL w1") + Ready(3, 1, 2);
  const std::string log = Write(kHead + Join(1) + Ready(1, 1) + Running(2, 1) + given_back + Running(4, 1) +
                                Retrieved(6, 1, 4, 5) + VineLine(7, "MANAGER 7 END 7"));
  Write("# timestamp tasks_done\n1 2\n", "performance");
  const auto reading = ReadVineLog(log);
  ASSERT_TRUE(reading.ok()) << reading.status();
  ASSERT_EQ(reading->clusters.at(0).tasks.size(), 2u);
  EXPECT_TRUE(reading->clusters[0].tasks[0].failed);
  EXPECT_THAT(reading->clusters[0].complaints, IsEmpty());
}

TEST_F(VineLog, ATaskHasTheCoresThatItWasGiven) {
  const EngineReading reading = Read(Join(1) + Ready(1, 1) + Running(2, 1, "w1", "2") + Retrieved(4, 1, 2, 3) +
                                     Ready(5, 2) + Running(6, 2, "w1", "0") + Retrieved(8, 2, 6, 7) + Ready(9, 3) +
                                     Running(9, 3, "w1", "1e300") + Retrieved(11, 3, 9, 10));
  ASSERT_EQ(reading.clusters.at(0).tasks.size(), 3u);
  EXPECT_EQ(reading.clusters[0].tasks[0].cores, 2);
  EXPECT_EQ(reading.clusters[0].tasks[1].cores, 0) << "not told";
  EXPECT_EQ(reading.clusters[0].tasks[2].cores, 0) << "nonsense";
}

TEST_F(VineLog, ACancelledTaskEndsThere) {
  const EngineReading reading = Read(VineLine(0, "MANAGER 7 START 0") + Join(1) + Ready(1, 1) + Running(2, 1) +
                                     Ready(1, 2) + VineLine(4, "TASK 1 CANCELED") + VineLine(4, "TASK 2 CANCELED"));
  EXPECT_EQ(reading.unknown, 0);
  const ClusterFact& cluster = reading.clusters.at(0);
  ASSERT_EQ(cluster.tasks.size(), 1u) << "the other was on no worker";
  EXPECT_TRUE(cluster.tasks[0].failed);
  EXPECT_EQ(cluster.tasks[0].stop_ns, At(4));
  EXPECT_THAT(cluster.complaints, IsEmpty()) << "none of them is taken for one that still runs";
}

TEST_F(VineLog, AWorkerThatConnectsAgainWasGone) {
  const EngineReading reading = Read(VineLine(0, "MANAGER 7 START 0") + Join(1) + Ready(1, 1) + Running(2, 1) +
                                     Join(5) + VineLine(9, "WORKER w1 DISCONNECTION EXPLICIT"));
  const ClusterFact& cluster = reading.clusters.at(0);
  ASSERT_EQ(cluster.workers.size(), 2u);
  EXPECT_TRUE(cluster.workers[0].is_lost);
  EXPECT_EQ(cluster.workers[0].left_ns, At(5));
  EXPECT_EQ(cluster.workers[0].left_reason, "it connected again");
  EXPECT_EQ(cluster.workers[1].joined_ns, At(5));
  EXPECT_EQ(cluster.workers[1].left_ns, At(9));
  EXPECT_FALSE(cluster.workers[1].is_lost);
}

TEST_F(VineLog, CutLinesAreCountedAndTheRestIsUsed) {
  const EngineReading reading =
      Read(Join(1) + Ready(1, 1) + Running(2, 1) + "17000000\n" + "not a line at all\n" + Retrieved(4, 1, 2, 3) +
           fmt::format("{} 7 TASK 2 RUNNING w1 {{\"time_com", At(5) / 1000));
  EXPECT_EQ(reading.malformed, 2);
  EXPECT_EQ(reading.torn, 1);
  EXPECT_THAT(reading.problems, Contains(HasSubstr("the line is cut")));
  ASSERT_EQ(reading.clusters.size(), 1u);
  EXPECT_EQ(reading.clusters[0].tasks.size(), 1u);
}

TEST_F(VineLog, ALogThatStillGrowsSaysWhatHasNotEnded) {
  const EngineReading reading =
      Read(VineLine(0, "MANAGER 7 START 0") + Join(1) + Ready(1, 1) + Ready(1, 2) + Running(2, 1));
  const ClusterFact& cluster = reading.clusters.at(0);
  EXPECT_FALSE(cluster.sessions.at(0).end_ns.has_value());
  EXPECT_EQ(cluster.last_ns, At(2));
  EXPECT_THAT(cluster.complaints, ElementsAre(HasSubstr("2 of the manager's tasks had not ended")));
}

TEST_F(VineLog, WithoutTimesOfTheWorkerTheManagersViewIsTaken) {
  const EngineReading reading =
      Read(Join(1) + Ready(1, 1) + VineLine(2, "TASK 1 RUNNING w1 FIRST_RESOURCES {}") +
           VineLine(6, "TASK 1 WAITING_RETRIEVAL w1") + VineLine(7, "TASK 1 RETRIEVED SUCCESS 0 {} {}"));
  const ClusterTaskFact& task = reading.clusters.at(0).tasks.at(0);
  EXPECT_EQ(task.start_ns, At(2));
  EXPECT_EQ(task.stop_ns, At(6));
  EXPECT_EQ(task.dispatch_ns, std::nullopt);
  EXPECT_EQ(task.retrieval_ns, std::nullopt);
}

TEST_F(VineLog, TwoManagersInOneFileAreKeptApart) {
  std::string text;
  for (const int manager : {7, 8}) {
    text += VineLine(0, "MANAGER 7 START 0", manager) + VineLine(1, "WORKER w1 CONNECTION h:1", manager) +
            VineLine(2, "MANAGER 7 END 1", manager);
  }
  text += VineLine(5, "MANAGER 7 START 0");  // and the pid came again
  const EngineReading reading = Read(text);
  ASSERT_EQ(reading.clusters.size(), 3u);
  EXPECT_EQ(reading.clusters[0].workers.size(), 1u);
  EXPECT_NE(reading.clusters[0].epoch, reading.clusters[2].epoch);
}

TEST_F(VineLog, AClockThatIsApartIsFoundAndTheTimesAreMoved) {
  const double apart = -3600;  // the worker's clock is behind
  const EngineReading reading = Read(Join(1) + Ready(1, 1) + Running(2, 1) + Retrieved(6, 1, 2.5 + apart, 5.5 + apart));
  const ClusterFact& cluster = reading.clusters.at(0);
  // Between 3,600 - 0.5 and 3,600 + 0.5 s.
  EXPECT_EQ(cluster.workers.at(0).clock_offset_ns, 3600'000'000'000);
  EXPECT_EQ(cluster.tasks.at(0).start_ns, At(2.5));
  EXPECT_EQ(cluster.tasks[0].stop_ns, At(5.5));
  EXPECT_THAT(cluster.complaints,
              ElementsAre("the clock of w1 is 3600.000 s behind that of its manager; its times were "
                          "moved"));
}

TEST_F(VineLog, PerformanceIsReadByItsHeader) {
  const std::string text = kHead + Join(1) + Ready(1, 1) + Running(2, 1) + Retrieved(4, 1, 2, 3);
  Write("# timestamp tasks_done new_column workers_joined\n1 1 9 1\n2 3 9 1\n3 5 9\n", "performance");
  const auto reading = ReadVineLog(Write(text));
  ASSERT_TRUE(reading.ok());
  EXPECT_THAT(
      reading->clusters.at(0).complaints,
      ElementsAre("the manager counted 3 tasks that were done, but its transactions show 1: some of them are missing"))
      << "the last row is cut";
  Write("# timestamp other\n1 1\n", "performance");
  EXPECT_THAT(ReadVineLog(Write(text))->clusters.at(0).complaints, IsEmpty());
}

TEST_F(VineLog, LibrariesAreNoTasks) {
  const EngineReading reading = Read(Join(1) + VineLine(1, "LIBRARY 3 WAITING w1") + Ready(1, 3) + Running(2, 3) +
                                     Retrieved(4, 3, 2, 3) + Ready(1, 4) + Running(2, 4) + Retrieved(4, 4, 2, 3));
  ASSERT_EQ(reading.clusters.at(0).tasks.size(), 1u);
  EXPECT_EQ(reading.clusters[0].tasks[0].job, "taskvine 4");
}

TEST_F(VineLog, ThatCannotBeReadIsAnError) { EXPECT_FALSE(ReadVineLog("/nowhere").ok()); }

}  // namespace
}  // namespace crema
