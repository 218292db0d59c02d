// Hundreds of thousands of names of every kind: what has no room is together in `(other)`, and totals stay what they
// are, in whatever order the records are read. CREMA_TEST_NAMES: how many; by default enough to fill each table twice,
// with CREMA_TEST_LONG 300,000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/read_records.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/record_lines_fixture.h"
#include "collector/metrics/run_figures.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int64_t kLogs = 7;

int64_t Names() {
  const char* given = std::getenv("CREMA_TEST_NAMES");
  if (given != nullptr) return std::max(int64_t{1}, static_cast<int64_t>(std::atoll(given)));
  return std::getenv("CREMA_TEST_LONG") != nullptr ? 300'000 : 22'000;
}

// The one name of each kind that record `i` has. Kinds repeat at different distances, so that some names are many.
struct NamesOf {
  explicit NamesOf(int64_t i)
      : file("/data/file" + std::to_string(i) + ".root"),
        dataset("dataset" + std::to_string(i)),
        section("section" + std::to_string(i)),
        nested(section + "/inner"),
        memory("memory" + std::to_string(i)),
        metric("metric" + std::to_string(i)),
        cut("cut" + std::to_string(i)),
        activity("activity" + std::to_string(i)),
        column("column" + std::to_string(i)),
        pass("pass" + std::to_string(i)),
        span("span" + std::to_string(i)),
        error("error" + std::to_string(i)),
        prefix("prefix" + std::to_string(i)),
        attributes(R"({"attribute)" + std::to_string(i) + R"(":"x","job":")" + std::to_string(i) + R"(","site":"site)" +
                   std::to_string(i % 7) + R"("})") {}
  std::string file, dataset, section, nested, memory, metric, cut, activity, column, pass, span, error, prefix,
      attributes;
};

using Feed = std::function<void(RecordAccumulator&, int64_t)>;

ProcessFact ProcessOf(int64_t number) {
  ProcessFact process;
  process.run_id = "run";
  process.host = "node";
  process.pid = 1 + number;
  process.start_ns = kEpoch;
  process.threads = 1;
  return process;
}

// Record `i` of a run in which no name comes again, and of which process `i % logs` writes the log.
void AddAllNew(RecordAccumulator& to, int64_t i, int64_t logs) {
  const NamesOf names(i);
  const LogRef log = to.AddProcess(ProcessOf(i % logs), false);
  Record record;
  record.type = RecordType::kChunk;
  ChunkFact& chunk = record.chunk;
  chunk.number = i;
  chunk.start_ns = kEpoch + i / logs * 1000;
  chunk.stop_ns = chunk.start_ns + 1000;
  chunk.failed = i % 10 == 9;
  if (chunk.failed) chunk.error = names.error;
  chunk.events = 3;
  chunk.bytes_read = 10;
  chunk.cpu_ns = 500;
  chunk.tid = i;
  chunk.input.dataset = names.dataset;
  chunk.input.file = names.file;
  chunk.input.pass = names.pass;
  chunk.input.entry_start = 0;
  chunk.input.entry_stop = 3;
  chunk.span = names.span;
  chunk.sections = {{names.section, false, 1, 900, 800, {}, {}, {}, 0},
                    {names.nested, false, 1, 100, 100, {}, {}, {}, 0}};
  chunk.memory_sections = {{names.memory, 1, 5, 5, 5, {}, {}, {}}};
  chunk.metrics = {{names.metric, "GeV", 1, 2.0, 2.0, 2.0, 0, {}, 0}};
  chunk.cuts = {{"all", 3, {}}, {names.cut, 2, {}}};
  chunk.activities = {{names.activity, "seconds", 0.5}};
  chunk.requests = {{names.activity, "read", 1, 7, 9, 9, 0}};
  chunk.columns = {names.column};
  chunk.attributes = names.attributes;
  to.Add(log, record);

  record.type = RecordType::kSpan;
  record.span = {names.span, names.span, kEpoch + i, kEpoch + i + 5};
  to.Add(log, record);

  record.type = RecordType::kFile;
  record.file = {names.file, 4, 100, 50};
  to.Add(log, record);

  record.type = RecordType::kTask;
  record.task = {};
  record.task.key = record.task.prefix = names.prefix;
  record.task.start_ns = kEpoch + i;
  record.task.stop_ns = kEpoch + i + 3;
  to.Add(log, record);

  // The engine's table is the largest: as many names as it takes.
  record.type = RecordType::kFine;
  record.fine = {};
  record.fine.time_ns = kEpoch + i;
  for (int row = 0; row < 10; ++row) {
    record.fine.rows.push_back({"execute", names.span, names.prefix, row % 2 == 0 ? names.activity : names.metric,
                                row < 4   ? "seconds"
                                : row < 8 ? "bytes"
                                          : "count",
                                1});
  }
  to.Add(log, record);
}

