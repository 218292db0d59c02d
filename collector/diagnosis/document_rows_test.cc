// The document's rows hold the columns that are declared (and so those of docs/metrics.md), in their order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/idioms/units.h"
#include "collector/measurement/budget_parts.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::ElementsAreArray;

class DocumentRowsTest : public MeasureTest {
 protected:
  /// What `crema run` saw of the process.
  static std::vector<Line> TreeLines() {
    const Line row = {{"pid", 1},     {"start_ns", At(0)}, {"rss_bytes", 1000}, {"cpu_ns", kSecondNs},
                      {"threads", 1}, {"name", "a"}};
    return {{{"type", "run"},
             {"schema", "crema.tree/1"},
             {"schema_minor", 2},
             {"run_id", "run"},
             {"name", "my analysis"},
             {"command", {"./a", "b"}},
             {"host", "node"},
             {"pid", 1},
             {"start_ns", At(0)},
             {"interval_seconds", 1.0},
             {"allocated_cores", 2.0},
             {"allocated_cores_source", "slurm"},
             {"memory_limit_bytes", 1000000},
             {"net_host_wide", true}},
            {{"type", "tree_sample"},
             {"time_ns", At(5)},
             {"rss_bytes", 1000},
             {"cpu_user_ns", kSecondNs},
             {"cpu_system_ns", 0},
             {"processes", 1},
             {"threads", 1},
             {"process_rows", Line::array({row})}},
            {{"type", "run_end"},
             {"time_ns", At(311)},
             {"exit_status", 0},
             {"tree_cpu_user_ns", kSecondNs},
             {"tree_cpu_system_ns", 0},
             {"process_peak_rss_bytes", 1000}}};
  }

  /// A run that has a row in every table, but for what is found in it.
  Document TakeFull() {
    std::vector<Line> lines = {ProcessLine(1, 0)};
    const auto seconds = [](int i) { return i == 5 ? 9.5 : i >= 20 && i < 26 ? 3 : 1 + 0.001 * i; };
    for (int i = 0; i < 30; ++i) lines.push_back(ChunkLine(i, 10 * i, 10 * i + seconds(i)));
    Line& chunk = lines.back();
    chunk["sections"] = Line::array({SectionRowLine("read", kSecondNs / 2, kSecondNs / 2)});
    chunk["memory_sections"] = {{{"path", "jets"}, {"count", 1}, {"delta_bytes", 5}}};
    chunk["metrics"] = {{{"name", "jets"}, {"unit", "count"}, {"count", 2}, {"sum", 10.0}, {"min", 4.0}, {"max", 6.0}}};
    chunk["attributes"] = {{"file_kind", "merged"}};
    chunk["cuts"] = {{{"name", "all"}, {"events", 100}}};
    chunk["requests"] = {
        {{"server", "root://eos"}, {"operation", "read"}, {"count", 3}, {"bytes", 30}, {"total_ns", 9}, {"max_ns", 5}}};
    chunk["waits"] = {{{"path", "read"}, {"kind", "read"}, {"object", "/data/a"}, {"samples", 20}}};
    chunk["activities"] = {{{"label", "fit"}, {"unit", "seconds"}, {"value", 1.5}}};
    lines.push_back({{"type", "span"}, {"name", "process"}, {"start_ns", At(0)}, {"stop_ns", At(100)}});
    lines.push_back({{"type", "stacks"}, {"time_ns", At(300)}, {"section", "read"}, {"hertz", 100}});
    lines.back().update({{"functions", Line::array({{"fit", "/a.py", 3}})}, {"stacks", Line::array({{4, 4, 0}})}});
    lines.push_back({{"type", "gpu"}, {"time_ns", At(300)}, {"cupti_version", 130001}, {"busy_ns", 50}, {"lost", 0}});
    const Line kernel = {{"name", "fit"}, {"section", "read"}, {"count", 1}, {"total_ns", 50}, {"max_ns", 50}};
    lines.back().update({{"work", Line::array()}, {"kernels", Line::array({kernel})}, {"last", true}});
    const Line event = {{"dataset", "raw"},
                        {"count", 1},
                        {"first_start_ns", At(299)},
                        {"last_stop_ns", At(300)},
                        {"latency_ns", kSecondNs},
                        {"tasks", 1},
                        {"work_ns", 9}};
    const Line module = {{"name", "fit"}, {"count", 1}, {"own_ns", 9}, {"peak", 1}, {"cpu_ns", 5}};
    const Line thread = {{"tid", 7}, {"tasks", 1}, {"task_ns", 9}};
    lines.push_back({{"type", "task_sums"}, {"time_ns", At(300)}, {"peak", 1}, {"open", 0}});
    lines.back().update({{"latencies", Line::array({event})},
                         {"task_threads", Line::array({thread})},
                         {"task_modules", Line::array({module})}});
    Line end = EndLine(310);
    end["sections"] = Line::array({SectionRowLine("setup", kSecondNs, kSecondNs)});
    lines.push_back(end);
    Write("a.jsonl", lines);
    Write("node-1-1.tree.ndjson", TreeLines());
    return Take();
  }
};

std::vector<std::string> KeysOf(const Document& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

std::vector<std::string_view> KeysOf(absl::Span<const Column> columns) {
  std::vector<std::string_view> keys;
  for (const Column& column : columns) keys.push_back(column.key);
  return keys;
}

TEST_F(DocumentRowsTest, HoldTheDeclaredColumnsInTheirOrder) {
  Document document = TakeFull();
  document["workers"][0]["time_limit"] = 60;  // of a batch system, which has requests
  AddInsight(&document);
  for (const Table& table : Tables()) {
    const std::string key(table.key);
    ASSERT_TRUE(document.contains(key)) << key;
    ASSERT_FALSE(document[key].empty()) << key;
    EXPECT_THAT(KeysOf(document[key][0]), ElementsAreArray(KeysOf(table.columns()))) << key;
  }
}

TEST_F(DocumentRowsTest, LeaveNoTableOfTheDocumentOut) {
  const Document document = TakeFull();
  for (const auto& [key, value] : document.items()) {
    if (!value.is_array()) continue;
    EXPECT_NE(FindTable(key), nullptr) << key;
  }
}

TEST_F(DocumentRowsTest, AreTheSameAfterTheyWereRead) {
  Document document = TakeFull();
  EXPECT_EQ(JsonOf(MeasurementOf(document)).dump(1), document.dump(1));
  AddInsight(&document);
  EXPECT_EQ(JsonOf(MeasurementOf(document)).dump(1), document.dump(1));
}

TEST_F(DocumentRowsTest, KnowEachPartOfTheBudgetAndItsGroup) {
  const Document document = TakeFull();
  for (const Document& row : document["budget"]) {
    const BudgetPartKind* part = FindBudgetPart(row["part"].get<std::string>());
    EXPECT_TRUE(part != nullptr && part->group == row["group"]) << row["part"];
  }
}

TEST_F(DocumentRowsTest, HoldEveryKeyOfQualityAndEveryTimeline) {
  const Document document = TakeFull();
  EXPECT_THAT(KeysOf(document["quality"]), ElementsAreArray(KeysOf(Quality::Columns())));
  std::vector<std::string_view> timelines;
  for (const TimelineKind& kind : TimelineKinds()) timelines.push_back(kind.key);
  EXPECT_THAT(KeysOf(document["timelines"]), ElementsAreArray(timelines));
}

}  // namespace
}  // namespace crema
