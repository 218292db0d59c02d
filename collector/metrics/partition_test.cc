// docs/metrics.md, "Rules": any partition of the records, merged in any order or grouping, gives the same measurement.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/read_records.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/record_lines_fixture.h"
#include "collector/metrics/run_figures.h"
#include "collector/records/record_parser.h"
#include "collector/sources/record_log.h"

namespace crema {
namespace {

// One log: its process line, then the others.
struct Log {
  Line process;
  std::vector<Line> lines;
  bool running = false;
};

class RandomRun {
 public:
  explicit RandomRun(uint32_t seed) : random_(seed) {}

  std::vector<Log> Logs(int count) {
    std::vector<Log> logs;
    for (int pid = 1; pid <= count; ++pid) logs.push_back(MakeLog(pid));
    return logs;
  }

 private:
  int64_t Below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  std::string Name(const char* stem, int64_t of) { return stem + std::to_string(Below(of)); }

  Line MakeSections(int64_t duration_ns) {
    Line rows = Line::array();
    int64_t left_ns = duration_ns;
    for (const char* path : {"read", "select", "select/jets", "fill"}) {
      if (OneIn(3)) continue;
      const int64_t self_ns = Below(left_ns / 2 + 1);
      left_ns -= self_ns;
      Line row = SectionRowLine(path, self_ns + Below(1000), self_ns);
      if (OneIn(2)) row["cpu_ns"] = self_ns / 2;
      rows.push_back(row);
    }
    if (OneIn(4)) {
      rows.push_back(SectionRowLine("helped", 3 * duration_ns, duration_ns));
      rows.back()["helper"] = true;
    }
    return rows;
  }

  // Whole and half numbers only: their sums are exact, so documents can be compared byte for byte.
  Line MakeMetrics() {
    const auto sum = static_cast<double>(Below(1000) - 500);
    return {{{"name", Name("metric", 4)}, {"unit", "GeV"}, {"count", 1}, {"sum", sum}, {"min", sum}, {"max", sum}}};
  }

  Line MakeCuts() {
    Line cuts = Line::array();
    int64_t events = 100 + Below(50);
    for (const char* name : {"all", "trigger", "jets"}) {
      cuts.push_back({{"name", name}, {"events", events}, {"weights", static_cast<double>(Below(99)) / 2 - 20}});
      events /= 2;
    }
    const std::string flow = Below(2) == 0 ? "ttbar" : "ttbar, loop 2";
    for (const char* path : {"all", "all/MET", "all/jets", "all/jets/MET"}) {
      const std::string_view in_flow(path);
      cuts.push_back({{"name", std::string(in_flow.substr(in_flow.rfind('/') + 1))}, {"events", Below(50)}});
      cuts.back().update({{"path", path}, {"flow", flow}});
      if (Below(9) > 0) cuts.back()["seen"] = 50 + Below(50);
    }
    return cuts;
  }

  Line MakeChunk(int64_t number, double start) {
    Line chunk = ChunkLine(Below(60), start, start + 0.001 * static_cast<double>(1 + Below(3000)), Name("data", 3));
    const int64_t duration_ns = chunk["stop_ns"].get<int64_t>() - chunk["start_ns"].get<int64_t>();
    chunk["chunk"] = number;
    chunk["tid"] = Below(4);
    chunk["events"] = 1 + Below(500);
    chunk["cpu_ns"] = Below(duration_ns);
    if (OneIn(5)) chunk["status"] = "failed";
    if (OneIn(9)) chunk["events"] = nullptr;
    if (OneIn(9)) chunk["cpu_ns"] = nullptr;
    if (OneIn(9)) chunk["file"] = nullptr;
    if (OneIn(4)) chunk["helper_cpu_ns"] = chunk["helper_scope_ns"] = chunk["helper_union_ns"] = Below(duration_ns);
    chunk["rss_stop_bytes"] = Below(1 << 30);
    chunk["sections"] = MakeSections(duration_ns);
    chunk["metrics"] = MakeMetrics();
    chunk["cuts"] = MakeCuts();
    chunk["columns"] = {Name("column", 9), Name("column", 9)};
    chunk["memory_sections"] = {{{"path", Name("memory", 3)}, {"count", 1}, {"delta_bytes", Below(999) - 500}}};
    chunk["memory_sections"][0]["max_bytes"] = chunk["memory_sections"][0]["delta_bytes"];
    chunk["memory_sections"][0]["rss_stop_bytes"] = Below(5);
    chunk["attributes"] = {{"site", "site" + std::to_string(number % 5)}, {"job", std::to_string(number * 7 % 31)}};
    if (number % 4 == 0) chunk["attributes"]["reading"] = "in part";
    const int64_t slowest_ns = Below(1000);
    chunk["requests"] = {{{"server", Name("server", 3)}, {"operation", Name("read", 2)}, {"count", 1 + Below(3)}}};
    chunk["requests"][0].update(
        {{"bytes", Below(9999)}, {"total_ns", 3 * slowest_ns}, {"max_ns", slowest_ns}, {"errors", Below(2)}});
    return chunk;
  }

