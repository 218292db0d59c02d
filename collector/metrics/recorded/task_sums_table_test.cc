#include "collector/metrics/recorded/task_sums_table.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/measurement/measurement.h"
#include "collector/records/record_parser.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

Json ModuleOf(const char* name, int64_t count, int64_t own_ns, int64_t peak) {
  return {{"name", name},         {"count", count},  {"own_ns", own_ns},   {"union_ns", own_ns},     {"peak", peak},
          {"cpu_ns", own_ns / 2}, {"queued", count}, {"queue_ns", own_ns}, {"behind_ns", own_ns / 2}};
}

/// `count` events of 1 s, one after the other.
Json LineOf(int64_t count, std::vector<Json> modules) {
  const int64_t latency_ns = count * kSecondNs;
  return {{"type", "task_sums"},
          {"time_ns", latency_ns},
          {"peak", 1},
          {"open", 0},
          {"latencies",
           {{{"dataset", "raw"},
             {"count", count},
             {"failed", 0},
             {"not_divided", 0},
             {"first_start_ns", 0},
             {"last_stop_ns", latency_ns},
             {"latency_ns", latency_ns},
             {"min_ns", kSecondNs},
             {"max_ns", kSecondNs},
             {"active_ns", latency_ns / 2},
             {"queued_ns", latency_ns / 4},
             {"external_ns", latency_ns / 8},
             {"rest_ns", latency_ns / 8},
             {"tasks", count},
             {"work_ns", latency_ns / 2}}}},
          {"task_threads", {{{"tid", 7}, {"tasks", count}, {"task_ns", latency_ns / 2}}}},
          {"task_modules", std::move(modules)}};
}

void Add(const Json& line, uint32_t log, TaskSumsTable* table) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(line.dump()), ParseOutcome::kRecord) << parser.reason();
  ASSERT_EQ(parser.record().type, RecordType::kTaskSums);
  LogRef ref;
  ref.index = log;
  table->Add(ref, parser.record().task_sums);
}

Json Shown(const TaskSumsFindings& findings) {
  Measurement measurement;
  measurement.events = findings.events;
  measurement.modules = findings.modules;
  for (const auto& [process, row] : findings.threads) measurement.task_threads.push_back(row);
  const Json document = JsonOf(measurement);
  const auto table = [&document](const char* key) { return document.value(key, Json::array()); };
  return Json::array({table("events"), table("modules"), table("task_threads")});
}

TEST(TaskSumsTable, TheLastRowOfEachNameCountsInWhateverOrderLinesCome) {
  const Json early = LineOf(2, {ModuleOf("fit", 2, kSecondNs, 1), ModuleOf("read", 2, kSecondNs, 1)});
  const Json late = LineOf(8, {ModuleOf("fit", 8, 4 * kSecondNs, 1)});  // `read` is in another line
  TaskSumsTable forward, backward;
  Add(early, 0, &forward);
  Add(late, 0, &forward);
  Add(late, 0, &backward);
  Add(early, 0, &backward);
  const Json shown = Shown(forward.Finalize());
  EXPECT_EQ(shown, Shown(backward.Finalize()));
  EXPECT_EQ(shown[0][0]["events"], 8);
  EXPECT_EQ(shown[0][0]["events_per_second"], 1);
  EXPECT_EQ(shown[0][0]["in_flight"], 1);
  ASSERT_EQ(shown[1].size(), 2u);
  EXPECT_EQ(shown[1][0]["module"], "fit");
  EXPECT_EQ(shown[1][0]["calls"], 8);
  EXPECT_EQ(shown[1][0]["ceiling"], 2);
  EXPECT_EQ(shown[1][0]["share"], 0.8);
  EXPECT_EQ(shown[2].size(), 1u);
}

TEST(TaskSumsTable, ProcessesAddUpInWhateverOrderTheyAreMerged) {
  const Json first = LineOf(8, {ModuleOf("fit", 8, 4 * kSecondNs, 1), ModuleOf("read", 8, 2 * kSecondNs, 1)});
  const Json second = LineOf(4, {ModuleOf("fit", 4, 4 * kSecondNs, 1), ModuleOf("read", 4, kSecondNs, 2)});
  TaskSumsTable one, other;
  Add(first, 0, &one);
  Add(second, 0, &other);
  TaskSumsTable merged = one;
  merged.Merge(other, {1});
  TaskSumsTable turned;
  Add(second, 1, &turned);
  turned.Merge(one, {0});
  const Json shown = Shown(merged.Finalize());
  EXPECT_EQ(shown, Shown(turned.Finalize()));
  EXPECT_EQ(shown[0][0]["events"], 12);
  EXPECT_EQ(shown[0][0]["latency_seconds"], 12);
  EXPECT_EQ(shown[0][0]["events_per_second"], 2);
  EXPECT_EQ(shown[1][0]["ceiling"], 3) << "each process has its own";
  EXPECT_EQ(shown[1][1]["at_once"], 2);
  EXPECT_TRUE(shown[1][1]["ceiling"].is_null());
  EXPECT_TRUE(shown[1][1]["union_seconds"].is_null());
  EXPECT_TRUE(shown[1][1]["behind_seconds"].is_null());
  EXPECT_EQ(shown[2].size(), 2u);
}

