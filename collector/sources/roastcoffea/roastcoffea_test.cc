// What is read of a roastcoffea measurement; the whole sample is shown and compared in //collector/cli.
#include "collector/sources/roastcoffea/roastcoffea.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Roastcoffea : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void Save(const std::string& metrics, const std::string& times = "10.5,12.75\n") {
    std::ofstream(directory_ / "metrics.json") << metrics;
    std::ofstream(directory_ / "start_end_time.txt") << times;
  }
  /// The lines of the log, the process line first.
  std::vector<Json> Records(const Json& chunks, bool has_section_paths = false) {
    RoastcoffeaMeasurement measurement;
    measurement.has_section_paths = has_section_paths;
    measurement.name = "m";
    measurement.metrics = {{"raw_chunk_metrics", chunks}};
    measurement.elapsed_seconds = 5;
    reported_ = WriteRoastcoffeaRecords(measurement, directory_.string()).value();
    std::vector<Json> lines;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
      std::ifstream log(entry.path());
      for (std::string line; std::getline(log, line);) lines.push_back(Json::parse(line));
    }
    return lines;
  }
  fs::path directory_;
  RoastcoffeaRecords reported_;
};

TEST_F(Roastcoffea, TakesPythonsNonFiniteNumbersForNull) {
  Save(R"({"a": NaN, "b": [Infinity, -Infinity, 1], "NaN": "a \"NaN\" in a text"})");
  const auto measurement = ReadRoastcoffea(directory_.string());
  ASSERT_TRUE(measurement.ok()) << measurement.status();
  EXPECT_EQ(measurement->metrics.dump(), R"({"a":null,"b":[null,null,1],"NaN":"a \"NaN\" in a text"})");
  EXPECT_DOUBLE_EQ(measurement->elapsed_seconds, 2.25);
}

TEST_F(Roastcoffea, IsToldFromAMeasurementOfCremasOwn) {
  EXPECT_FALSE(IsRoastcoffea(directory_.string()));
  Save("{}");
  EXPECT_TRUE(IsRoastcoffea(directory_.string()));
  std::ofstream(directory_ / "measurement.json") << "{}";
  EXPECT_FALSE(IsRoastcoffea(directory_.string()));
}

TEST_F(Roastcoffea, RefusesTimesThatAreNone) {
  for (const char* times : {"", "1", "a,b", "2,1", "nan,1"}) {
    Save("{}", times);
    EXPECT_FALSE(ReadRoastcoffea(directory_.string()).ok()) << times;
  }
}

TEST_F(Roastcoffea, CountsRecordsWithoutStartOrDuration) {
  const auto lines =
      Records({{{"t_start", 100.0}, {"duration", 1.5}}, {{"t_start", 100.0}}, "text", {{"duration", -1}}});
  EXPECT_EQ(reported_.chunks, 1);
  EXPECT_EQ(reported_.malformed, 3);
  EXPECT_EQ(lines.at(1)["stop_ns"], 101'500'000'000);
  EXPECT_EQ(lines.at(0)["start_ns"], 96'500'000'000);
}

TEST_F(Roastcoffea, LeavesOutSectionsThatCannotStandSideBySide) {
  const auto lines = Records({{{"t_start", 1.0}, {"duration", 1.0}, {"timing", {{"a/b", 0.4}, {"c", 0.5}}}},
                              {{"t_start", 2.0}, {"duration", 1.0}, {"timing", {{"outer", 0.9}, {"inner", 0.5}}}}});
  EXPECT_EQ(lines.at(1)["sections"][0]["path"], "a%2Fb");
  EXPECT_EQ(lines.at(1)["sections"].size(), 2u);
  EXPECT_TRUE(lines.at(2)["sections"].empty());
  EXPECT_EQ(reported_.overlapping_timings, 1);
}

TEST_F(Roastcoffea, TakesPathsForPathsWhereCremaWroteThem) {
  const Json timing = {{"read", 0.9}, {"read/unzip", 0.5}, {"a%2Fb", 0.1}};
  const auto lines = Records({{{"t_start", 1.0}, {"duration", 1.0}, {"timing", timing}}}, /*has_section_paths=*/true);
  const Json& sections = lines.at(1)["sections"];
  ASSERT_EQ(sections.size(), 3u);
  EXPECT_EQ(sections[0]["path"], "a%2Fb");
  EXPECT_EQ(sections[1]["path"], "read");
  EXPECT_EQ(sections[1]["self_ns"], 400'000'000);
  EXPECT_EQ(sections[2]["self_ns"], 500'000'000);
  EXPECT_EQ(reported_.overlapping_timings, 0);
  Save("{}");
  std::ofstream(directory_ / "metadata.json") << R"({"written_by": "crema 1.2.3"})";
  EXPECT_TRUE(ReadRoastcoffea(directory_.string())->has_section_paths);
}

TEST_F(Roastcoffea, LeavesOutNumbersThatNoClockAndNoMemoryHas) {
  const auto lines =
      Records({{{"t_start", 1e300}, {"duration", 1.0}},
               {{"t_start", 3e9}, {"duration", 3e9}, {"mem_before_mb", 1e300}, {"memory", {{"a", 1e300}}}}});
  EXPECT_EQ(reported_.malformed, 1);
  EXPECT_EQ(lines.at(1)["stop_ns"], 6'000'000'000'000'000'000);
  EXPECT_TRUE(lines.at(1)["rss_start_bytes"].is_null());
  EXPECT_TRUE(lines.at(1)["memory_sections"].empty());
}

TEST_F(Roastcoffea, TakesTheZerosItWritesForNotKnown) {
  const auto lines =
      Records({{{"t_start", 1.0}, {"duration", 1.0}, {"bytes_read", 0}, {"mem_before_mb", 0.0}, {"num_events", 0}}});
  EXPECT_TRUE(lines.at(1)["bytes_read"].is_null());
  EXPECT_TRUE(lines.at(1)["rss_start_bytes"].is_null());
  EXPECT_EQ(lines.at(1)["events"], 0);
}

TEST(RoastcoffeaTimelines, CountFromTheFirstSample) {
  const RoastcoffeaTimelines timelines = ReadRoastcoffeaTimelines(Json::parse(R"({
    "worker_counts": {"2026-01-01T00:00:01.500000": 2, "2026-01-01T00:00:01": 1, "never": 3},
    "worker_cores": {"w": [["2026-01-01T00:00:03", 4], ["2026-01-01T00:00:01", "x"]]}})"));
  EXPECT_EQ(timelines.worker_counts, (SampledSteps{{0.0, 1.0}, {0.5, 2.0}}));
  EXPECT_EQ(timelines.by_worker.at("worker_cores").at("w"), (SampledSteps{{2.0, 4.0}}));
  EXPECT_DOUBLE_EQ(timelines.stop, 2.0);
  EXPECT_DOUBLE_EQ(StepIntegral(timelines.worker_counts, timelines.stop), 3.5);
}

TEST(RoastcoffeaTimelines, AreEmptyWithoutTrackingData) {
  for (const Json& tracking : {Json(), Json("x"), Json({{"worker_counts", nullptr}})}) {
    EXPECT_TRUE(ReadRoastcoffeaTimelines(tracking).worker_counts.empty());
  }
}

}  // namespace
}  // namespace crema
