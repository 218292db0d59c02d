#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "collector/exports/table_exports.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const AttemptProcess kProcess = {{"run", "node", 7, 100}, "node:7"};

ChunkFact Chunk(int64_t number, int64_t duration_ns, std::string_view dataset = "ttbar") {
  ChunkFact chunk;
  chunk.number = number;
  chunk.start_ns = 1'790'000'000'000'000'000 + number;
  chunk.stop_ns = chunk.start_ns + duration_ns;
  chunk.input.dataset = dataset;
  chunk.input.file = "data/2018/ttbar.root";
  return chunk;
}

ChunkQuery Query(const std::string& sort, size_t top, const std::vector<std::string>& where = {}, bool failed = false) {
  return ParseChunkQuery(sort, top, where, failed).value();
}

std::vector<int64_t> Numbers(const nlohmann::ordered_json& rows) {
  std::vector<int64_t> numbers;
  for (const auto& row : rows) numbers.push_back(row["chunk"]);
  return numbers;
}

TEST(TopChunks, AreTheLargestWhateverTheOrderTheyComeIn) {
  std::vector<ChunkFact> chunks;
  for (int64_t number = 0; number < 500; ++number) chunks.push_back(Chunk(number, (number * 7919) % 101));
  std::vector<ChunkFact> sorted = chunks;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ChunkFact& left, const ChunkFact& right) {
    return left.stop_ns - left.start_ns > right.stop_ns - right.start_ns;
  });
  std::vector<int64_t> expected;
  for (size_t at = 0; at < 20; ++at) expected.push_back(sorted[at].number);
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::shuffle(chunks.begin(), chunks.end(), random);
    TopChunks top(Query("duration", 20));
    for (const ChunkFact& chunk : chunks) top.Add({kProcess, AttemptState::kOk, chunk});
    EXPECT_EQ(top.matched(), 500);
    EXPECT_EQ(Numbers(top.Take()), expected);
  }
}

TEST(TopChunks, ComeLastWhereTheFieldIsNotMeasured) {
  TopChunks top(Query("events", 3));
  for (int64_t number = 0; number < 3; ++number) {
    ChunkFact chunk = Chunk(number, 1000);
    if (number > 0) chunk.events = number;
    top.Add({kProcess, AttemptState::kOk, chunk});
  }
  EXPECT_EQ(Numbers(top.Take()), (std::vector<int64_t>{2, 1, 0}));
}

TEST(Matches, TakesAllConditionsTogether) {
  const ChunkFact chunk = Chunk(3, 1000);
  const Attempt attempt = {kProcess, AttemptState::kOk, chunk};
  EXPECT_TRUE(Matches(Query("duration", 1, {"dataset=ttbar,worker=node:7", "chunk=3"}), attempt));
  EXPECT_FALSE(Matches(Query("duration", 1, {"dataset=ttbar,worker=node:8"}), attempt));
  EXPECT_FALSE(Matches(Query("duration", 1, {"dataset=ttbar", "chunk=4"}), attempt));
}

TEST(Matches, TakesAFileByItsLastComponent) {
  const ChunkFact chunk = Chunk(3, 1000);
  const Attempt attempt = {kProcess, AttemptState::kOk, chunk};
  EXPECT_TRUE(Matches(Query("duration", 1, {"file=ttbar.root"}), attempt));
  EXPECT_TRUE(Matches(Query("duration", 1, {"file=data/2018/ttbar.root"}), attempt));
  EXPECT_FALSE(Matches(Query("duration", 1, {"file=bar.root"}), attempt));
}

TEST(Matches, TakesACommaWithoutAnEqualsSignAsPartOfTheValue) {
  const ChunkFact chunk = Chunk(3, 1000, "tt,semileptonic");
  EXPECT_TRUE(Matches(Query("duration", 1, {"dataset=tt,semileptonic,chunk=3"}), {kProcess, AttemptState::kOk, chunk}));
}

TEST(Matches, CountsLostAttemptsAsFailed) {
  const ChunkFact chunk = Chunk(3, 1000);
  const ChunkQuery query = Query("duration", 1, {}, true);
  EXPECT_TRUE(Matches(query, {kProcess, AttemptState::kFailed, chunk}));
  EXPECT_TRUE(Matches(query, {kProcess, AttemptState::kLost, chunk}));
  EXPECT_FALSE(Matches(query, {kProcess, AttemptState::kOk, chunk}));
  EXPECT_FALSE(Matches(query, {kProcess, AttemptState::kRunning, chunk}));
}