  Line MakeStacks(double time) {
    Line line = {{"type", "stacks"}, {"time_ns", At(time)}, {"section", Name("section", 4)}, {"hertz", 100}};
    line["dataset"] = Name("data", 3);
    line["functions"] = {{Name("function", 3), "/a.py", 3}, {Name("function", 3), nullptr, nullptr}};
    const int64_t samples = 1 + Below(9);
    line["stacks"] = {{samples, samples * samples, 0, 1}, {samples, samples, 0}};
    return line;
  }

  // What chunks without a line came to, told several times.
  void AddSums(double time, Log& log) {
    const std::string dataset = Name("data", 3);
    for (const char* status : {"ok", "failed"}) {
      for (int64_t chunks = 2; chunks < 10; chunks += 2 + Below(3)) {
        const int64_t duration_ns = chunks * kSecondNs / 2;
        const auto stop = time + static_cast<double>(chunks);
        log.lines.push_back({{"type", "sums"}, {"time_ns", At(stop)}, {"reason", "log_share"}, {"dataset", dataset}});
        Line& sums = log.lines.back();
        sums.update({{"file", "summed.root"}, {"status", status}, {"chunks", chunks}, {"events", 10 * chunks}});
        sums.update({{"chunks_with_events", chunks}, {"first_start_ns", At(time)}, {"last_stop_ns", At(stop)}});
        sums.update({{"duration_ns", duration_ns}, {"max_duration_ns", kSecondNs}, {"cpu_ns", Below(duration_ns)}});
        sums.update({{"cpu_wait_ns", chunks}, {"helper_wait_ns", 0}, {"lanes_peak", 2}, {"bytes_read", chunks}});
        sums["begun"] = {Below(40)};
        sums["sections"] = MakeSections(duration_ns);
        sums["metrics"] = MakeMetrics();
        sums["cuts"] = MakeCuts();
        sums["requests"] = {{{"server", Name("server", 3)}, {"operation", "read"}, {"count", chunks}, {"total_ns", 5}}};
      }
    }
  }

  Log MakeLog(int64_t pid) {
    Log log;
    log.process = ProcessLine(pid, 0.1 * static_cast<double>(pid), Name("host", 2));
    log.running = OneIn(4);
    double time = 1;
    for (int64_t number = 0; number < 40; ++number) {
      const Line chunk = MakeChunk(number, time);
      Line begin = {{"type", "begin"}, {"chunk", number}, {"time_ns", chunk["start_ns"]}};
      for (const char* field : {"tid", "dataset", "file", "tree", "entry_start", "entry_stop"})
        begin[field] = chunk[field];
      log.lines.push_back(begin);
      if (!OneIn(8)) log.lines.push_back(chunk);  // else lost, or still open
      if (OneIn(4)) {
        log.lines.push_back({{"type", "sample"}, {"time_ns", At(time)}, {"rss_bytes", Below(1 << 30)}});
        log.lines.back()["sections"] = Line::array({SectionRowLine("setup", Below(9999), 5)});
      }
      if (OneIn(4)) log.lines.push_back(MakeStacks(time));
      if (OneIn(6)) log.lines.push_back({{"type", "file"}, {"file", Name("data", 3) + ".root"}, {"branches", 50}});
      if (OneIn(6)) {
        log.lines.push_back({{"type", "span"}, {"name", "process"}, {"start_ns", At(time)}, {"stop_ns", At(time + 1)}});
      }
      time += 0.01 * static_cast<double>(Below(200));
    }
    if (OneIn(2)) AddSums(time, log);
    if (!log.running && !OneIn(3)) log.lines.push_back(EndLine(time + 15));
    return log;
  }

