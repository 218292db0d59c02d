#include "collector/metrics/measurement_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "collector/files/output_directory.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

std::string Text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

nlohmann::ordered_json DocumentOf(const MeasuredRun& measured) { return JsonOf(measured.measurement); }

class MeasurementDirectory : public ::testing::Test {
 protected:
  MeasurementDirectory() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(::testing::TempDir()) / ("measurement_directory_" + name);
    fs::remove_all(root_);
    Write("logs/a.jsonl", ProcessLine(1).dump() + "\n" + ChunkLine(0, 1, 2).dump() + "\n" + EndLine(3).dump() + "\n");
  }
  ~MeasurementDirectory() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  MeasuredRun Take(const std::vector<std::string>& sources = {"logs"}) {
    MeasureOptions options;
    for (const std::string& source : sources) options.sources.push_back((root_ / source).string());
    absl::StatusOr<MeasuredRun> measurement = Measure(options);
    EXPECT_TRUE(measurement.ok()) << measurement.status();
    return measurement.ok() ? *std::move(measurement) : MeasuredRun();
  }
  absl::Status Save(const MeasuredRun& measurement, const std::string& name = "out", const SaveOptions& options = {}) {
    return SaveMeasurement(measurement, (root_ / name).string(), options);
  }
  std::vector<std::string> Names(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / directory)) names.push_back(entry.path().filename());
    return names;
  }

  fs::path root_;
};

TEST_F(MeasurementDirectory, LoadsWhatItSaved) {
  const MeasuredRun measurement = Take();
  ASSERT_TRUE(Save(measurement).ok());
  const absl::StatusOr<MeasuredRun> loaded = LoadMeasurement((root_ / "out").string());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(DocumentOf(*loaded), DocumentOf(measurement));
  EXPECT_TRUE(IsMeasurement((root_ / "out").string()));
  EXPECT_THAT(Names("out"), UnorderedElementsAre("measurement.json", "records"));
  EXPECT_THAT(Names("."), UnorderedElementsAre("logs", "out")) << "no temporary name is left";
}