// The same names outside chunks, each log's in one line.
void AddSectionsOutsideChunks(RecordAccumulator& to, int64_t count) {
  for (int64_t i = 0; i < count; i += 500) {
    std::vector<std::string> paths;
    for (int64_t name = i; name < std::min(i + 500, count); ++name) paths.push_back("outside" + std::to_string(name));
    Record record;
    record.type = RecordType::kEnd;
    record.end.time_ns = kEpoch + kSecondNs;
    for (const std::string& path : paths) record.end.sections.push_back({path, false, 1, 7, 7, {}, {}, {}, 0});
    to.Add(to.AddProcess(ProcessOf(1'000'000 + i), false), record);
  }
}

std::string DocumentText(const RecordAccumulator& accumulator) {
  const RunFigures figures = ComputeFigures(accumulator.Finalize(), TreeAccumulator(), {}, {});
  const std::vector<EntryRange> ranges(figures.stragglers.stragglers.size());
  return JsonOf(Assemble(figures, JudgeQuality(figures, {}), ranges, {})).dump(1);
}

// The same records read backwards, and in four parts that are merged.
void ExpectTheSameInEveryOrder(int64_t count, const Feed& feed, const RecordAccumulator& forwards) {
  const std::string expected = DocumentText(forwards);
  {
    RecordAccumulator backwards;
    for (int64_t i = count; i-- > 0;) feed(backwards, i);
    EXPECT_EQ(FirstDifference(DocumentText(backwards), expected), "");
  }
  std::vector<RecordAccumulator> parts(4);
  for (int64_t i = 0; i < count; ++i) feed(parts[static_cast<size_t>(i / 3 % 4)], i);
  parts[2].Merge(std::move(parts[0]));
  parts[3].Merge(std::move(parts[1]));
  parts[3].Merge(std::move(parts[2]));
  EXPECT_EQ(FirstDifference(DocumentText(parts[3]), expected), "");
}

template <class Rows, class Value>
int64_t SumOf(const Rows& rows, const Value& value) {
  int64_t sum = 0;
  for (const auto& row : rows) sum += static_cast<int64_t>(std::llround(*Number(value(row))));
  return sum;
}

