#include "collector/sources/coffea_report.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::string Save(const std::string& text) {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string path = testing::TempDir() + "coffea_" + name + ".json";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<CoffeaReport> report = ReadCoffeaReport(Save(text));
  EXPECT_FALSE(report.ok()) << text;
  return std::string(report.status().message());
}

TEST(CoffeaReport, HoldsWhatRunnerReturns) {
  const absl::StatusOr<CoffeaReport> report = ReadCoffeaReport(Save(
      R"({"bytesread": 31881576, "columns": ["nJet-offsets", "Jet_pt-data", "Jet_pt-data"], "entries": 480000,
          "processtime": 40.79478454589844, "chunks": 480})"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->bytesread, 31881576);
  EXPECT_EQ(report->entries, 480000);
  EXPECT_EQ(report->chunks, 480);
  EXPECT_EQ(report->processtime, 40.79478454589844);
  EXPECT_THAT(report->columns, ElementsAre("Jet_pt-data", "nJet-offsets"));
}

TEST(CoffeaReport, TakesWholeFloatsForCountsAndNullForAbsent) {
  const absl::StatusOr<CoffeaReport> report =
      ReadCoffeaReport(Save(R"({"entries": 480000.0, "bytesread": null, "new_key": {"x": 1}})"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->entries, 480000);
  EXPECT_EQ(report->bytesread, std::nullopt);
  EXPECT_FALSE(report->has_columns);
}

TEST(CoffeaReport, RefusesBadFilesInOneLine) {
  EXPECT_THAT(ErrorOf("{\n\"entries\": NaN}"), HasSubstr(".json:2: is not JSON"));
  EXPECT_THAT(ErrorOf("{'entries': 1}"), HasSubstr(".json:1: is not JSON"));
  EXPECT_THAT(ErrorOf("{\"entries\": 1"), HasSubstr("is not JSON"));
  EXPECT_THAT(ErrorOf(std::string("\0\xff\xfe{", 4)), HasSubstr("is not JSON"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("cannot be read (it is empty"));
  EXPECT_THAT(ErrorOf("[1, 2]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(ErrorOf(R"({"ttbar": {"entries": 1}})"), HasSubstr("not a Coffea report"));
  EXPECT_THAT(ErrorOf(R"({"entries": "many"})"), HasSubstr("`entries` is not a number"));
  EXPECT_THAT(ErrorOf(R"({"entries": true})"), HasSubstr("`entries` is not a number"));
  EXPECT_THAT(ErrorOf(R"({"entries": -1})"), HasSubstr("`entries` is negative"));
  EXPECT_THAT(ErrorOf(R"({"chunks": 1.5})"), HasSubstr("`chunks` is not a whole number"));
  EXPECT_THAT(ErrorOf(R"({"bytesread": 1e300})"), HasSubstr("`bytesread` is beyond 64 bits"));
  EXPECT_THAT(ErrorOf(R"({"bytesread": 9223372036854775808})"), HasSubstr("`bytesread` is beyond 64 bits"));
  EXPECT_THAT(ErrorOf(R"({"processtime": -0.5})"), HasSubstr("`processtime` is negative"));
  EXPECT_THAT(ErrorOf(R"({"columns": "Jet_pt"})"), HasSubstr("`columns` is not a list"));
  EXPECT_THAT(ErrorOf(R"({"columns": [1]})"), HasSubstr("`columns` holds something that is not text"));
  EXPECT_THAT(ErrorOf("[1,\n2"), Not(HasSubstr("\n")));
}

TEST(CoffeaReport, SaysWhichFileIsNotThere) {
  EXPECT_THAT(std::string(ReadCoffeaReport("/nonexistent/report.json").status().message()),
              StartsWith("/nonexistent/report.json: cannot be read (No such file or directory)"));
  EXPECT_THAT(std::string(ReadCoffeaReport(testing::TempDir()).status().message()), HasSubstr("cannot be read"));
}

TEST(MetricsByDataset, HoldsEntriesDurationAndBytesOfEach) {
  const absl::StatusOr<MetricsByDataset> metrics = ReadMetricsByDataset(Save(
      R"({"WJets": {"entries": 500000, "duration": 23.1, "performance_counters": {"num_requested_bytes": 2500000000}},
          "TTbar": {"entries": 1000000, "duration": 45.2}})"));
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_THAT(metrics->datasets, SizeIs(2));
  EXPECT_EQ(metrics->datasets[0].dataset, "TTbar");
  EXPECT_EQ(metrics->datasets[0].num_requested_bytes, std::nullopt);
  EXPECT_EQ(metrics->datasets[1].entries, 500000);
  EXPECT_EQ(metrics->datasets[1].duration, 23.1);
  EXPECT_EQ(metrics->datasets[1].num_requested_bytes, 2500000000);
  EXPECT_THAT(metrics->warnings, SizeIs(0));
}

TEST(MetricsByDataset, LeavesOutBadEntriesAndSaysSo) {
  const absl::StatusOr<MetricsByDataset> metrics =
      ReadMetricsByDataset(Save(R"({"total": 3, "a": {"entries": -1}, "b": {}, "c": {"entries": 7}})"));
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_THAT(metrics->datasets, SizeIs(1));
  EXPECT_EQ(metrics->datasets[0].dataset, "c");
  EXPECT_THAT(metrics->warnings,
              ElementsAre(HasSubstr("`a`: `entries` is negative; it was left out"),
                          HasSubstr("`b`: holds none of entries"), HasSubstr("`total`: is not an object")));
}

TEST(MetricsByDataset, RefusesAFileWithoutAnyDataset) {
  EXPECT_THAT(std::string(ReadMetricsByDataset(Save("{}")).status().message()), HasSubstr("holds no dataset"));
  EXPECT_THAT(std::string(ReadMetricsByDataset(Save(R"({"entries": 3})")).status().message()),
              HasSubstr("`entries`: is not an object"));
}

}  // namespace
}  // namespace crema
