#include "collector/benchmarks/made_logs.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <random>
#include <system_error>

#include "nlohmann/json.hpp"

namespace crema_benchmarks {
namespace {

constexpr int64_t kRunStartNs = 1'795'000'000'000'000'000;
constexpr int64_t kWritten = 1 << 20;  // bytes put together before they are written

constexpr int64_t kChunksOfFile = 1000;

constexpr std::string_view kDatasets[] = {"ttbar", "wjets_2017"};

// One process's log, appended to `text` line by line.
class Process {
 public:
  /// `first_chunk`: how many chunks the processes before it had; no chunk is processed twice.
  Process(RecordShape shape, int64_t number, int64_t first_chunk, uint64_t seed)
      : shape_(shape),
        pid_(1000 + number),
        first_chunk_(first_chunk),
        random_(seed * 1'000'003 + static_cast<uint64_t>(number)) {}

  std::string FileName() const { return fmt::format("node-{}-{}-0.jsonl", pid_, kRunStartNs); }

  void Begin(std::string& text) const {
    fmt::format_to(
        std::back_inserter(text),
        R"({{"type":"process","schema":"crema.records/1","schema_minor":0,"run_id":"made","host":"node","pid":{},)"
        R"("parent_pid":1,"pid_namespace":4026531836,"start_ns":{},"boot_id":"b","recorder":0,"executable":"/bin/made",)"
        R"("arguments":["made"],"cores":2,"threads":1,"memory_limit_bytes":null,"clock":"tsc","sdk":"made",)"
        R"("attributes":{{}}}})"
        "\n",
        pid_, kRunStartNs);
  }

  void End(int64_t chunks, std::string& text) const {
    fmt::format_to(std::back_inserter(text),
                   R"({{"type":"end","time_ns":{},"realtime_offset_ns":0,"chunks":{},"failed":0,"open":0,"dropped":0,)"
                   R"("overhead_ns":{},"sections":[]}})"
                   "\n",
                   time_ns_ + 1'000'000, chunks, chunks * 20'000);
  }

  /// Adds a chunk's lines and returns its events.
  int64_t AddChunk(int64_t number, std::string& text) {
    const int64_t file = (first_chunk_ + number) / kChunksOfFile;
    const std::string_view dataset = kDatasets[file % 2];
    const int64_t events = 9'000 + Below(2'000);
    const int64_t duration_ns = 20'000'000 + events * 9'000 + Below(30'000'000) + (Below(1000) == 0 ? 900'000'000 : 0);
    const int64_t start_ns = time_ns_;
    const int64_t cpu_ns = duration_ns / 10 * (5 + Below(4));
    const int64_t wait_ns = Below(2'000'000);
    const int64_t rss_bytes = 400'000'000 + Below(100'000) * 4096;
    const int64_t entry = (first_chunk_ + number) % kChunksOfFile * 10'000;
    time_ns_ += duration_ns + 50'000 + Below(200'000);
    auto to = std::back_inserter(text);
    const std::string identity =
        fmt::format(FMT_COMPILE(R"("thread":140737352584128,"tid":{},"dataset":"{}","file":"/data/{}/nano_{:04}.root",)"
                                R"({}"entry_start":{},"entry_stop":{})"),
                    pid_, dataset, dataset, file, is_short_ ? "" : R"("tree":"Events",)", entry, entry + 10'000);
    if (is_short_) {
      const size_t begin = text.size();
      fmt::format_to(to,
                     FMT_COMPILE(R"({{"type":"chunk","chunk":{},"start_ns":{},"stop_ns":{},"status":"ok","events":{},)"
                                 R"("bytes_read":{},"cpu_ns":{},"cpu_wait_ns":{},"rss_start_bytes":{},)"
                                 R"("rss_stop_bytes":{},"lanes_peak":1,{},"sections":[)"),
                     number, start_ns, start_ns + duration_ns, events, events * 120 + Below(5000), cpu_ns, wait_ns,
                     rss_bytes, rss_bytes + Below(500) * 4096, identity);
      fmt::format_to(to,
                     FMT_COMPILE(R"({{"path":"read","count":1,"total_ns":{0},"self_ns":{0}}}]}})"
                                 "\n"),
                     duration_ns / 3);
      if (shape_ == RecordShape::kOther) Respell(begin, text);
      return events;
    }
    if (shape_ == RecordShape::kSdk) {
      fmt::format_to(to,
                     FMT_COMPILE(R"({{"type":"begin","chunk":{},"time_ns":{},{},"pass":null,"span":null,)"
                                 R"("attributes":{{}}}})"
                                 "\n"),
                     number, start_ns, identity);
    }
    fmt::format_to(
        to,
        FMT_COMPILE(R"({{"type":"chunk","chunk":{},"start_ns":{},"stop_ns":{},"status":"ok","events":{},)"
                    R"("bytes_read":{},"bytes_uncompressed":{},"cpu_ns":{},"helper_cpu_ns":0,"cpu_wait_ns":{},)"
                    R"("helper_wait_ns":0,"helper_scope_ns":0,"helper_union_ns":0,"rss_start_bytes":{},)"
                    R"("rss_stop_bytes":{},"rss_peak_bytes":null,"io_read_bytes":0,"open_chunks":1,"lanes_peak":1,{},)"
                    R"("pass":null,"span":null,"error":null,"columns":null,"sections":[)"),
        number, start_ns, start_ns + duration_ns, events, events * 120 + Below(5000), events * 400 + Below(5000),
        cpu_ns, wait_ns, rss_bytes, rss_bytes + Below(500) * 4096, identity);
    const int64_t part_ns = duration_ns / 8;
    AddSection("read", 2 * part_ns, 2 * part_ns, text);
    if (shape_ == RecordShape::kFull) {
      text += R"(],"memory_sections":[],"metrics":[],"cuts":[],)";
    } else {
      for (const auto& [path, total, self] : {std::tuple{"select", 4, 1}, std::tuple{"select/jets", 2, 2},
                                              std::tuple{"select/leptons", 1, 1}, std::tuple{"fill", 1, 1}}) {
        text += ',';
        AddSection(path, total * part_ns, self * part_ns, text);
      }
      const double sum = static_cast<double>(Below(1'000'000)) / 64;
      fmt::format_to(
          to,
          FMT_COMPILE(R"(],"memory_sections":[],"metrics":[{{"name":"jet_pt","unit":"GeV","count":{},)"
                      R"("sum":{},"min":20.25,"max":{}}}],"cuts":[{{"name":"all","events":{},"weights":null}},)"
                      R"({{"name":"trigger","events":{},"weights":null}}],)"),
          events, sum, 100.5 + sum / 256, events, events / 3);
    }
    text += R"("activities":[],"sections_dropped":0,"attributes":{}})"
            "\n";
    return events;
  }

 private:
  int64_t Below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }

