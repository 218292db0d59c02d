// What reading record logs costs, beside the limits of the same run and beside Python.
//
//     bazel run //collector/benchmarks:reading_table
//     bazel run //collector/benchmarks:reading_table -- --records=100000 --benchmark_repetitions=5
//
// Takes google-benchmark's options too. All is CPU time of the process, so that a busy machine and several threads do
// not flatter or blame anybody; of several repetitions the least counts. Ends with status 1 where readers disagree on
// what they saw, whatever the times are.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/benchmarks/made_logs.h"
#include "collector/benchmarks/readers.h"
#include "nlohmann/json.hpp"

namespace crema_benchmarks {
namespace {

constexpr char kPythonPeer[] = "collector/benchmarks/python_peer.py";
constexpr char kAggregated[] = "Python: json and roastcoffea's sums";

struct Options {
  std::string directory = "/tmp";
  int64_t records = 1'000'000;
  int64_t python_records = 100'000;
};

struct Workload {
  std::string title;
  LogsToMake logs;
  MadeLogs made;
  std::vector<std::string> paths;
};

// CPU seconds for the whole of a workload.
struct Row {
  std::string name;
  double seconds = 0;
};

class LeastTimes : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const double seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
      const auto [entry, is_new] = seconds_.emplace(run.run_name.function_name, seconds);
      if (!is_new) entry->second = std::min(entry->second, seconds);
    }
  }
  std::optional<double> Find(const std::string& name) const {
    const auto found = seconds_.find(name);
    return found == seconds_.end() ? std::nullopt : std::optional<double>(found->second);
  }

 private:
  std::map<std::string, double> seconds_;
};

bool Agrees(int64_t seen, int64_t made) { return seen == -1 || seen == made; }

void CheckSeen(const Reader& reader, const Workload& workload, const Seen& seen, bool& agreed) {
  const MadeLogs& made = workload.made;
  if (seen.bytes == made.bytes && Agrees(seen.chunks, made.chunks) && Agrees(seen.events, made.events)) return;
  std::fprintf(stderr, "reading_table: %s saw %lld bytes, %lld chunks, %lld events of %lld, %lld, %lld\n", reader.name,
               static_cast<long long>(seen.bytes), static_cast<long long>(seen.chunks),
               static_cast<long long>(seen.events), static_cast<long long>(made.bytes),
               static_cast<long long>(made.chunks), static_cast<long long>(made.events));
  agreed = false;
}

std::vector<std::string> LogsIn(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Python's rows, scaled to the workload's bytes: it reads fewer records. None where there is no Python.
std::vector<Row> RunPython(const Options& options, const Workload& workload, const std::string& directory) {
  LogsToMake fewer = workload.logs;
  fewer.records = std::min(options.records, options.python_records);
  fewer.files = std::min(fewer.files, fewer.records);
  const absl::StatusOr<MadeLogs> made = MakeLogs(fewer, directory);
  if (!made.ok()) return {};
  const std::string command = "python3 " + std::string(kPythonPeer) + " '" + directory + "'";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  char part[4096];
  for (size_t got; (got = fread(part, 1, sizeof(part), pipe)) > 0;) output.append(part, got);
  pclose(pipe);
  const auto said = nlohmann::json::parse(output, nullptr, false);
  if (!said.is_object() || said["events"] != made->events) return {};
  const double scale = static_cast<double>(workload.made.bytes) / said["bytes"].get<double>();
  return {{"Python: json", said["json_seconds"].get<double>() * scale},
          {kAggregated, said["aggregated_seconds"].get<double>() * scale}};
}

void PrintTable(const Workload& workload, const std::vector<Row>& rows) {
  const auto seconds_of = [&rows](const std::string& name) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
    return found == rows.end() ? 0 : found->seconds;
  };
  const auto bytes = static_cast<double>(workload.made.bytes);
  std::printf("\n%s: %lld records of %.0f bytes\n", workload.title.c_str(),
              static_cast<long long>(workload.logs.records), bytes / static_cast<double>(workload.logs.records));
  std::printf("%-38s %8s %10s %12s %10s\n", "", "GB/s", "ns/record", "x simdjson", "x Python");
  const auto print_ratio = [](int width, double part, double whole) {
    if (part > 0 && whole > 0) {
      std::printf(" %*.2f", width, part / whole);
    } else {
      std::printf(" %*s", width, "-");
    }
  };
  for (const Row& row : rows) {
    std::printf("%-38s %8.2f %10.0f", row.name.c_str(), bytes / row.seconds / 1e9,
                row.seconds * 1e9 / static_cast<double>(workload.logs.records));
    print_ratio(12, seconds_of(kSimdjson), row.seconds);
    print_ratio(10, seconds_of(kAggregated), row.seconds);
    std::printf("\n");
  }
}