  std::mt19937 random_;
};

// An accumulator as one reader's thread fills it: some lines of some logs.
class Part {
 public:
  void Add(const Log& log, const Line& line) {
    RecordParser parser;
    ASSERT_EQ(parser.ParseCopy(log.process.dump()), ParseOutcome::kRecord) << parser.reason();
    const LogRef process = accumulator_->AddProcess(parser.record().process, log.running);
    ASSERT_EQ(parser.ParseCopy(line.dump()), ParseOutcome::kRecord) << parser.reason() << line;
    accumulator_->Add(process, parser.record());
  }
  void Merge(const Part& other) { accumulator_->Merge(*other.accumulator_); }

  std::string Document() const {
    const RunFigures figures = ComputeFigures(accumulator_->Finalize(), TreeAccumulator(), {}, {});
    const std::vector<EntryRange> ranges(figures.stragglers.stragglers.size());
    return JsonOf(Assemble(figures, JudgeQuality(figures, {}), ranges, {})).dump(1);
  }

 private:
  std::unique_ptr<RecordAccumulator> accumulator_ = std::make_unique<RecordAccumulator>();
};

// Logs as files, damaged here and there, as they are found in practice.
class LogFiles {
 public:
  LogFiles(const std::vector<Log>& logs, uint32_t seed)
      : directory_(std::string(::testing::TempDir()) + "partition-" + std::to_string(seed)) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    std::mt19937 random(seed);
    for (const Log& log : logs) {
      std::ofstream file(directory_ + "/log" + std::to_string(log.process["pid"].get<int>()) + ".jsonl");
      if (random() % 4 == 0) file << "\n";  // as after a write that fell short
      file << log.process << "\n";
      for (const Line& line : log.lines) {
        file << line.dump() << "\n";
        if (random() % 20 == 0) file << "\n";
        if (random() % 20 == 0) file << line.dump().substr(0, random() % 90) << "\n";
        if (random() % 30 == 0) file << "no JSON " << random() << "\n";
        if (random() % 90 == 0) file << std::string(70000, 'x') << "\n";
      }
      // Another process of the run goes on in the same file, as in logs put together by hand.
      if (random() % 4 == 0) {
        file << ProcessLine(1000 + log.process["pid"].get<int>()) << "\n"
             << BeginLine(5, 2) << "\n"
             << ChunkLine(5, 2, 3) << "\n";
      }
      if (random() % 3 == 0) file << R"({"type":"chunk","chunk":7)";  // its end was never written
    }
  }
  ~LogFiles() { std::filesystem::remove_all(directory_); }
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  std::string Document(size_t threads, int64_t part_bytes, size_t most_bytes) const {
    const absl::StatusOr<RecordLogs> logs = FindRecordLogs({directory_}, "");
    EXPECT_TRUE(logs.ok()) << logs.status();
    RecordsRead read = ReadRecords(logs->logs, {false, threads, part_bytes, std::nullopt, {}, nullptr});
    const RunFigures figures = ComputeFigures(std::move(read.accumulator).Finalize(), TreeAccumulator(), std::nullopt,
                                              std::nullopt, {}, {}, {threads, most_bytes});
    Quality reading;
    reading.records_read = read.reading.records_read;
    reading.records_malformed = read.reading.records_malformed;
    reading.records_torn = read.reading.records_torn;
    reading.records_unknown = read.reading.records_unknown;
    reading.warnings = read.reading.warnings;
    reading.warnings.push_back(std::to_string(read.reading.more_warnings));
    const std::vector<EntryRange> ranges(figures.stragglers.stragglers.size());
    return JsonOf(Assemble(figures, JudgeQuality(figures, reading), ranges, {})).dump(1);
  }

 private:
  std::string directory_;
};

class Partition : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Partition, OfTheRecordsDoesNotChangeTheDocument) {
  const std::vector<Log> logs = RandomRun(GetParam()).Logs(6);
  std::vector<std::pair<const Log*, const Line*>> lines;
  Part whole;
  for (const Log& log : logs) {
    for (const Line& line : log.lines) {
      lines.emplace_back(&log, &line);
      whole.Add(log, line);
    }
  }
  const std::string expected = whole.Document();
  EXPECT_NE(expected.find("\"num_lost_attempts\""), std::string::npos);

  std::mt19937 random(GetParam());
  for (int trial = 0; trial < 4; ++trial) {
    std::shuffle(lines.begin(), lines.end(), random);
    std::vector<Part> parts(1 + random() % 7);
    for (const auto& [log, line] : lines) parts[random() % parts.size()].Add(*log, *line);
    while (parts.size() > 1) {
      const size_t from = random() % parts.size();
      const size_t to = (from + 1 + random() % (parts.size() - 1)) % parts.size();
      parts[to].Merge(parts[from]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(from));
    }
    ASSERT_EQ(FirstDifference(parts[0].Document(), expected), "");
  }
}