/// Fault [many]: hundreds of thousands of files, datasets, sections, metrics, cuts, activities, columns, spans, errors,
/// passes, threads, workers
/// Shown: as many as the tables hold, the rest as `(other)`, and a warning; totals are those of all
TEST(ManyNames, OfEveryKindHaveBoundedTablesAndWholeTotals) {
  const int64_t count = Names();
  RecordAccumulator accumulator;
  for (int64_t i = 0; i < count; ++i) AddAllNew(accumulator, i, kLogs);
  const RunFigures figures = ComputeFigures(accumulator.Finalize(), TreeAccumulator(), {}, {});
  const RecordFindings& found = figures.findings;

  EXPECT_EQ(figures.totals.counts.num_attempts, count);
  const Measurement& tables = found.tables;
  for (const auto* table : {&tables.datasets, &tables.files, &figures.by_worker, &tables.threads}) {
    EXPECT_LE(table->size(), 10'001u);
    EXPECT_EQ(SumOf(*table, [](const BreakdownRow& row) { return *row.attempts; }), count);
    EXPECT_EQ(SumOf(*table, [](const BreakdownRow& row) { return row.bytes_read.value_or(0); }), 10 * count);
    EXPECT_EQ(SumOf(*table, [](const BreakdownRow& row) { return *row.duration_sum * 1e9; }), 1000 * count);
  }
  EXPECT_LE(found.sections.rows.size(), 1001u);
  EXPECT_EQ(SumOf(found.sections.rows, [](const SectionRow& row) { return *row.self * 1e9; }), 1000 * count);
  EXPECT_EQ(tables.memory_sections.size(), 1001u);
  EXPECT_EQ(tables.memory_sections.back().path, "(other)");
  EXPECT_EQ(SumOf(tables.memory_sections, [](const MemorySectionRow& row) { return row.count; }), count);
  EXPECT_EQ(SumOf(tables.memory_sections, [](const MemorySectionRow& row) { return *row.delta_bytes; }), 5 * count);
  EXPECT_EQ(SumOf(tables.custom_metrics, [](const CustomMetricRow& row) { return *row.count + *row.failed_count; }),
            count);
  EXPECT_EQ(
      SumOf(tables.custom_metrics, [](const CustomMetricRow& row) { return *row.sum + row.failed_sum.value_or(0); }),
      2 * count);
  EXPECT_LE(tables.custom_metrics.size(), CustomMetricTable::kMaxMetrics + 1);
  EXPECT_LE(tables.cuts.size(), CutTable::kMaxCuts);
  EXPECT_GT(found.omissions.cuts, 0);
  EXPECT_LE(found.activities.size(), ActivityTable::kMaxRows + 1);
  EXPECT_EQ(SumOf(found.activities, [](const EngineFineSum& row) { return 2 * row.value; }), count);
  EXPECT_EQ(tables.requests.size(), RequestTable::kMaxRows + 1);
  EXPECT_EQ(tables.requests.back().server, "(other)");
  EXPECT_EQ(SumOf(tables.requests, [](const RequestSumRow& row) { return row.calls; }), count);
  EXPECT_EQ(SumOf(tables.requests, [](const RequestSumRow& row) { return *row.bytes; }), 7 * count);
  EXPECT_EQ(found.omissions.requests, count - static_cast<int64_t>(RequestTable::kMaxRows));
  EXPECT_LE(tables.attributes.size(), AttributeTable::kMaxNames + 7 + AttributeTable::kMaxShown + 1);
  EXPECT_EQ(tables.attributes.back().name, "(other)");
  EXPECT_GE(found.omissions.attributes, count - static_cast<int64_t>(AttributeTable::kMaxNames));
  EXPECT_LE(found.fine.size(), FineTable::kMaxRows + 3);
  EXPECT_EQ(SumOf(found.fine, [](const EngineFineSum& row) { return row.value; }), 10 * count);
  EXPECT_EQ(found.files.columns.size(), FileTable::kMaxColumns);
  EXPECT_TRUE(found.omissions.columns && found.omissions.spans);
  EXPECT_EQ(found.spans.size(), SpanTable::kMaxSpans);
}

ChunkFact WithAttributes(const std::string& text) {
  ChunkFact chunk;
  chunk.attributes = text;
  return chunk;
}

std::vector<std::string> TextsOf(const AttributeTable& table) {
  std::vector<std::string> texts;
  int64_t dropped = 0;
  for (const AttributeRow& row : AttributeTable(table).Finalize(&dropped)) {
    texts.push_back(row.name.str() + " " + row.value.str() + " " +
                    (row.chunks.has_value() ? std::to_string(row.chunks.integer()) : "null"));
  }
  return texts;
}

TEST(AttributeTable, CountsTheChunksOfEachValueHoweverTheyWereSplit) {
  AttributeTable one, first, second;
  for (int i = 0; i < 5000; ++i) {  // a name of which no two chunks have the same value crowds out no other name
    const std::string text = R"({"file_kind":")" + std::string(i % 5 == 0 ? "merged" : "single") + R"(","job":")" +
                             std::to_string(i) + R"(","number":7})";
    one.Add(WithAttributes(text));
    (i % 3 == 0 ? first : second).Add(WithAttributes(text));
  }
  one.Add(WithAttributes(""));
  one.Add(WithAttributes("[1"));
  const std::vector<std::string> texts = TextsOf(one);
  ASSERT_EQ(texts.size(), 2 + AttributeTable::kMaxShown + 1);
  EXPECT_EQ(texts[0], "file_kind single 4000");
  EXPECT_EQ(texts[1], "file_kind merged 1000");
  EXPECT_EQ(texts.back(), "job (other) 4990");
  second.Merge(first);
  EXPECT_EQ(TextsOf(second), texts);
  first.Merge(AttributeTable());
  EXPECT_EQ(TextsOf(first)[0], "file_kind single 1333");
}

TEST(AttributeTable, HasOneRowForNamesBeyondItsRoom) {
  AttributeTable table;
  for (int i = 0; i < 300; ++i) table.Add(WithAttributes(R"({"n)" + std::to_string(i) + R"(":"x"})"));
  const std::vector<std::string> texts = TextsOf(table);
  ASSERT_EQ(texts.size(), AttributeTable::kMaxNames + 1);
  EXPECT_EQ(texts.back(), "(other) (other) null");
}

TEST(AttributeTable, KeepsTheNamesOfTheSdkBeforeAllOthers) {
  AttributeTable table, before;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = R"({"n)" + std::to_string(i) + R"(":"x","perf_counters":"refused","reading":"in part"})";
    (i % 2 == 0 ? table : before).Add(WithAttributes(text));
  }
  table.Merge(before);
  EXPECT_THAT(TextsOf(table), testing::IsSupersetOf({"perf_counters refused 3000", "reading in part 3000"}));
  int64_t dropped = 0;
  AttributeTable(table).Finalize(&dropped);
  EXPECT_EQ(dropped, 3000 + 2 - static_cast<int64_t>(AttributeTable::kMaxNames));
}

