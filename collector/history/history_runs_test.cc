#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/history/run_history.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HistoryRunsTest : public testing::Test {
 protected:
  HistoryRunsTest() {
    if (mkdtemp(root_.data()) == nullptr) std::abort();
  }
  ~HistoryRunsTest() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(root_) / name);
    std::ofstream(fs::path(root_) / name / "measurement.json") << text;
  }
  void Write(const std::string& name, int64_t start_ns, const std::string& state = "finished") {
    Write(name, fmt::format(R"({{"schema": "crema.measurement/1", "run": {{"id": "{}", "name": "ana", "start_ns": {},
        "state": "{}", "exit_status": 0, "commit": "abc"}}, "metrics": {{"wall_time": 1.5, "total_events": null}},
        "definitions": {{"wall_time": {{"unit": "s"}}}}, "datasets": [{{"name": "zjets"}}, {{"name": "ttbar"}}],
        "provenance": {{"host": "node"}}}})",
                            name, start_ns, state));
  }
  std::vector<HistoryRun> Read(const std::vector<std::string>& directories) {
    auto runs = ReadHistory(directories, {"wall_time", "nothing"}, 2);
    EXPECT_TRUE(runs.ok()) << runs.status();
    return *std::move(runs);
  }

  std::string root_ = testing::TempDir() + "/history-XXXXXX";
};

TEST_F(HistoryRunsTest, AreInOrderOfTheirStartsAndEqualOnesOfTheirNames) {
  Write("b", 5);
  Write("c", 5);
  Write("a", 7);
  Write("d", 3);
  const std::vector<HistoryRun> runs = Read({root_});
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].id, "d");
  EXPECT_EQ(runs[1].id, "b");
  EXPECT_EQ(runs[2].id, "c");
  EXPECT_EQ(runs[3].id, "a");
  EXPECT_EQ(runs[3].commit, "abc");
  EXPECT_EQ(runs[3].values.at("wall_time"), 1.5);
  EXPECT_EQ(runs[3].values.count("nothing"), 0u);
  EXPECT_EQ(runs[3].units.at("wall_time"), "s");
  EXPECT_EQ(runs[3].events, std::nullopt);
  EXPECT_EQ(runs[3].datasets, std::vector<std::string>({"ttbar", "zjets"}));
}

TEST_F(HistoryRunsTest, ADirectoryThatIsReachedTwiceCountsOnce) {
  Write("a", 1);
  Write(".at-work", 2);
  fs::create_directory_symlink(root_ + "/a", root_ + "/link");
  EXPECT_EQ(Read({root_, root_ + "/a", root_ + "/a/"}).size(), 1u);
}

TEST_F(HistoryRunsTest, WhatIsDamagedOrNotOverHasAReason) {
  Write("0", 1, "killed");
  Write("1", 1, "running");
  Write("2", 0);
  Write("3", "{\"schema\": \"crema.measurement/1\", \"run\"");
  Write("4", "[1]");
  Write("5", R"({"schema": "crema.measurement/1", "run": 7, "metrics": []})");
  fs::create_directory(root_ + "/6");
  ASSERT_EQ(mkfifo((root_ + "/6/measurement.json").c_str(), 0600), 0);
  std::map<std::string, std::string> reasons;
  for (const HistoryRun& run : Read({root_})) reasons[fs::path(run.directory).filename()] = run.why_not;
  EXPECT_EQ(reasons.size(), 6u) << "a pipe is not a measurement";
  EXPECT_EQ(reasons["0"], "it was killed");
  EXPECT_EQ(reasons["1"], "it had not ended");
  EXPECT_THAT(reasons["2"], HasSubstr("when it began"));
  EXPECT_THAT(reasons["3"], HasSubstr("cannot be read"));
  EXPECT_THAT(reasons["4"], HasSubstr("schema"));
  EXPECT_THAT(reasons["5"], HasSubstr("when it began"));
}

TEST_F(HistoryRunsTest, ADirectoryWithoutMeasurementsIsAnError) {
  EXPECT_FALSE(ReadHistory({root_}, {}, 1).ok());
  EXPECT_FALSE(ReadHistory({root_ + "/nothing"}, {}, 1).ok());
}

}  // namespace
}  // namespace crema
