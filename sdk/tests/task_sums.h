// TaskSums: what a log says of events, modules and threads that ran tasks.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "sdk/tests/record_log.h"

namespace crema {
namespace testing {

using Json = nlohmann::json;

/// The last `task_sums` row of each name.
struct TaskSums {
  std::map<std::string, Json> events;
  std::map<std::string, Json> modules;
  std::vector<Json> threads;

  std::int64_t Module(const std::string& name, const char* field) const {
    const auto found = modules.find(name);
    return found == modules.end() ? -1 : found->second.value(field, std::int64_t{0});
  }
  std::int64_t Event(const std::string& dataset, const char* field) const {
    const auto found = events.find(dataset);
    return found == events.end() ? -1 : found->second.value(field, std::int64_t{0});
  }
  std::int64_t OfThreads(const char* field) const {
    std::int64_t sum = 0;
    for (const Json& row : threads) sum += row.at(field).get<std::int64_t>();
    return sum;
  }
  std::int64_t OfTasks(const char* field) const {
    std::int64_t sum = 0;
    for (const auto& [name, row] : modules) {
      if (!row.contains("operation")) sum += row.value(field, std::int64_t{0});
    }
    return sum;
  }
};

inline TaskSums SumsOf(const RecordLog& log) {
  TaskSums sums;
  for (const std::string& text : log.lines) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || line.value("type", "") != "task_sums") continue;
    if (line.contains("latencies")) {
      for (const Json& row : line["latencies"]) {
        sums.events[row["dataset"].is_null() ? "" : row["dataset"].get<std::string>()] = row;
      }
    }
    if (line.contains("task_threads")) sums.threads = line["task_threads"].get<std::vector<Json>>();
    for (const Json& row : line["task_modules"]) sums.modules[row["name"].get<std::string>()] = row;
  }
  return sums;
}

/// What has to hold in every log: both lists of parts add up to the latency, and threads to modules.
inline void ExpectExactSums(const TaskSums& sums) {
  for (const auto& [dataset, row] : sums.events) {
    const auto sum = [&row = row](std::initializer_list<const char*> fields) {
      std::int64_t all = 0;
      for (const char* field : fields) {
        const std::int64_t part = row.at(field).get<std::int64_t>();
        EXPECT_GE(part, 0) << field;
        all += part;
      }
      return all;
    };
    const std::int64_t latency_ns = row.at("latency_ns").get<std::int64_t>();
    EXPECT_EQ(sum({"active_ns", "queued_ns", "external_ns", "rest_ns"}), latency_ns) << dataset;
    EXPECT_EQ(sum({"critical_run_ns", "critical_queue_ns", "critical_external_ns", "critical_gap_ns"}), latency_ns)
        << dataset;
  }
  EXPECT_EQ(sums.OfThreads("task_ns"), sums.OfTasks("own_ns"));
  EXPECT_EQ(sums.OfThreads("task_cpu_ns"), sums.OfTasks("cpu_ns"));
  EXPECT_EQ(sums.OfThreads("tasks"), sums.OfTasks("count"));
}

}  // namespace testing
}  // namespace crema