int Run(const Options& options) {
  std::string scratch = options.directory + "/crema-reading-XXXXXX";
  if (mkdtemp(scratch.data()) == nullptr) {
    std::fprintf(stderr, "reading_table: cannot make a directory in %s\n", options.directory.c_str());
    return 1;
  }
  std::vector<std::unique_ptr<Workload>> workloads;
  const auto add = [&](const char* title, RecordShape shape, int64_t files) {
    workloads.push_back(std::make_unique<Workload>());
    workloads.back()->title = title;
    workloads.back()->logs = {shape, options.records, files, 1};
  };
  add("what was not measured left out, one file", RecordShape::kShort, 1);
  add("what was not measured left out, 1,000 files", RecordShape::kShort, std::min<int64_t>(1000, options.records));
  add("every field, one file", RecordShape::kFull, 1);
  add("another writer's lines, one file", RecordShape::kOther, 1);

  bool agreed = true;
  for (size_t i = 0; i < workloads.size(); ++i) {
    Workload& workload = *workloads[i];
    const std::string directory = scratch + "/" + std::to_string(i);
    const absl::StatusOr<MadeLogs> made = MakeLogs(workload.logs, directory);
    if (!made.ok()) {
      std::fprintf(stderr, "reading_table: %s\n", std::string(made.status().message()).c_str());
      return 1;
    }
    workload.made = *made;
    workload.paths = LogsIn(directory);
    for (const Reader& reader : kReaders) {
      const std::string name = std::to_string(i) + ":" + reader.name;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&workload, &reader, &agreed](benchmark::State& state) {
                                     for (auto iteration : state) {
                                       CheckSeen(reader, workload, reader.read(workload.paths), agreed);
                                     }
                                   })
          ->Iterations(1)
          ->MeasureProcessCPUTime();
    }
  }
  LeastTimes times;
  benchmark::RunSpecifiedBenchmarks(&times);
  std::printf("CPU time, least of the repetitions; GB/s are for one core. simdjson runs as %s\n",
              SimdjsonImplementations().c_str());
  for (size_t i = 0; i < workloads.size(); ++i) {
    std::vector<Row> rows;
    for (const Reader& reader : kReaders) {
      if (const auto seconds = times.Find(std::to_string(i) + ":" + reader.name))
        rows.push_back({reader.name, *seconds});
    }
    const std::vector<Row> python = RunPython(options, *workloads[i], scratch + "/python" + std::to_string(i));
    rows.insert(rows.end(), python.begin(), python.end());
    PrintTable(*workloads[i], rows);
    if (python.empty()) std::printf("Python's rows are missing: python3 or %s was not found\n", kPythonPeer);
  }
  const auto whole_of = [&times](size_t i) { return times.Find(std::to_string(i) + ":" + kMeasurement); };
  if (const auto sdk = whole_of(0), other = whole_of(workloads.size() - 1); sdk.has_value() && other.has_value()) {
    std::printf("\nthe whole measurement from another writer's lines: %.2f x that from the SDK's\n", *other / *sdk);
  }
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  std::printf("\n%s\n", agreed ? "all readers saw the same" : "readers disagree");
  return agreed ? 0 : 1;
}

}  // namespace
}  // namespace crema_benchmarks

int main(int argc, char** argv) {
  crema_benchmarks::Options options;
  const auto take = [](const char* argument, const char* option) {
    const size_t length = std::strlen(option);
    return std::strncmp(argument, option, length) == 0 ? argument + length : nullptr;
  };
  std::vector<char*> others;
  for (int i = 0; i < argc; ++i) {
    if (const char* directory = take(argv[i], "--directory=")) {
      options.directory = directory;
    } else if (const char* records = take(argv[i], "--records=")) {
      options.records = std::max(1LL, std::atoll(records));
    } else {
      others.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(others.size());
  benchmark::Initialize(&count, others.data());
  if (benchmark::ReportUnrecognizedArguments(count, others.data())) return 2;
  return crema_benchmarks::Run(options);
}