TEST(TaskSumsTable, QuantilesAreKnownWhereAllLatenciesAre) {
  Json line = LineOf(2, {});
  TaskSumsTable without, with;
  Add(line, 0, &without);
  line["latencies"][0]["sketch"] = {65472, 2};  // the bucket of 1
  line["latencies"][0]["sketch_shift"] = 0;
  Add(line, 0, &with);
  EXPECT_TRUE(Shown(without.Finalize())[0][0]["p50_seconds"].is_null());
  EXPECT_EQ(Shown(with.Finalize())[0][0]["p50_seconds"], 1);
}

TEST(TaskSumsTable, HistogramsOfAllDatasetsHaveTheSameBins) {
  Json line = LineOf(2, {});
  Json other = line["latencies"][0];
  line["latencies"][0]["sketch"] = {65472, 2};  // the bucket of 1
  other["dataset"] = "slow";
  other["sketch"] = {65600, 1, 65664, 1};  // of 4 and 8
  other["min_ns"] = 4 * kSecondNs;
  other["max_ns"] = 8 * kSecondNs;
  line["latencies"].push_back(other);
  TaskSumsTable table;
  Add(line, 0, &table);
  const Json rows = Shown(table.Finalize())[0];
  const Json &fast = rows[0]["histogram"], &slow = rows[1]["histogram"];
  EXPECT_EQ(fast["edges"], slow["edges"]);
  EXPECT_EQ(fast["edges"].front(), 1);
  EXPECT_EQ(fast["edges"].back(), 8);
  EXPECT_EQ(fast["counts"].front(), 2);
  EXPECT_EQ(slow["counts"].back(), 1);
}

TEST(TaskSumsTable, LatencyOverTimeIsOfTheEventsThatEndedBetweenTwoLines) {
  const Json early = LineOf(2, {});  // 2 events until 2 s
  Json late = LineOf(8, {});         // 6 more until 8 s, which only worked
  late["latencies"][0]["active_ns"] = kSecondNs + 6 * kSecondNs;
  late["latencies"][0]["queued_ns"] = kSecondNs / 2;
  late["latencies"][0]["external_ns"] = late["latencies"][0]["rest_ns"] = kSecondNs / 4;
  TaskSumsTable forward, backward;
  Add(early, 0, &forward);
  Add(late, 0, &forward);
  Add(late, 0, &backward);
  Add(early, 0, &backward);
  const std::vector<LatencyStep> steps = forward.Finalize().over_time;
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].start_ns, 0);
  EXPECT_EQ(steps[1].start_ns, 2 * kSecondNs);
  EXPECT_EQ(steps[2].start_ns, 8 * kSecondNs);
  const std::array<double, 4> first = {0.5, 0.25, 0.125, 0.125}, second = {1, 0, 0, 0};
  EXPECT_EQ(steps[0].seconds, first);
  EXPECT_EQ(steps[1].seconds, second);
  EXPECT_TRUE(std::isnan(steps[2].seconds[0]));
  EXPECT_EQ(backward.Finalize().over_time[1].seconds, second);
  // Another process with events of 0.5 s from 4 s to 8 s, 4 a second: 4 of them to one of the first.
  Json fast = LineOf(16, {});
  Json& row = fast["latencies"][0];
  row["first_start_ns"] = 4 * kSecondNs;
  row["last_stop_ns"] = 8 * kSecondNs;
  row["latency_ns"] = row["active_ns"] = 8 * kSecondNs;
  row["queued_ns"] = row["external_ns"] = row["rest_ns"] = 0;
  Add(fast, 1, &forward);
  const std::vector<LatencyStep> both = forward.Finalize().over_time;
  ASSERT_EQ(both.size(), 4u);
  EXPECT_EQ(both[1].seconds, second);
  EXPECT_EQ(both[2].start_ns, 4 * kSecondNs);
  EXPECT_DOUBLE_EQ(both[2].seconds[0], (4 * 0.5 + 1) / 5);
}

TEST(TaskSumsTable, SumsOfACorruptLogStayWhatTheyCanBe) {
  Json line = LineOf(2, {});
  line["latencies"][0]["latency_ns"] = line["latencies"][0]["rest_ns"] = INT64_MAX;
  Json other = line["latencies"][0];
  other["dataset"] = "other";
  line["latencies"].push_back(other);
  TaskSumsTable table;
  Add(line, 0, &table);
  for (const LatencyStep& step : table.Finalize().over_time) {
    for (const double seconds : step.seconds) EXPECT_FALSE(seconds < 0);
  }
}

TEST(TaskSumsTable, ARunWithoutTasksHasNoneOfTheTables) {
  const Json document = JsonOf(Measurement());
  for (const char* table : {"events", "modules", "task_threads"}) EXPECT_FALSE(document.contains(table)) << table;
}

}  // namespace
}  // namespace crema