TEST_F(MeasurementDirectory, LetsNobodyElseReadIt) {
  ASSERT_TRUE(Save(Take()).ok());
  struct stat status;
  ASSERT_EQ(stat((root_ / "out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat((root_ / "out/measurement.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(MeasurementDirectory, CanBeMeasuredAgainFromItsRecords) {
  const MeasuredRun measurement = Take();
  ASSERT_TRUE(Save(measurement).ok());
  EXPECT_EQ(DocumentOf(Take({"out"}))["metrics"], DocumentOf(measurement)["metrics"]);
}

TEST_F(MeasurementDirectory, LinksEndedLogsAndCopiesLiveOnesToTheirLastWholeLine) {
  Write("logs/b.jsonl", ProcessLine(2).dump() + "\n" + "{\"type\":\"ch");
  const int fd = open((root_ / "logs/b.jsonl").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(Save(Take()).ok());
  close(fd);
  EXPECT_TRUE(fs::equivalent(root_ / "logs/a.jsonl", root_ / "out/records/a.jsonl"));
  EXPECT_THAT(Names("out/records"), UnorderedElementsAre("a.jsonl", "b.live.jsonl"));
  EXPECT_EQ(Text(root_ / "out/records/b.live.jsonl"), ProcessLine(2).dump() + "\n");
}

TEST_F(MeasurementDirectory, CopiesLiveLogsLargerThanABlockWhole) {
  std::string whole = ProcessLine(2).dump() + "\n";
  for (int number = 0; whole.size() < 3'000'000; ++number) whole += ChunkLine(number, number, number + 1).dump() + "\n";
  Write("logs/b.jsonl", whole + std::string(1'500'000, 'x'));  // a line that lacks its end, longer than a block too
  const int fd = open((root_ / "logs/b.jsonl").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(Save(Take()).ok());
  close(fd);
  EXPECT_TRUE(Text(root_ / "out/records/b.live.jsonl") == whole);
}

TEST_F(MeasurementDirectory, ALogThatWasCopiedAliveIsNotLostWhenItIsReadAgain) {
  Write("logs/b.jsonl", ProcessLine(2).dump() + "\n");
  const int fd = open((root_ / "logs/b.jsonl").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(Save(Take()).ok());
  close(fd);
  EXPECT_EQ(DocumentOf(Take({"logs"}))["quality"]["processes_unreported"], 1) << "its process is gone by now";
  EXPECT_EQ(DocumentOf(Take({"out"}))["quality"]["processes_unreported"], 0);
  EXPECT_EQ(DocumentOf(Take({"out"}))["quality"]["processes_running"], 1);
  ASSERT_TRUE(Save(Take({"out"}), "again").ok());
  EXPECT_EQ(DocumentOf(Take({"again"}))["quality"]["processes_running"], 1);
  EXPECT_EQ(DocumentOf(Take({"out", "logs"}))["quality"]["processes_unreported"], 1) << "the log itself knows best";
}

TEST_F(MeasurementDirectory, KeepsLogsOfOneNameApart) {
  Write("more/a.jsonl", ProcessLine(2).dump() + "\n" + EndLine(3).dump() + "\n");
  ASSERT_TRUE(Save(Take({"logs", "more"})).ok());
  EXPECT_THAT(Names("out/records"), UnorderedElementsAre("a.jsonl", "a~2.jsonl"));
}

TEST_F(MeasurementDirectory, LeavesRecordsOutWhenAsked) {
  SaveOptions options;
  options.records = false;
  ASSERT_TRUE(Save(Take(), "out", options).ok());
  EXPECT_THAT(Names("out"), UnorderedElementsAre("measurement.json"));
  MeasureOptions again;
  again.sources = {(root_ / "out").string()};
  EXPECT_THAT(std::string(Measure(again).status().message()), HasSubstr("without its records"));
}

TEST_F(MeasurementDirectory, AddsTheDocumentWhereTheRunHasPutItsLogs) {
  Write("job/records/a.jsonl", Text(root_ / "logs/a.jsonl"));
  Write("job/stdout.txt", "the user's own");
  ASSERT_TRUE(Save(Take({"job"}), "job").ok());
  EXPECT_THAT(Names("job"), UnorderedElementsAre("measurement.json", "records", "stdout.txt"));
  EXPECT_THAT(Names("job/records"), UnorderedElementsAre("a.jsonl"));
}

TEST_F(MeasurementDirectory, KeepsAnOlderMeasurementWithWhatLiesInItUnderTheTimeOfItsStart) {
  ASSERT_TRUE(Save(Take()).ok());
  Write("out/report.html", "made from it");
  Write("more/b.jsonl", ProcessLine(2).dump() + "\n" + EndLine(3).dump() + "\n");
  const MeasuredRun newer = Take({"more"});
  std::string kept_as;
  SaveOptions options;
  options.kept_as = &kept_as;
  ASSERT_TRUE(Save(newer, "out", options).ok());
  EXPECT_THAT(Names("out"), UnorderedElementsAre("measurement.json", "records"));
  EXPECT_THAT(Names("out/records"), UnorderedElementsAre("b.jsonl"));
  EXPECT_EQ(kept_as, (root_ / "out.").string() + StampOfStart(kept_as));
  const std::string kept = fs::path(kept_as).filename();
  EXPECT_THAT(Names(kept), UnorderedElementsAre("measurement.json", "records", "report.html"));
  EXPECT_THAT(Names(kept + "/records"), UnorderedElementsAre("a.jsonl"));
  ASSERT_TRUE(Save(Take()).ok());
  ASSERT_TRUE(Save(newer).ok());
  EXPECT_THAT(Names("."), UnorderedElementsAre("logs", "more", "out", kept, kept + "-2", kept + "-3"));
}

TEST_F(MeasurementDirectory, IsStampedWithTheStartOfItsRunInUtc) {
  Write("m/measurement.json",
        R"({"schema": "crema.measurement/1", "run": {"name": "\"start_ns\": 1", "start_ns": 1795288669160497243}})");
  EXPECT_EQ(StampOfStart(root_ / "m"), "20261121T191749Z");
  Write("killed/records/a.jsonl", R"({"type":"process","start_ns":1795288670160497243})");
  Write("killed/records/b.jsonl", R"({"type":"process","start_ns":1795288669160497243})");
  EXPECT_EQ(StampOfStart(root_ / "killed"), "20261121T191749Z");
}

TEST_F(MeasurementDirectory, ThrowsAnOlderMeasurementAwayWhenAskedAndNothingElse) {
  ASSERT_TRUE(Save(Take()).ok());
  Write("out/report.html", "made from it");
  Write("more/b.jsonl", ProcessLine(2).dump() + "\n" + EndLine(3).dump() + "\n");
  SaveOptions options;
  options.replace = true;
  ASSERT_TRUE(Save(Take({"more"}), "out", options).ok());
  EXPECT_THAT(Names("out"), UnorderedElementsAre("measurement.json", "records", "report.html"));
  EXPECT_THAT(Names("out/records"), UnorderedElementsAre("b.jsonl"));
  fs::remove(root_ / "out/report.html");
  ASSERT_TRUE(Save(Take(), "out", options).ok());
  EXPECT_THAT(Names("out/records"), UnorderedElementsAre("a.jsonl"));
  EXPECT_THAT(Names("."), UnorderedElementsAre("logs", "more", "out"));
  Write("out/records/thesis.tex", "ten years of work");
  EXPECT_EQ(Save(Take({"more"}), "out", options).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Names("out/records"), UnorderedElementsAre("a.jsonl", "thesis.tex"));
}

TEST_F(MeasurementDirectory, PairsNoDocumentWithOlderRecords) {
  ASSERT_TRUE(Save(Take()).ok());
  SaveOptions options;
  options.records = false;
  ASSERT_TRUE(Save(Take(), "out", options).ok());
  EXPECT_THAT(Names("out"), UnorderedElementsAre("measurement.json"));
}

TEST_F(MeasurementDirectory, RefusesWhereLogsAreStillWritten) {
  ASSERT_TRUE(Save(Take()).ok());
  const int fd = open((root_ / "out/records/a.jsonl").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  Write("more/b.jsonl", ProcessLine(2).dump() + "\n" + EndLine(3).dump() + "\n");
  const absl::Status refused = Save(Take({"more"}));
  close(fd);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("still writing"));
  EXPECT_THAT(Names("out/records"), UnorderedElementsAre("a.jsonl"));
}

TEST_F(MeasurementDirectory, FollowsALinkAndKeepsItsModeAndLeavesTheLink) {
  fs::create_directories(root_ / "scratch/run");
  chmod((root_ / "scratch/run").c_str(), 02750);
  fs::create_directory_symlink(root_ / "scratch/run", root_ / "out");
  ASSERT_TRUE(Save(Take(), "out/").ok());
  ASSERT_TRUE(Save(Take(), "logs/../out").ok());
  EXPECT_TRUE(fs::is_symlink(root_ / "out"));
  EXPECT_EQ(Names("scratch").size(), 2u);
  struct stat status;
  ASSERT_EQ(stat((root_ / "scratch/run").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 02750u);
  fs::create_symlink(root_ / "nowhere", root_ / "dangling");
  EXPECT_THAT(std::string(Save(Take(), "dangling").message()), HasSubstr("symbolic link to nothing"));
}

TEST_F(MeasurementDirectory, LeavesNoDirectoryWhereNothingCanBeSaved) {
  MeasuredRun measurement = Take();
  measurement.log_paths = {(root_ / "logs/gone.jsonl").string()};
  EXPECT_FALSE(Save(measurement).ok());
  EXPECT_THAT(Names("."), UnorderedElementsAre("logs"));
}

TEST_F(MeasurementDirectory, DoesNotOverwriteWhatItDidNotWriteUnlessForced) {
  Write("out/thesis.tex", "ten years of work");
  const absl::Status refused = Save(Take());
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--force"));
  EXPECT_THAT(Names("out"), UnorderedElementsAre("thesis.tex"));
  Write("foreign/measurement.json", R"({"schema":"somebody.else/1"})");
  EXPECT_FALSE(Save(Take(), "foreign").ok());
  SaveOptions options;
  options.force = true;
  ASSERT_TRUE(Save(Take(), "out", options).ok());
  EXPECT_THAT(Names("out"), UnorderedElementsAre("measurement.json", "records", "thesis.tex"));
}

TEST_F(MeasurementDirectory, SaysWhatIsWrongWithADirectoryThatHoldsNoMeasurement) {
  EXPECT_EQ(LoadMeasurement((root_ / "logs").string()).status().code(), absl::StatusCode::kNotFound);
  Write("cut/measurement.json", R"({"schema":"crema.meas)");
  EXPECT_THAT(std::string(LoadMeasurement((root_ / "cut").string()).status().message()),
              HasSubstr("is not a measurement"));
  Write("later/measurement.json", R"({"schema":"crema.measurement/2"})");
  EXPECT_THAT(std::string(LoadMeasurement((root_ / "later").string()).status().message()),
              HasSubstr("crema.measurement/2"));
}

TEST_F(MeasurementDirectory, KeepsCoffeasReportSoThatItIsFoundAgain) {
  Write("report.json", R"({"entries": 100, "processtime": 1.0})");
  Write("other/report.json", R"({"d": {"entries": 100}})");
  MeasureOptions options;
  options.sources = {(root_ / "logs").string()};
  options.coffea_reports = {(root_ / "report.json").string()};
  options.metrics_by_dataset = {(root_ / "other/report.json").string()};
  const absl::StatusOr<MeasuredRun> first = Measure(options);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(Save(*first).ok());
  EXPECT_THAT(Names("out/records"),
              UnorderedElementsAre("a.jsonl", "report.coffea_report.json", "report.metrics_by_dataset.json"));
  const MeasuredRun again = Take({"out"});
  EXPECT_EQ(DocumentOf(again)["run"]["coffea_report"], DocumentOf(*first)["run"]["coffea_report"]);
  EXPECT_EQ(DocumentOf(again)["datasets"], DocumentOf(*first)["datasets"]);
  ASSERT_TRUE(Save(again).ok()) << "into itself";
  EXPECT_EQ(Names("out/records").size(), 3u);

  options.sources = {(root_ / "out").string()};
  const absl::StatusOr<MeasuredRun> twice = Measure(options);
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_EQ(DocumentOf(*twice)["run"]["coffea_report"]["reports"], 1);
  EXPECT_THAT(DocumentOf(*twice)["quality"]["warnings"].dump(), HasSubstr("say the same; it was counted once"));
}

TEST_F(MeasurementDirectory, OfAReportAloneCanBeCollectedAgain) {
  Write("report.json", R"({"entries": 100, "processtime": 1.0})");
  MeasureOptions options;
  options.coffea_reports = {(root_ / "report.json").string()};
  const absl::StatusOr<MeasuredRun> first = Measure(options);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(Save(*first).ok());
  EXPECT_EQ(DocumentOf(Take({"out"}))["metrics"]["total_events"], 100);
  EXPECT_EQ(DocumentOf(Take({"out", "logs"}))["metrics"]["num_attempts"], 1);
}

TEST_F(MeasurementDirectory, AddsAReportToTheLogsThatCremaRunLeft) {
  fs::create_directories(root_ / "run/records");
  fs::copy_file(root_ / "logs/a.jsonl", root_ / "run/records/a.jsonl");
  Write("report.json", R"({"entries": 100})");
  MeasureOptions options;
  options.sources = {(root_ / "run").string()};
  options.coffea_reports = {(root_ / "report.json").string()};
  const absl::StatusOr<MeasuredRun> measurement = Measure(options);
  ASSERT_TRUE(measurement.ok()) << measurement.status();
  ASSERT_TRUE(Save(*measurement, "run").ok());
  EXPECT_THAT(Names("run/records"), UnorderedElementsAre("a.jsonl", "report.coffea_report.json"));
}

}  // namespace
}  // namespace crema