/// Fault [many]: attributes of megabytes, each chunk with another one, from a writer that does not cut them
/// Shown: their first 1,024 bytes
TEST(AttributeTable, CutsTextsThatAWriterDidNotCut) {
  AttributeTable table;
  for (int i = 0; i < 40; ++i) {
    const std::string end(200'000, static_cast<char>('a' + i % 20));
    table.Add(WithAttributes(R"({"note":"same)" + std::string(2000, '-') + end + R"("})"));
    table.Add(WithAttributes(R"({"n)" + std::string(2000, '-') + end + R"(":"x"})"));
  }
  int64_t dropped = 0;
  const std::vector<AttributeRow> rows = AttributeTable(table).Finalize(&dropped);
  ASSERT_EQ(rows.size(), 2u);
  for (const AttributeRow& row : rows) {
    EXPECT_EQ(row.chunks, 40);
    EXPECT_LE(std::max(row.name.str().size(), row.value.str().size()), AttributeTable::kMaxTextBytes + 3);
  }
}

TEST(AttributeTable, HasOneRowForTheRestAndAValueThatIsCalledSo) {
  AttributeTable table;
  for (int i = 0; i < 12; ++i) {
    table.Add(WithAttributes(R"x({"job":"(other)"})x"));
    table.Add(WithAttributes(R"({"job":")" + std::to_string(i) + R"("})"));
  }
  const std::vector<std::string> texts = TextsOf(table);
  ASSERT_EQ(texts.size(), AttributeTable::kMaxShown + 1);
  EXPECT_EQ(texts.back(), "job (other) 14");
}

/// Fault [many]: the same in one log or in several, and in any order
/// Shown: the same rows
TEST(ManyNames, GiveTheSameDocumentInEveryOrderOfReading) {
  for (const auto& [logs, count] : {std::pair(kLogs, Names()), std::pair(int64_t{1}, Names() / 2 + 1)}) {
    RecordAccumulator accumulator;
    const Feed feed = [logs = logs](RecordAccumulator& to, int64_t i) { AddAllNew(to, i, logs); };
    for (int64_t i = 0; i < count; ++i) feed(accumulator, i);
    ExpectTheSameInEveryOrder(count, feed, accumulator);
  }
}

TEST(ManyNames, OfSectionsOutsideChunksAreOneRowBeyondTheLimit) {
  RecordAccumulator accumulator;
  AddSectionsOutsideChunks(accumulator, Names());
  const RecordFindings found = accumulator.Finalize();
  EXPECT_EQ(found.processes.sections.back().path, "(other)");
  EXPECT_EQ(SumOf(found.processes.sections, [](const SectionRow& row) { return row.count; }), Names());
}

TEST(ManyNames, OfWorkersAreThoseBusyForLongestBeyondTheLimit) {
  const int64_t count = Names() / 2;
  const Feed feed = [count](RecordAccumulator& to, int64_t i) {
    const LogRef log = to.AddProcess(ProcessOf(i), false);
    Record record;
    record.type = RecordType::kChunk;
    record.chunk.start_ns = kEpoch + i;
    record.chunk.stop_ns = kEpoch + i + (i == count / 2 ? 2000 : 1000);
    record.chunk.bytes_read = 10;
    record.chunk.activities = {{"compute", "seconds", 0.5}};
    to.Add(log, record);
  };
  RecordAccumulator accumulator;
  for (int64_t i = 0; i < count; ++i) feed(accumulator, i);
  const RunFigures figures = ComputeFigures(accumulator.Finalize(), TreeAccumulator(), {}, {});
  const size_t rows = std::min(static_cast<size_t>(count), WorkerRows::kMost + 1);
  ASSERT_EQ(figures.by_worker.size(), rows);
  EXPECT_EQ(SumOf(figures.by_worker, [](const BreakdownRow& row) { return *row.attempts; }), count);
  EXPECT_EQ(SumOf(figures.by_worker, [](const BreakdownRow& row) { return *row.bytes_read; }), 10 * count);
  const bool has_other = std::any_of(figures.by_worker.begin(), figures.by_worker.end(), [&](const BreakdownRow& row) {
    return row.name == "(other)" && *row.attempts == count - static_cast<int64_t>(WorkerRows::kMost);
  });
  EXPECT_EQ(has_other, count > static_cast<int64_t>(WorkerRows::kMost));
  EXPECT_EQ(figures.by_worker[has_other ? 1 : 0].name, "node:" + std::to_string(1 + count / 2));
  const auto document = nlohmann::ordered_json::parse(DocumentText(accumulator));
  EXPECT_EQ(document["workers"].size(), rows);
  EXPECT_LE(document["timelines"]["worker_open_chunks"].size(), WorkerRows::kMost);
  EXPECT_EQ(document["workers"][0]["process"].is_null(), has_other);
  EXPECT_EQ(SumOf(figures.findings.activities, [](const EngineFineSum& row) { return 2 * row.value; }), count);
  ExpectTheSameInEveryOrder(count, feed, accumulator);
}

}  // namespace
}  // namespace crema