TEST(ParseChunkQuery, ListsTheFieldsWhereOneIsUnknown) {
  for (const auto& query : {ParseChunkQuery("size", 1, {}, false), ParseChunkQuery("duration", 1, {"size=3"}, false)}) {
    EXPECT_EQ(query.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(query.status().message()), AllOf(HasSubstr("`size`"), HasSubstr("dataset, file, tree")));
  }
  EXPECT_THAT(std::string(ParseChunkQuery("duration", 1, {"ttbar"}, false).status().message()), HasSubstr("`ttbar`"));
  EXPECT_THAT(std::string(ParseChunkQuery("durtion", 1, {}, false).status().message()),
              HasSubstr("`durtion`; did you mean duration?; it has"));
}

TEST(ChunkListColumns, AlwaysHasWhatTheListIsSortedBy) {
  const std::vector<CellColumn> usual = ChunkListColumns(*FindChunkField("duration").value());
  const auto header = [](const CellColumn& column) { return column.header; };
  std::vector<std::string> headers;
  absl::c_transform(usual, std::back_inserter(headers), header);
  EXPECT_EQ(absl::StrJoin(headers, ", "),
            "chunk, status, dataset, file, from entry, to entry, worker, start, took, events, rate, read, cpu, "
            "cpu wait, joined, blocked, RSS delta, error, attributes");
  const CellColumn added = ChunkListColumns(*FindChunkField("rss_peak_bytes").value())[1];
  EXPECT_EQ(added.header, "rss_peak_bytes");
  EXPECT_EQ(added.kind, Kind::kMemory);
  for (const ChunkField& field : ChunkFields()) {
    const std::vector<CellColumn> columns = ChunkListColumns(field);
    const auto found = absl::c_find_if(columns, [&](const CellColumn& column) { return column.key == field.name; });
    ASSERT_NE(found, columns.end()) << field.name;
    EXPECT_EQ(found->rank, 0) << field.name;
    EXPECT_EQ(columns.front().key, "chunk");
    if (field.shown.header.empty()) {
      EXPECT_EQ(columns.size(), usual.size() + 1);
      EXPECT_EQ(found, columns.begin() + 1) << "a column that is added comes after the chunk";
    }
  }
}

TEST(ChunkAsJson, LeavesNullWhatALostAttemptCannotKnow) {
  ChunkFact chunk = Chunk(3, 0);
  chunk.stop_ns = 0;
  const nlohmann::ordered_json row = ChunkAsJson({kProcess, AttemptState::kLost, chunk});
  for (const char* field : {"stop_ns", "duration", "cpu", "joined", "blocked", "event_rate", "sections_dropped"}) {
    EXPECT_TRUE(row[field].is_null()) << field;
  }
  EXPECT_EQ(row["status"], "lost");
}

TEST(ChunkAsJson, HasTheNotesOfTheUser) {
  ChunkFact chunk = Chunk(3, 1'000'000'000);
  EXPECT_EQ(ChunkAsJson({kProcess, AttemptState::kOk, chunk})["attributes"], nullptr);
  chunk.attributes = R"({"generator":"madgraph"})";
  EXPECT_EQ(ChunkAsJson({kProcess, AttemptState::kOk, chunk})["attributes"]["generator"], "madgraph");
}

TEST(ChunkAsJson, SplitsTheOwnersTime) {
  ChunkFact chunk = Chunk(3, 1'000'000'000);
  chunk.cpu_ns = 500'000'000;
  chunk.cpu_wait_ns = 100'000'000;
  chunk.helper_cpu_ns = 200'000'000;
  chunk.helper_scope_ns = 300'000'000;
  chunk.helper_union_ns = 250'000'000;
  const nlohmann::ordered_json row = ChunkAsJson({kProcess, AttemptState::kOk, chunk});
  EXPECT_DOUBLE_EQ(row["cpu"], 0.7);
  EXPECT_DOUBLE_EQ(row["cpu_wait"], 0.1);
  EXPECT_DOUBLE_EQ(row["joined"], 0.25);
  EXPECT_DOUBLE_EQ(row["blocked"], 0.15);
}

}  // namespace
}  // namespace crema
