// Chunks that were summed where they ran come to the same totals as their lines would have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/measure_fixture.h"

namespace crema {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kStep = 0.1;
constexpr int kChunks = 40;

// A chunk that says everything, one after the other on one thread.
Line FullChunk(int64_t number, double begin = 1) {
  const std::string dataset = number % 3 == 0 ? "zjets" : "ttbar";
  Line chunk = ChunkLine(number, begin + kStep * static_cast<double>(number),
                         begin + kStep * static_cast<double>(number) + 0.09, dataset);
  chunk["helper_cpu_ns"] = 1'000'000;
  chunk["helper_wait_ns"] = 0;
  chunk["helper_scope_ns"] = 2'000'000;
  chunk["helper_union_ns"] = 2'000'000;
  chunk["sections"] = {SectionRowLine("read", 30'000'000, 20'000'000),
                       SectionRowLine("read/unzip", 10'000'000, 10'000'000)};
  chunk["memory_sections"] = {{{"path", "fill"},
                               {"count", 1},
                               {"delta_bytes", 100 + number},
                               {"min_bytes", 100 + number},
                               {"max_bytes", 100 + number},
                               {"rss_start_bytes", 4096},
                               {"rss_stop_bytes", 4196 + number},
                               {"peak_bytes", 8192}}};
  chunk["metrics"] = {
      {{"name", "jets"}, {"unit", "count"}, {"count", 2}, {"sum", number}, {"min", 0}, {"max", number}}};
  chunk["cuts"] = {{{"name", "all"}, {"events", 100}, {"weights", 99.5}},
                   {{"name", "two leptons"}, {"events", 10 + number}, {"weights", 9.5}}};
  chunk["requests"] = {{{"server", "root://one"},
                        {"operation", "readv"},
                        {"count", 2},
                        {"bytes", 10 + number},
                        {"total_ns", 900 + number},
                        {"max_ns", 500 + number},
                        {"errors", number % 2}}};
  chunk["activities"] = {{{"label", "baskets"}, {"unit", "count"}, {"value", 3}}};
  return chunk;
}

int64_t Number(const Line& line, const char* field) { return line.at(field).get<int64_t>(); }

// Adds up rows of one kind by the field that names them.
void AddRows(const Line& rows, const char* name, Line& sums) {
  for (const Line& row : rows) {
    Line* sum = nullptr;
    for (Line& known : sums) {
      if (known[name] == row[name]) sum = &known;
    }
    if (sum == nullptr) {
      sums.push_back(row);
      continue;
    }
    for (const auto& [field, value] : row.items()) {
      if (!value.is_number()) continue;
      Line& now = (*sum)[field];
      const bool is_least = field.rfind("min", 0) == 0;
      const bool is_most = field.rfind("max", 0) == 0 || field.rfind("peak", 0) == 0 || field.rfind("rss", 0) == 0;
      if (is_least || is_most) {
        now = is_least ? std::min(now, value) : std::max(now, value);
      } else if (value.is_number_integer() && now.is_number_integer()) {
        now = now.get<int64_t>() + value.get<int64_t>();
      } else {
        now = now.get<double>() + value.get<double>();
      }
    }
  }
}

// What the SDK writes instead of these chunks' lines, by dataset and status.
std::vector<Line> SumsOf(const std::vector<Line>& chunks, const std::string& reason = "log_size") {
  std::map<std::tuple<std::string, std::string>, Line> rows;
  for (const Line& chunk : chunks) {
    const int64_t duration = Number(chunk, "stop_ns") - Number(chunk, "start_ns");
    Line& sums = rows[{chunk["dataset"], chunk["status"]}];
    if (sums.is_null()) {
      sums = {{"type", "sums"},
              {"time_ns", 0},
              {"reason", reason},
              {"dataset", chunk["dataset"]},
              {"file", chunk["file"]},
              {"pass", nullptr},
              {"status", chunk["status"]},
              {"chunks", 0},
              {"begun", Line::array()},
              {"first_start_ns", chunk["start_ns"]},
              {"last_stop_ns", 0},
              {"duration_ns", 0},
              {"min_duration_ns", duration},
              {"max_duration_ns", duration},
              {"chunks_with_events", 0},
              {"lanes_peak", 1}};
      for (const char* field : {"events", "bytes_read", "bytes_uncompressed", "cpu_ns", "helper_cpu_ns", "cpu_wait_ns",
                                "helper_wait_ns", "helper_scope_ns", "helper_union_ns", "helper_joined_ns"}) {
        sums[field] = 0;
      }
      for (const char* field : {"sections", "memory_sections", "metrics", "cuts", "activities", "requests"}) {
        sums[field] = Line::array();
      }
    }
    const auto add = [&sums](const char* field, int64_t value) { sums[field] = Number(sums, field) + value; };
    sums["time_ns"] = sums["last_stop_ns"] = chunk["stop_ns"];
    add("chunks", 1);
    add("duration_ns", duration);
    add("chunks_with_events", 1);
    sums["min_duration_ns"] = std::min(Number(sums, "min_duration_ns"), duration);
    sums["max_duration_ns"] = std::max(Number(sums, "max_duration_ns"), duration);
    for (const char* field : {"events", "bytes_read", "bytes_uncompressed", "cpu_ns", "helper_cpu_ns", "cpu_wait_ns",
                              "helper_wait_ns", "helper_scope_ns", "helper_union_ns"}) {
      add(field, Number(chunk, field));
    }
    add("helper_joined_ns", Number(chunk, "helper_union_ns"));
    AddRows(chunk.value("sections", Line::array()), "path", sums["sections"]);
    AddRows(chunk.value("memory_sections", Line::array()), "path", sums["memory_sections"]);
    AddRows(chunk.value("metrics", Line::array()), "name", sums["metrics"]);
    AddRows(chunk.value("cuts", Line::array()), "name", sums["cuts"]);
    AddRows(chunk.value("activities", Line::array()), "label", sums["activities"]);
    AddRows(chunk.value("requests", Line::array()), "server", sums["requests"]);
  }
  std::vector<Line> lines;
  for (auto& [key, line] : rows) lines.push_back(std::move(line));
  return lines;
}

class MeasureSumsTest : public MeasureTest {
 protected:
  static std::vector<Line> Chunks() {
    std::vector<Line> chunks;
    for (int number = 0; number < kChunks; ++number) {
      chunks.push_back(FullChunk(number));
      if (number % 7 == 6) chunks.back()["status"] = "failed";
    }
    return chunks;
  }
  static Line End(int64_t summed) {
    Line end = EndLine(6);
    end["chunks"] = kChunks;
    end["dropped"] = 0;
    end["summed_chunks"] = summed;
    end["misused"] = 0;
    return end;
  }
  // Lines of the first `with_line` chunks, and sums of the others.
  static std::vector<Line> Log(size_t with_line, int64_t pid = 1) {
    const std::vector<Line> chunks = Chunks();
    std::vector<Line> lines = {ProcessLine(pid, 0.5)};
    lines.insert(lines.end(), chunks.begin(), chunks.begin() + static_cast<std::ptrdiff_t>(with_line));
    const std::vector<Line> rest(chunks.begin() + static_cast<std::ptrdiff_t>(with_line), chunks.end());
    for (Line& sums : SumsOf(rest)) lines.push_back(std::move(sums));
    lines.push_back(End(static_cast<int64_t>(rest.size())));
    return lines;
  }
  Document Measured(const std::vector<Line>& lines) {
    Write("a.jsonl", lines);
    return Take();
  }
  static void Drop(Document& table, const std::vector<std::string>& fields) {
    for (Document& row : table) {
      for (const std::string& field : fields) row.erase(field);
    }
  }
};

constexpr const char* kTotals[] = {
    "num_chunks",          "num_attempts",          "num_failed_attempts",     "num_lost_attempts", "total_events",
    "busy_time",           "chunk_cpu_time",        "helper_cpu_time",         "chunk_cpu_wait",    "chunk_joined",
    "chunk_blocked",       "bytes_read_chunks",     "bytes_read_uncompressed", "compression_ratio", "core_seconds",
    "total_cores",         "core_efficiency",       "cpu_efficiency",          "io_overhead_pct",   "section_coverage",
    "busy_time_per_chunk", "busy_time_per_attempt", "event_rate_core_hz",      "wall_time"};

TEST_F(MeasureSumsTest, TotalsAreThoseOfTheLines) {
  const Document whole = Measured(Log(kChunks));
  for (const size_t with_line : {size_t{0}, size_t{15}}) {
    const Document summed = Measured(Log(with_line));
    for (const char* key : kTotals) EXPECT_NEAR(Metric(summed, key), Metric(whole, key), 1e-9) << key;
    EXPECT_EQ(summed["cuts"], whole["cuts"]);
    EXPECT_EQ(summed["memory_sections"], whole["memory_sections"]);
    EXPECT_EQ(summed["fine"], whole["fine"]);
    EXPECT_EQ(summed["requests"], whole["requests"]);
    EXPECT_EQ(whole["requests"][0]["calls"], 2 * kChunks);
    EXPECT_EQ(summed["quality"]["summed_chunks"], kChunks - with_line);
    EXPECT_EQ(summed["quality"]["records_dropped"], 0);
    EXPECT_EQ(summed["quality"]["records_unknown"], 0);
  }
}

TEST_F(MeasureSumsTest, TablesAreThoseOfTheLinesButForQuantiles) {
  Document whole = Measured(Log(kChunks));
  Document summed = Measured(Log(15));
  for (Document* document : {&whole, &summed}) {
    for (const char* table : {"datasets", "files", "workers", "hosts"}) {
      Drop((*document)[table], {"duration_p50", "duration_p95", "rss_delta_mean"});
    }
    Drop((*document)["sections"], {"chunks", "p50", "p95", "p99", "mean_when_run"});
    for (Document& row : (*document)["custom_metrics"]) {
      Drop(row["by_dataset"], {"p50", "p95"});
      row.erase("p50");
      row.erase("p95");
    }
  }
  for (const char* table : {"datasets", "files", "workers", "hosts", "custom_metrics"}) {
    EXPECT_EQ(summed[table], whole[table]) << table;
  }
  ASSERT_EQ(summed["sections"].size(), whole["sections"].size());
  for (size_t i = 0; i < whole["sections"].size(); ++i) {
    Document& row = summed["sections"][i];
    Document& expected = whole["sections"][i];
    if (row["path"] != "(other)") {
      EXPECT_EQ(row, expected);
    }
    EXPECT_EQ(row["count"], expected["count"]);
    EXPECT_NEAR(row["self"].get<double>(), expected["self"].get<double>(), 1e-9);
  }
}

TEST_F(MeasureSumsTest, TheBudgetHoldsTheSameWork) {
  const Document whole = Measured(Log(kChunks));
  const Document summed = Measured(Log(15));
  double sum = 0;
  for (const Document& row : summed["budget"]) {
    const double expected = Row(whole["budget"], "part", row["part"])["core_seconds"];
    // Where free time lies is spread evenly among sums; what was done is not.
    const std::string part = row["part"];
    const bool is_free = part == "idle" || part == "tail" || part == "startup" || part == "shutdown";
    EXPECT_NEAR(row["core_seconds"].get<double>(), expected, is_free ? kStep : 1e-9) << part;
    sum += row["core_seconds"].get<double>();
  }
  EXPECT_NEAR(sum, Metric(summed, "core_seconds"), 1e-6);
  // Two lanes for a moment and none in the next are one lane on average.
  EXPECT_LE(Metric(summed, "oversubscribed_core_seconds"), Metric(whole, "oversubscribed_core_seconds"));
}

// One row's chunks end early, but for its last; another's come between: their means overlap, their chunks did not.
TEST_F(MeasureSumsTest, TheBudgetIsNeverMoreThanTheLanes) {
  std::vector<Line> chunks;
  for (int number = 0; number < 20; ++number) {
    chunks.push_back(ChunkLine(number, 1 + kStep * number, 1.1 + kStep * number, number < 10 ? "a" : "b"));
    for (const char* field : {"helper_cpu_ns", "helper_wait_ns", "helper_scope_ns", "helper_union_ns"}) {
      chunks.back()[field] = 0;
    }
  }
  chunks.push_back(chunks[0]);
  chunks.back()["start_ns"] = At(9);
  chunks.back()["stop_ns"] = At(9.1);
  std::vector<Line> lines = {ProcessLine(1, 0.5)};
  for (Line& sums : SumsOf(chunks)) lines.push_back(std::move(sums));
  lines.push_back(EndLine(10));
  const Document document = Measured(lines);
  EXPECT_NEAR(Metric(document, "oversubscribed_core_seconds"), 0, 1e-6);
  double sum = 0;
  for (const Document& row : document["budget"]) sum += row["core_seconds"].get<double>();
  EXPECT_NEAR(sum, Metric(document, "core_seconds"), 1e-6);
  EXPECT_NEAR(Row(document["budget"], "part", "compute")["core_seconds"].get<double>(), 2.1 / 2, 1e-6);
}

// Short pauses between chunks are not a tail, though the mean of all is below 90 %.
TEST_F(MeasureSumsTest, NoTailIsInventedAmongSums) {
  std::vector<Line> chunks;
  for (int number = 0; number < 20; ++number) {
    chunks.push_back(ChunkLine(number, 1 + kStep * number, 1 + kStep * (number + 0.5)));
    for (const char* field : {"helper_cpu_ns", "helper_wait_ns", "helper_scope_ns", "helper_union_ns"}) {
      chunks.back()[field] = 0;
    }
  }
  std::vector<Line> lines = {ProcessLine(1, 0.5), chunks[0]};
  for (Line& sums : SumsOf({chunks.begin() + 1, chunks.end()})) lines.push_back(std::move(sums));
  lines.push_back(EndLine(4));
  const Document document = Measured(lines);
  EXPECT_EQ(Row(document["budget"], "part", "tail")["core_seconds"], 0);
  EXPECT_TRUE(document["metrics"]["tail_time"].is_null());
  EXPECT_THAT(document["quality"]["not_measured"]["tail_time"].get<std::string>(), HasSubstr("summed"));
  EXPECT_NEAR(Row(document["budget"], "part", "idle")["core_seconds"].get<double>(), 19 * kStep / 2, 1e-6);
}

TEST_F(MeasureSumsTest, TheLastLineOfARowCounts) {
  std::vector<Line> lines = Log(15);
  const std::vector<Line> chunks = Chunks();
  const std::vector<Line> earlier = SumsOf({chunks.begin() + 15, chunks.begin() + 30});
  const Document once = Measured(lines);
  lines.insert(lines.begin() + 16, earlier.begin(), earlier.end());
  EXPECT_EQ(Measured(lines)["metrics"], once["metrics"]);
  // In whatever order they are read, and however often.
  lines.insert(lines.end() - 1, earlier.begin(), earlier.end());
  const Document twice = Measured(lines);
  EXPECT_EQ(twice["metrics"], once["metrics"]);
  Write("copy.jsonl", lines);
  EXPECT_EQ(Take()["metrics"], once["metrics"]);
}

TEST_F(MeasureSumsTest, ALostLineCostsOnlyTime) {
  const std::vector<Line> chunks = Chunks();
  std::string text;
  for (const Line& line : Log(15)) {
    if (line["type"] == "sums" && line["dataset"] == "ttbar" && line["status"] == "ok") {
      for (const Line& earlier : SumsOf({chunks.begin() + 15, chunks.begin() + 30})) {
        if (earlier["dataset"] == "ttbar" && earlier["status"] == "ok") text += earlier.dump() + "\n";
      }
      text += line.dump().substr(0, 300) + "\n";
      continue;
    }
    text += line.dump() + "\n";
  }
  WriteText("a.jsonl", text);
  const Document document = Take();
  EXPECT_EQ(document["quality"]["records_torn"], 1);
  EXPECT_LT(Metric(document, "num_attempts"), kChunks);
  EXPECT_THAT(document["quality"]["warnings"].dump(),
              HasSubstr("more chunks were summed whose sums could not be read"));
}

TEST_F(MeasureSumsTest, ABeginWhoseChunkWasSummedIsNoLostAttempt) {
  std::vector<Line> lines = {ProcessLine(1), BeginLine(0, 1), BeginLine(1, 1)};
  lines[2]["thread"] = lines[2]["tid"] = 9;
  std::vector<Line> sums = SumsOf(std::vector<Line>(1, FullChunk(1)));
  sums[0]["begun"] = {1};
  lines.push_back(sums[0]);
  const Document document = Measured(lines);
  EXPECT_EQ(Metric(document, "num_lost_attempts"), 1);
  EXPECT_EQ(Metric(document, "num_chunks"), 1);
  // A thread that began it had ended the one before.
  for (const char* field : {"thread", "tid"}) lines[2][field] = lines[1][field];
  const Document on_one_thread = Measured(lines);
  EXPECT_EQ(Metric(on_one_thread, "num_lost_attempts"), 0);
  EXPECT_EQ(on_one_thread["quality"]["records_lost"], 1);
}

TEST_F(MeasureSumsTest, ItIsSaidHowManyAndWhy) {
  const Document document = Measured(Log(15));
  const std::string warnings = document["quality"]["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("25 of 40 chunks were summed, because the log came near CREMA_MAX_LOG_BYTES"));
  EXPECT_THAT(warnings, HasSubstr("are of the other 15"));
  EXPECT_EQ(document["quality"]["records_lost"], 0);
  EXPECT_THAT(warnings, Not(HasSubstr("could not be")));
  for (const char* key : {"num_recomputed_chunks", "num_retried_chunks", "load_imbalance", "max_open_chunks"}) {
    EXPECT_TRUE(document["metrics"][key].is_null()) << key;
    EXPECT_THAT(document["quality"]["not_measured"][key].get<std::string>(), HasSubstr("summed")) << key;
  }
  const Document none = Measured(Log(0));
  EXPECT_THAT(none["quality"]["not_measured"]["chunk_duration_p50"].get<std::string>(), HasSubstr("summed"));
  EXPECT_THAT(none["quality"]["not_measured"]["straggler_chunks"].get<std::string>(), HasSubstr("summed"));
}

TEST_F(MeasureSumsTest, MisusedGuardsAreNoFullDisk) {
  std::vector<Line> lines = {ProcessLine(1), ChunkLine(0, 1, 2)};
  Line end = EndLine(3);
  end["dropped"] = 5;
  end["misused"] = 5;
  lines.push_back(end);
  const Document misused = Measured(lines);
  EXPECT_EQ(misused["quality"]["guards_misused"], 5);
  EXPECT_EQ(misused["quality"]["records_dropped"], 5);
  EXPECT_THAT(misused["quality"]["warnings"].dump(), HasSubstr("5 guards were not used as they should be"));
  EXPECT_THAT(misused["quality"]["warnings"].dump(), Not(HasSubstr("full disk")));
  lines.back()["dropped"] = 7;
  EXPECT_THAT(Measured(lines)["quality"]["warnings"].dump(), HasSubstr("2 records could not be written"));
}

/// Fault [logs]: a process dropped records for several reasons
/// Shown: each reason apart; a log that names no reasons (before minor 10) has none, and `null` in their place
TEST_F(MeasureSumsTest, DropsAreToldByTheirCause) {
  std::vector<Line> lines = {ProcessLine(1), ChunkLine(0, 1, 2)};
  Line end = EndLine(3);
  end["dropped"] = 20;
  end["misused"] = 1;
  lines.push_back(end);
  const Document unreported = Measured(lines);
  EXPECT_TRUE(unreported["quality"]["records_unwritten"].is_null());
  EXPECT_TRUE(unreported["quality"]["values_outside_chunks"].is_null());
  EXPECT_THAT(unreported["quality"]["warnings"].dump(), HasSubstr("19 records could not be written or kept"));
  lines.back()["unwritten"] = 3;
  lines.back()["outside_chunks"] = 5;
  lines.back()["tasks_left_out"] = 8;
  const Document reported = Measured(lines);
  EXPECT_EQ(reported["quality"]["records_dropped"], 20);
  EXPECT_EQ(reported["quality"]["records_unwritten"], 3);
  EXPECT_EQ(reported["quality"]["values_outside_chunks"], 5);
  EXPECT_EQ(reported["quality"]["tasks_left_out"], 8);
  const std::string warnings = reported["quality"]["warnings"].dump();
  for (const char* sentence :
       {"1 guards were not used as they should be", "3 records could not be written (the disk was full",
        "5 values or guards were given where no chunk was open", "11 values or records were not kept",
        "8 tasks have no record, because the disk of their worker was short"}) {
    EXPECT_THAT(warnings, HasSubstr(sentence));
  }
  EXPECT_THAT(warnings, Not(HasSubstr("do not say which")));
}

TEST_F(MeasureSumsTest, SumsThatClaimMoreTimeThanThereWasAreMalformed) {
  std::vector<Line> lines = {ProcessLine(1), ChunkLine(0, 1, 2)};
  Line sums = SumsOf(std::vector<Line>(1, FullChunk(1)))[0];
  sums["duration_ns"] = 10 * kSecondNs;
  lines.push_back(sums);
  EXPECT_EQ(Measured(lines)["quality"]["records_malformed"], 1);
}

}  // namespace
}  // namespace crema
