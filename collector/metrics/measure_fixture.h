// Measurements of literal records, for tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

/// Writes logs into a directory of the test's own, and measures it.
class MeasureTest : public ::testing::Test {
 protected:
  MeasureTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    directory_ = fs::path(::testing::TempDir()) / ("measure_" + name);
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~MeasureTest() override { fs::remove_all(directory_); }

  void WriteText(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  void Write(const std::string& name, const std::vector<Line>& lines) {
    std::string text;
    for (const Line& line : lines) text += line.dump() + "\n";
    WriteText(name, text);
  }
  Document Take(MeasureOptions options = {}) {
    options.sources = {directory_.string()};
    const absl::StatusOr<MeasuredRun> measured = Measure(options);
    EXPECT_TRUE(measured.ok()) << measured.status();
    return measured.ok() ? JsonOf(measured->measurement) : Document();
  }
  static double Metric(const Document& document, const std::string& key) {
    const Document& value = document["metrics"].at(key);
    EXPECT_TRUE(value.is_number()) << key << ": " << value << " " << document["quality"]["not_measured"].value(key, "");
    return value.is_number() ? value.get<double>() : -1;
  }
  static const Document& Row(const Document& table, const std::string& field, const std::string& value) {
    for (const Document& row : table) {
      if (row[field] == value) return row;
    }
    ADD_FAILURE() << "no row " << value;
    static const Document kNone;
    return kNone;
  }

  fs::path directory_;
};

}  // namespace crema
