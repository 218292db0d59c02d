// The terminal output of whole documents, compared with what a person looked at and approved.
//
// After a wanted change, look at the difference and keep it:
//   CREMA_UPDATE_GOLDEN=1 bazel run //collector/terminal:terminal_test
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "collector/diagnosis/verdicts.h"
#include "collector/measurement/measurement.h"
#include "collector/terminal/terminal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr std::string_view kFolder = "collector/terminal/testdata/";

/// Whether the output is to be kept instead.
bool Updates() { return std::getenv("CREMA_UPDATE_GOLDEN") != nullptr; }

std::string PathOf(const std::string& file) {
  // `bazel run` says where the sources are; a test sees its copy of them
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  return (workspace == nullptr ? "" : std::string(workspace) + "/") + std::string(kFolder) + file;
}

std::string ReadText(const std::string& file) {
  std::ifstream in(PathOf(file));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Measurement Judged(const std::string& name) {
  Measurement measurement = MeasurementOf(nlohmann::ordered_json::parse(ReadText(name + ".json")));
  AddInsight(&measurement);
  return measurement;
}

void ExpectGolden(const std::string& file, const std::string& text) {
  if (Updates()) {
    std::ofstream(PathOf(file)) << text;
    return;
  }
  EXPECT_EQ(text, ReadText(file)) << file << " differs; to accept: CREMA_UPDATE_GOLDEN=1 bazel run "
                                  << "//collector/terminal:terminal_test";
}

struct GoldenSummary {
  std::string document;
  std::string file;
  TerminalStyle style;
};

class GoldenSummaries : public testing::TestWithParam<GoldenSummary> {};

TEST_P(GoldenSummaries, LookAsApproved) {
  ExpectGolden(GetParam().file, RenderSummary(Judged(GetParam().document), GetParam().style));
}

INSTANTIATE_TEST_SUITE_P(Terminal, GoldenSummaries,
                         testing::Values(GoldenSummary{"healthy", "healthy_100.txt", {100, false, false}},
                                         GoldenSummary{"healthy", "healthy_100_color.txt", {100, true, false}},
                                         GoldenSummary{"healthy", "healthy_80.txt", {80, false, false}},
                                         GoldenSummary{"healthy", "healthy_80_ascii.txt", {80, false, true}},
                                         GoldenSummary{"healthy", "healthy_60.txt", {60, false, false}},
                                         GoldenSummary{"waiting", "waiting_100.txt", {120, false, false}},
                                         GoldenSummary{"waiting", "waiting_80.txt", {80, false, false}},
                                         GoldenSummary{"empty", "empty_100.txt", {100, false, false}},
                                         GoldenSummary{"command", "command_100.txt", {100, false, false}},
                                         GoldenSummary{"running", "running_100.txt", {100, false, false}},
                                         GoldenSummary{"killed", "killed_80.txt", {80, false, false}},
                                         GoldenSummary{"names", "names_80.txt", {80, false, false}}),
                         [](const auto& golden) { return golden.param.file.substr(0, golden.param.file.size() - 4); });

TEST(GoldenTables, LookAsApproved) {
  const Measurement measurement = Judged("healthy");
  std::string text;
  for (std::string_view table : TableNames()) {
    text += "== " + std::string(table) + "\n" + RenderTable(measurement, table, {120, false, false}).value() + "\n";
  }
  ExpectGolden("healthy_tables.txt", text);
}

TEST(GoldenMetrics, LookAsApproved) {
  const Measurement measurement = Judged("healthy");
  std::string text;
  for (std::string_view key : {"cpu_efficiency", "wall_time", "total_cpu_time", "memory_read_hit_ratio"}) {
    text += RenderMetric(measurement, key, {80, false, false}).value() + "\n";
  }
  ExpectGolden("healthy_metrics.txt", text);
}

}  // namespace
}  // namespace crema