TEST_P(Partition, OfTheLogsAndWithinThemDoesNotChangeTheDocument) {
  const LogFiles files(RandomRun(GetParam()).Logs(4), GetParam());
  const std::string expected = files.Document(1, 0, 0);
  EXPECT_NE(expected.find("\"records_malformed\": "), std::string::npos);
  EXPECT_NE(expected.find(".jsonl:"), std::string::npos) << "lines are named by their number in the file";
  std::mt19937 random(GetParam());
  for (size_t trial = 0; trial < 6; ++trial) {
    const size_t threads = 2 + random() % 4;
    // Down to parts that are smaller than a line.
    const int64_t part_bytes = trial == 0 ? 100 : static_cast<int64_t>(200 + random() % 60000);
    // For one analysis at a time, for some of them, for all.
    const size_t most_bytes = trial % 3 * trial * 1000;
    ASSERT_EQ(FirstDifference(files.Document(threads, part_bytes, most_bytes), expected), "")
        << threads << " " << part_bytes << " " << most_bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, Partition, ::testing::Range(1u, 9u));

TEST(PartitionBeyondTheLimits, KeepsTheSameFilesThreadsAndSections) {
  // More files, threads, section paths and metrics than are kept; each file in two parts.
  constexpr int64_t kChunks = 26000;
  RecordAccumulator whole;
  std::vector<RecordAccumulator> parts(3);
  ProcessFact process;
  process.host = "node";
  process.pid = 1;
  for (int64_t i = 0; i < kChunks; ++i) {
    const int64_t number = i * 7919 % (kChunks / 2);
    const std::string file = "file" + std::to_string(number);
    const std::string dataset = "dataset" + std::to_string(number % 3);
    const std::string path = "path" + std::to_string(i % 5000);
    Record record;
    record.type = RecordType::kChunk;
    ChunkFact& chunk = record.chunk;
    chunk.number = i;
    chunk.start_ns = i;
    chunk.stop_ns = i + 1000;
    chunk.tid = i % 13000;
    chunk.bytes_read = i;
    chunk.input.dataset = dataset;
    chunk.input.file = file;
    chunk.sections = {{path, false, 1, 900, 800, {}, {}, {}, 0}};
    chunk.metrics = {{path, "", 1, 1.0, 1.0, 1.0, 0, {}, 0}};
    whole.Add(whole.AddProcess(process, false), record);
    RecordAccumulator& part = parts[static_cast<size_t>(i % 3)];
    part.Add(part.AddProcess(process, false), record);
  }
  parts[2].Merge(parts[0]);
  parts[1].Merge(parts[2]);

  const RecordFindings expected = whole.Finalize();
  const RecordFindings merged = parts[1].Finalize();
  EXPECT_EQ(expected.attempts.files.size(), InputTable::kMaxInputs - 3 + 1) << "3 datasets share one name, (other)";
  EXPECT_EQ(merged.attempts.files, expected.attempts.files);
  EXPECT_EQ(merged.attempts.threads, expected.attempts.threads);
  EXPECT_EQ(expected.attempts.threads.size(), AttemptTable::kMaxThreads + 1);
  EXPECT_EQ(merged.omissions.section_paths, expected.omissions.section_paths);
  EXPECT_GT(expected.omissions.section_paths, 0);
  EXPECT_EQ(merged.omissions.metrics, expected.omissions.metrics);
  EXPECT_EQ(expected.tables.custom_metrics.size(), CustomMetricTable::kMaxMetrics);

  const RunFigures a = ComputeFigures(merged, TreeAccumulator(), {}, {});
  const RunFigures b = ComputeFigures(expected, TreeAccumulator(), {}, {});
  EXPECT_EQ(FirstDifference(JsonOf(Assemble(a, {}, {}, {})).dump(1), JsonOf(Assemble(b, {}, {}, {})).dump(1)), "");
  EXPECT_EQ(b.findings.tables.datasets.size(), 3u) << "a file beyond the limit still counts for its dataset";
  absl::int128 self_ns = expected.sections.other_self_ns;
  for (const SectionRow& row : expected.sections.rows) {
    if (row.path != "(other)") self_ns += static_cast<int64_t>(std::llround(*row.self * 1e9));
  }
  EXPECT_EQ(self_ns, kChunks * 1000) << "what found no room is in (other)";
}

}  // namespace
}  // namespace crema
