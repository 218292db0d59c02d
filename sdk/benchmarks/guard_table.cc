// Measures what each guard costs, and the least that it could cost, in the same run.
//
//     bazel run //sdk/benchmarks:guard_table
//     bazel run //sdk/benchmarks:guard_table -- --directory=/dev/shm --benchmark_repetitions=31
//
// Also takes google-benchmark's options. The exit status is 0 whether targets are met or not, because the machine may
// be busy.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "crema/crema.h"
#include "sdk/benchmarks/allocation_count.h"
#include "sdk/benchmarks/chunk_benchmarks.h"
#include "sdk/benchmarks/chunk_work.h"
#include "sdk/benchmarks/guard_benchmarks.h"
#include "sdk/benchmarks/ratio_table.h"
#include "sdk/benchmarks/system_call_trace.h"

namespace crema_benchmarks {
namespace {

constexpr char kDirectoryOption[] = "--directory=";

/// A new directory below `parent`, which is removed with all that is in it.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& parent) : path_(parent + "/crema-benchmark-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~ScratchDirectory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

crema::Options RecordingInto(const std::string& directory) {
  crema::Options options;
  options.directory = directory;
  options.interval_seconds = 0;  // no sampler beside what is measured
  return options;
}

void PrintCounts(const std::string& directory) {
  constexpr int kWarmUp = 20;  // the cost of the first chunks is measured, by more calls
  constexpr int kChunks = 100;
  const SystemCallTrace trace = TraceSystemCalls(
      [&directory] {
        crema::Enable(RecordingInto(directory + "/traced"));
        for (int i = 0; i < kWarmUp; ++i) RecordChunk(i);
      },
      [] { RecordChunk(kWarmUp); });
  crema::Enable(RecordingInto(directory + "/log"));
  for (int i = 0; i < kWarmUp; ++i) RecordChunk(i);
  const std::int64_t before = Allocations();
  for (int i = 0; i < kChunks; ++i) RecordChunk(kWarmUp + i);
  const std::int64_t allocations = Allocations() - before;
  const LineSizes sizes = SizesOfLastChunk(FindLog(directory + "/log"));
  std::printf("a whole chunk: lines of %zu and %zu bytes, %lld heap allocations in %d chunks\n", sizes.begin,
              sizes.chunk, static_cast<long long>(allocations), kChunks);
  if (!trace.complaint.empty()) {
    std::printf("system calls of a chunk: not counted: %s\n\n", trace.complaint.c_str());
    return;
  }
  std::printf("%zu system calls:", trace.calls.size());
  for (const SystemCall& call : trace.calls) std::printf(" %s", ToText(call).c_str());
  std::printf("\n\n");
}

/// google-benchmark's options with ours as defaults before them; `--directory` is taken out.
std::vector<char*> BenchmarkArguments(int argc, char** argv, std::string* parent) {
  static char interleave[] = "--benchmark_enable_random_interleaving=true";
  static char repetitions[] = "--benchmark_repetitions=101";
  std::vector<char*> arguments = {argv[0], interleave, repetitions};
  for (int i = 1; i < argc; ++i) {
    const std::size_t length = sizeof kDirectoryOption - 1;
    if (std::strncmp(argv[i], kDirectoryOption, length) == 0) {
      *parent = argv[i] + length;
    } else {
      arguments.push_back(argv[i]);
    }
  }
  return arguments;
}

int Main(int argc, char** argv) {
  std::string parent = std::filesystem::temp_directory_path().string();
  std::vector<char*> arguments = BenchmarkArguments(argc, argv, &parent);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  const ScratchDirectory scratch(parent);
  if (scratch.path().empty()) {
    std::fprintf(stderr, "guard_table: cannot make a directory in %s: give another one with %s\n", parent.c_str(),
                 kDirectoryOption);
    return 1;
  }
  PrintCounts(scratch.path());
  const std::string log = FindLog(scratch.path() + "/log");
  if (log.empty()) {
    std::fprintf(stderr, "guard_table: nothing was recorded in %s: is CREMA_OFF set?\n", scratch.path().c_str());
    return 1;
  }
  RegisterGuards(RecordingInto(scratch.path() + "/log"));
  RegisterGuardLimits();
  RegisterChunks(log, scratch.path() + "/bare_calls", SizesOfLastChunk(log));
  RepetitionCollector measured;
  benchmark::RunSpecifiedBenchmarks(&measured);
  if (!crema::Enabled()) {
    std::fprintf(stderr, "guard_table: recording went off while it was measured\n");
    return 1;
  }
  const int missed = PrintRatios(measured);
  std::printf("\n%d target%s missed\n", missed, missed == 1 ? "" : "s");
  for (const std::string& error : measured.errors()) std::fprintf(stderr, "guard_table: %s\n", error.c_str());
  return measured.errors().empty() ? 0 : 1;
}

}  // namespace
}  // namespace crema_benchmarks

int main(int argc, char** argv) { return crema_benchmarks::Main(argc, argv); }
