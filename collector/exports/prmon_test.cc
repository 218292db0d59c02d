#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "collector/exports/export_format.h"
#include "collector/idioms/units.h"
#include "collector/sources/prmon/prmon_reader.h"
#include "collector/sources/prmon_paths.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int64_t kStart = 1795280000 * kSecondNs;

TreeSampleFact Sample(double after_seconds, int64_t rss_kb, std::optional<int64_t> pss_kb, int64_t processes) {
  TreeSampleFact sample;
  sample.time_ns = kStart + static_cast<int64_t>(after_seconds * 1e9);
  sample.rss_bytes = rss_kb * 1024;
  if (pss_kb.has_value()) sample.pss_bytes = *pss_kb * 1024;
  sample.processes = processes;
  sample.threads = processes;
  sample.cpu_user_ns = static_cast<int64_t>(after_seconds * 1e9);
  sample.io = TreeIo{0, 0, 0, static_cast<int64_t>(after_seconds * 1000)};
  return sample;
}

// Ten seconds, of which the last was not sampled, and memory that was larger than any sample.
PrmonSeries SomeJob() {
  PrmonSeries series;
  series.start_ns = kStart;
  series.stop_ns = kStart + 10 * kSecondNs;
  series.samples = {Sample(0, 100, std::nullopt, 1), Sample(2, 300, 200, 3), Sample(8, 500, std::nullopt, 2),
                    Sample(10.01, 0, std::nullopt, 0)};
  series.totals.cpu_user_ns = 9'700'000'000;
  series.totals.cpu_system_ns = 400'000'000;
  series.totals.tree_peak_rss_bytes = 900 * 1024;
  series.totals.tree_peak_pss_bytes = 200 * 1024;
  series.totals.io = TreeIo{1, 2, 3, 10'000};
  series.totals.max_processes = 3;
  series.totals.max_threads = 3;
  return series;
}

TEST(RenderPrmon, RowsAreSamplesAndTheEndHasTheKernelsTotals) {
  EXPECT_EQ(RenderPrmon(SomeJob()).rows,
            "Time\twtime\tutime\tstime\tpss\trss\trchar\twchar\tread_bytes\twrite_bytes\tnprocs\tnthreads\n"
            "1795280000\t0\t0\t0\t0\t100\t0\t0\t0\t0\t1\t1\n"
            "1795280002\t2\t2\t0\t200\t300\t0\t2000\t0\t0\t3\t3\n"
            "1795280008\t8\t8\t0\t200\t500\t0\t8000\t0\t0\t2\t2\n"
            "1795280010\t10\t10\t0\t200\t500\t3\t10000\t1\t2\t2\t2\n");
}

TEST(RenderPrmon, RatesArePerSecondOfWallTimeAndMemoryIsAveragedOverTime) {
  const nlohmann::json summary = nlohmann::json::parse(RenderPrmon(SomeJob()).summary);
  EXPECT_EQ(summary["Max"]["wtime"], 10);
  EXPECT_EQ(summary["Max"]["utime"], 10);  // 9.7 s: rounded, where prmon cuts
  EXPECT_EQ(summary["Max"]["rss"], 900);
  EXPECT_EQ(summary["Max"]["wchar"], 10000);
  EXPECT_EQ(summary["Avg"]["wchar"], 1000.0);  // prmon 3.3.0 would say 100,000
  EXPECT_DOUBLE_EQ(summary["Avg"]["rss"], (100 * 2 + 300 * 6 + 500 * 2) / 10.0);
  EXPECT_DOUBLE_EQ(summary["Avg"]["nprocs"], (1 * 2 + 3 * 6 + 2 * 2) / 10.0);
  EXPECT_FALSE(summary["Avg"].contains("utime"));
  EXPECT_EQ(summary["Units"]["Avg"]["wchar"], "B/s");
  EXPECT_EQ(summary["Units"]["Max"]["rss"], "kB");
  EXPECT_FALSE(summary["Max"].contains("swap"));  // not measured
  EXPECT_FALSE(summary.contains("HW"));
}

TEST(RenderPrmon, AJobWithoutASampleHasItsEnd) {
  PrmonSeries series = SomeJob();
  series.samples.clear();
  series.stop_ns = series.start_ns;
  const std::string rows = RenderPrmon(series).rows;
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 2);
  EXPECT_FALSE(nlohmann::json::parse(RenderPrmon(series).summary)["Avg"].contains("wchar"));
}

std::string Text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::map<std::string, std::string>> ByName(const std::string& rows) {
  std::istringstream text(rows);
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> result;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::vector<std::string> values;
    for (std::string word; words >> word;) values.push_back(word);
    if (names.empty()) {
      names = values;
    } else {
      result.emplace_back();
      for (size_t i = 0; i < names.size(); ++i) result.back()[names[i]] = values.at(i);
    }
  }
  return result;
}

TEST(RenderPrmon, WhatPrmonWroteComesBackButForItsFaults) {
  const std::string folder = "collector/sources/prmon/testdata/";
  PrmonSeries series;
  const auto reading = ReadPrmon(*PrmonFilesOf(folder + "prmon.txt"),
                                 [&series](const TreeSampleFact& sample) { series.samples.push_back(sample); });
  ASSERT_TRUE(reading.ok()) << reading.status();
  series.start_ns = reading->run.run.start_ns;
  series.stop_ns = reading->run.end->time_ns;
  series.totals = reading->run.totals;
  const PrmonTexts written = RenderPrmon(series);

  const auto before = ByName(Text(folder + "prmon.txt")), after = ByName(written.rows);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].size(), 13u);  // no network, no vmem
    for (const auto& [name, value] : after[i]) EXPECT_EQ(value, before[i].at(name)) << i << " " << name;
  }
  const nlohmann::json old = nlohmann::json::parse(Text(folder + "prmon.json")),
                       renewed = nlohmann::json::parse(written.summary);
  for (const auto& [name, value] : renewed["Max"].items()) EXPECT_EQ(value, old["Max"][name]) << name;
  for (const auto& [name, unit] : renewed["Units"]["Max"].items()) EXPECT_EQ(unit, old["Units"]["Max"][name]) << name;
  for (const auto& [name, unit] : renewed["Units"]["Avg"].items()) EXPECT_EQ(unit, old["Units"]["Avg"][name]) << name;
  EXPECT_EQ(renewed["Avg"]["wchar"], std::round(988808864 / 14.0));
  EXPECT_NEAR(old["Avg"]["wchar"].get<double>() / renewed["Avg"]["wchar"].get<double>(), 100, 0.01);
}

}  // namespace
}  // namespace crema
