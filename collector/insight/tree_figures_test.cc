#include "collector/insight/tree_figures.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

Json CommandWithoutChunks() {
  return Json::parse(R"({"metrics": {"wall_time": 10, "allocated_cores": 4, "tree_cpu_user": 8, "tree_cpu_system": 2,
      "job_cpu_efficiency": 0.25, "max_processes": 3, "num_attempts": 0, "num_chunks": 0}})");
}

TEST(TreeFigures, StandForTheKeyFiguresOfACommandWithoutChunks) {
  Json document = CommandWithoutChunks();
  EXPECT_TRUE(IsProcessTreeOnly(document));
  const std::vector<KeyFigureRow> rows = KeyFigureRows(document);
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[1].figure.key, "job_cpu_efficiency");
  EXPECT_EQ(rows[1].text, "25 %");
  EXPECT_EQ(rows[2].text, "8.00 s");
  EXPECT_EQ(rows[6].value, 3);
  EXPECT_EQ(rows[7].why_not, "not measured");
  document["metrics"]["num_attempts"] = 1;
  EXPECT_FALSE(IsProcessTreeOnly(document));
  EXPECT_EQ(KeyFigureRows(document)[1].figure.key, "event_rate_wall_khz");
}

TEST(TreeBudget, AddsUpToTheCoresThatTheCommandWasGiven) {
  Json document = CommandWithoutChunks();
  const std::optional<TreeBudget> budget = ReadTreeBudget(document);
  ASSERT_TRUE(budget.has_value());
  EXPECT_EQ(budget->core_seconds, 40);
  ASSERT_EQ(budget->parts.size(), 3u);
  EXPECT_DOUBLE_EQ(budget->parts[0].share, 0.2);
  EXPECT_DOUBLE_EQ(budget->parts[1].share, 0.05);
  EXPECT_DOUBLE_EQ(budget->parts[2].core_seconds, 30);
  document["metrics"]["allocated_cores"] = 0.5;
  EXPECT_DOUBLE_EQ(ReadTreeBudget(document)->parts[2].core_seconds, 0) << "it used more than it was given";
  document["metrics"].erase("allocated_cores");
  EXPECT_FALSE(ReadTreeBudget(document).has_value());
}

}  // namespace
}  // namespace crema
