#include "collector/diagnosis/key_figures.h"
#include "collector/measurement/measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

Measurement CommandWithoutChunks() {
  return MeasurementOf(nlohmann::ordered_json::parse(
      R"({"metrics": {"wall_time": 10, "allocated_cores": 4, "tree_cpu_user": 8, "tree_cpu_system": 2,
      "job_cpu_efficiency": 0.25, "max_processes": 3, "num_attempts": 0, "num_chunks": 0}})"));
}

TEST(TreeFigures, StandForTheKeyFiguresOfACommandWithoutChunks) {
  Measurement measurement = CommandWithoutChunks();
  EXPECT_TRUE(IsProcessTreeOnly(measurement));
  const std::vector<KeyFigureRow> rows = KeyFigureRows(measurement);
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[1].figure.key, "job_cpu_efficiency");
  EXPECT_EQ(rows[1].text, "25 %");
  EXPECT_EQ(rows[2].text, "8.00 s");
  EXPECT_EQ(rows[6].value, 3);
  EXPECT_EQ(rows[7].why_not, "not measured");
  measurement.metrics.Set("num_attempts", 1.0);
  EXPECT_FALSE(IsProcessTreeOnly(measurement));
  EXPECT_EQ(KeyFigureRows(measurement)[1].figure.key, "event_rate_wall_khz");
}

TEST(TreeFigures, SayWherePagesMayCountSeveralTimes) {
  Measurement measurement = CommandWithoutChunks();
  measurement.metrics.Set("tree_peak_memory_bytes", 3e9);
  measurement.metrics.Set("tree_peak_rss_bytes", 3e9);
  measurement.metrics.Set("process_peak_rss_bytes", 1e9);
  const auto says_so = [&measurement] {
    for (const KeyFigureRow& row : KeyFigureRows(measurement)) {
      if (row.figure.key == "tree_peak_memory_bytes" && !row.notes.empty())
        return row.notes.back().before.substr(0, 12);
    }
    return std::string();
  };
  EXPECT_EQ(says_so(), "a sum of RSS");
  measurement.metrics.Set("tree_peak_pss_bytes", 1e9);
  EXPECT_NE(says_so(), "a sum of RSS");
}

TEST(TreeBudget, AddsUpToTheCoresThatTheCommandWasGiven) {
  Measurement measurement = CommandWithoutChunks();
  const std::optional<TreeBudget> budget = ReadTreeBudget(measurement);
  ASSERT_TRUE(budget.has_value());
  EXPECT_EQ(budget->core_seconds, 40);
  ASSERT_EQ(budget->parts.size(), 3u);
  EXPECT_DOUBLE_EQ(budget->parts[0].share, 0.2);
  EXPECT_DOUBLE_EQ(budget->parts[1].share, 0.05);
  EXPECT_DOUBLE_EQ(budget->parts[2].core_seconds, 30);
  EXPECT_EQ(budget->parts[2].name, "Not used, or waiting") << "nobody read what its threads waited for";
  measurement.metrics.Set("tree_cpu_wait", 8.0);
  const TreeBudget waiting = *ReadTreeBudget(measurement);
  ASSERT_EQ(waiting.parts.size(), 4u);
  EXPECT_EQ(waiting.parts[2].name, "Waiting for a CPU");
  EXPECT_DOUBLE_EQ(waiting.parts[2].core_seconds, 8);
  EXPECT_DOUBLE_EQ(waiting.parts[3].core_seconds, 22);
  EXPECT_EQ(waiting.parts[3].name, "Not used by it");
  measurement.metrics.Set("allocated_cores", 0.5);
  EXPECT_DOUBLE_EQ(ReadTreeBudget(measurement)->parts[2].core_seconds, 0) << "it used more than it was given";
  measurement.metrics.SetNull("allocated_cores", "not measured");
  EXPECT_FALSE(ReadTreeBudget(measurement).has_value());
}

}  // namespace
}  // namespace crema
