// A live run of more processes than have rows of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "collector/idioms/units.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model_fixture.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using ::testing::Contains;

/// What `(other)` and all other rows of workers have in a column, and how many rows there are.
struct WorkerColumn {
  double sum = 0;
  double other = 0;
  size_t rows = 0;
};

WorkerColumn ColumnOf(const nlohmann::ordered_json& document, const std::string& key) {
  WorkerColumn column;
  for (const auto& row : document["workers"]) {
    column.sum += row[key].get<double>();
    if (row["name"] == "(other)") column.other += row[key].get<double>();
    ++column.rows;
  }
  return column;
}

/// Fault [logs]: a run of more than 10,000 processes is watched
/// Shown: all of them in every total of the live page; the others have no rows of their own, but one, `(other)`
TEST_F(LiveModelTest, BeyondTheRowsOfWorkersAllAreInTheTotals) {
  constexpr int64_t kOthers = 50;
  constexpr int64_t kAll = LiveModel::kMostWorkers + kOthers;
  // All have the same chunk numbers and the same threads: containers have.
  for (int64_t pid = 1; pid <= kAll; ++pid) {
    const auto worker = Worker(pid);
    for (int64_t number = 0; number < 3; ++number) {
      Record begin;
      begin.type = RecordType::kBegin;
      begin.begin.number = number;
      begin.begin.time_ns = At(static_cast<double>(number));
      begin.begin.tid = 7;
      begin.begin.input = InputOf(3 * pid + number);
      Add(worker, begin);
      if (number == 2) continue;
      Record chunk = ChunkRecord(number, static_cast<double>(number), static_cast<double>(number) + 1);
      chunk.chunk.tid = 7;
      chunk.chunk.input = InputOf(3 * pid + number);
      Add(worker, chunk);
    }
  }
  PassTo(4);
  EXPECT_EQ(model_.totals().counts.num_chunks, 2 * kAll);
  EXPECT_EQ(model_.totals().counts.num_attempts, 2 * kAll);
  EXPECT_EQ(model_.totals().events.sum, 200 * kAll);
  EXPECT_EQ(model_.totals().busy_ns.sum, 2 * kAll * kSecondNs);
  EXPECT_EQ(model_.totals().records, 5 * kAll);
  EXPECT_EQ(model_.unrecorded(), 0);
  EXPECT_EQ(model_.open_chunks(), kAll);
  EXPECT_EQ(model_.live_cores(), kAll);
  EXPECT_DOUBLE_EQ(model_.core_seconds(), 4.0 * kAll);
  const auto document = LiveDocument(model_, ComputeLiveFigures(model_));
  for (const auto& [key, of_each] : std::map<std::string, double>{
           {"chunks", 2}, {"events", 200}, {"duration_sum", 2}, {"open", 1}, {"cores", 1}, {"bytes_read", 2000}}) {
    const WorkerColumn column = ColumnOf(document, key);
    EXPECT_EQ(column.rows, LiveModel::kMostWorkers + 1) << key;
    EXPECT_DOUBLE_EQ(column.other, of_each * kOthers) << key;
    EXPECT_DOUBLE_EQ(column.sum, of_each * kAll) << key;
  }
  EXPECT_THAT(Texts(), Contains("more than 10000 processes: the others have no rows of their own here"));

  // One of the others ends well, one is killed with its chunk.
  Record end;
  end.type = RecordType::kEnd;
  end.end.time_ns = At(4);
  end.end.open = 1;
  Add(static_cast<LiveModel::WorkerId>(kAll - 2), end);
  model_.SetLife(static_cast<LiveModel::WorkerId>(kAll - 1), false);
  EXPECT_EQ(model_.totals().counts.num_lost_attempts, 1);
  EXPECT_EQ(model_.open_chunks(), kAll - 1);
  EXPECT_EQ(model_.live_cores(), kAll - 2);
  EXPECT_EQ(ColumnOf(LiveDocument(model_, ComputeLiveFigures(model_)), "lost").other, 1);
}

}  // namespace
}  // namespace crema