  /// Writes the line that begins there as `json.dumps(line, sort_keys=True)` does in Python.
  static void Respell(size_t begin, std::string& text) {
    const std::string sorted = nlohmann::json::parse(text.substr(begin)).dump();
    text.resize(begin);
    bool is_text = false;
    for (const char c : sorted) {
      text += c;
      if (c == '"') is_text = !is_text;  // no name in these logs has one
      if (!is_text && (c == ',' || c == ':')) text += ' ';
    }
    text += '\n';
  }

  static void AddSection(std::string_view path, int64_t total_ns, int64_t self_ns, std::string& text) {
    fmt::format_to(std::back_inserter(text),
                   FMT_COMPILE(R"({{"path":"{}","count":1,"total_ns":{},"self_ns":{},"min_ns":{},"max_ns":{}}})"), path,
                   total_ns, self_ns, total_ns, total_ns);
  }

  RecordShape shape_;
  const bool is_short_ = shape_ == RecordShape::kShort || shape_ == RecordShape::kOther;
  int64_t pid_;
  int64_t first_chunk_;
  int64_t time_ns_ = kRunStartNs + 1'000'000;
  std::mt19937_64 random_;  // its numbers are the standard's: the same everywhere
};

absl::Status WriteLog(const LogsToMake& logs, int64_t number, int64_t records, const std::string& directory,
                      MadeLogs& made) {
  Process process(logs.shape, number, made.chunks, logs.seed);
  const std::string path = directory + "/" + process.FileName();
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return absl::ErrnoToStatus(errno, path);
  std::string text;
  bool written = true;
  const auto write = [&] {
    written = written && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    made.bytes += static_cast<int64_t>(text.size());
    text.clear();
  };
  process.Begin(text);
  const int64_t lines_each = logs.shape == RecordShape::kSdk ? 2 : 1;
  for (int64_t chunk = 0; chunk * lines_each < records; ++chunk) {
    made.events += process.AddChunk(chunk, text);
    ++made.chunks;
    if (static_cast<int64_t>(text.size()) > kWritten) write();
  }
  process.End((records + lines_each - 1) / lines_each, text);
  write();
  written = std::fclose(file) == 0 && written;
  return written ? absl::OkStatus() : absl::ErrnoToStatus(errno, path);
}

}  // namespace

std::optional<RecordShape> ShapeNamed(std::string_view name) {
  for (const RecordShape shape : {RecordShape::kShort, RecordShape::kFull, RecordShape::kOther, RecordShape::kSdk}) {
    if (NameOf(shape) == name) return shape;
  }
  return std::nullopt;
}

std::string_view NameOf(RecordShape shape) {
  switch (shape) {
    case RecordShape::kShort:
      return "short";
    case RecordShape::kFull:
      return "full";
    case RecordShape::kOther:
      return "other";
    case RecordShape::kSdk:
      break;
  }
  return "sdk";
}

absl::StatusOr<MadeLogs> MakeLogs(const LogsToMake& logs, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::UnavailableError(fmt::format("{}: {}", directory, error.message()));
  MadeLogs made;
  for (int64_t i = 0; i < logs.files; ++i) {
    const int64_t records = logs.records * (i + 1) / logs.files - logs.records * i / logs.files;
    if (absl::Status status = WriteLog(logs, i, records, directory, made); !status.ok()) return status;
  }
  return made;
}

}  // namespace crema_benchmarks
