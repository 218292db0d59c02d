// What `crema collect` has to do for logs, and how much of it can go on at once: the CPU time of each phase, the
// longest chain, and the speed-up that follows for any number of cores.
//
//     bazel-bin/collector/benchmarks/make_logs /dev/shm/made --records 1000000
//     bazel run -c opt //collector/benchmarks:work_and_span -- /dev/shm/made 5
//
// All is measured on one thread, so that it holds on a machine with few cores, and of several rounds the least counts.
// What is divisible takes 1/P on P cores (rows are put in order process by process). To find repeated chunks, each
// thread reads all rows for its part of the chunks: what that takes is measured for each number of threads. Pieces are
// given to cores in the order in which crema gives them to threads. Memory, which all cores share, is not in this
// model: two_cores.py compares it with two cores.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/parallel.h"
#include "collector/metrics/read_records.h"
#include "collector/metrics/run_figures.h"
#include "collector/sources/record_log.h"

namespace crema_benchmarks {
namespace {

using crema::PieceTime;

double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct Phases {
  PieceTime reading = {"reading", 0, {}, true};
  std::vector<PieceTime> finishing;  ///< points, order, states, results
  PieceTime tables = {"tables", 0, {}, false};
  std::vector<PieceTime> analyses;  ///< side by side
  PieceTime metrics = {"metrics", 0, {}, false};
  std::map<size_t, double> results;  ///< by number of cores: what one of as many threads takes
  int64_t attempts = 0;
};

constexpr size_t kMostCores = 64;

double SumOf(const std::vector<PieceTime>& times) {
  double sum = 0;
  for (const PieceTime& time : times) sum += time.cpu_seconds;
  return sum;
}

Phases Run(const std::vector<crema::RecordLog>& logs) {
  Phases phases;
  double last = CpuSeconds();
  const auto lap = [&last] {
    const double before = std::exchange(last, CpuSeconds());
    return last - before;
  };
  crema::ReadRecordsOptions how;
  how.threads = 1;
  crema::RecordsRead read = crema::ReadRecords(logs, how);
  phases.reading.cpu_seconds = lap();
  crema::WorkLimits limits;
  limits.times = &phases.finishing;
  crema::RecordFindings findings = std::move(read.accumulator).Finalize(limits);
  phases.tables.cpu_seconds = lap() - SumOf(phases.finishing);
  phases.results[1] = phases.finishing.back().cpu_seconds;
  for (const size_t cores : {size_t{2}, size_t{16}, kMostCores}) {
    std::vector<PieceTime> times;
    limits.threads = cores;
    limits.times = &times;
    crema::MarkResults(findings.attempts.rows, limits);
    const auto parts =
        std::clamp<size_t>(findings.attempts.rows.size() >> 16, 1, cores);  // as many threads are worth it
    phases.results[cores] = times.back().cpu_seconds / static_cast<double>(parts);
  }
  lap();
  limits.threads = 1;
  phases.attempts = static_cast<int64_t>(findings.attempts.rows.size());
  limits.times = &phases.analyses;
  const crema::RunFigures figures = crema::ComputeFigures(std::move(findings), {}, {}, {}, {}, {}, limits);
  phases.metrics.cpu_seconds = lap() - SumOf(phases.analyses);
  // Pieces come after what all threads do first.
  const auto pieces = std::find_if(phases.analyses.begin(), phases.analyses.end(),
                                   [](const PieceTime& time) { return !time.is_divisible; });
  phases.finishing.insert(phases.finishing.begin(), phases.analyses.begin(), pieces);
  phases.analyses.erase(phases.analyses.begin(), pieces);
  return phases;
}

void KeepLeast(const PieceTime& other, PieceTime* time) {
  time->cpu_seconds = std::min(time->cpu_seconds, other.cpu_seconds);
}

void KeepLeast(const Phases& other, Phases* phases) {
  KeepLeast(other.reading, &phases->reading);
  KeepLeast(other.tables, &phases->tables);
  KeepLeast(other.metrics, &phases->metrics);
  for (const auto& [cores, seconds] : other.results) {
    phases->results[cores] = std::min(phases->results[cores], seconds);
  }
  for (size_t i = 0; i < other.finishing.size(); ++i) KeepLeast(other.finishing[i], &phases->finishing[i]);
  for (size_t i = 0; i < other.analyses.size(); ++i) KeepLeast(other.analyses[i], &phases->analyses[i]);
}

/// Until all pieces have ended: each core takes the first piece that may begin.
double TimeOfPieces(const std::vector<PieceTime>& pieces, size_t cores) {
  std::vector<double> ends(pieces.size(), -1);  // negative: not begun
  std::vector<double> free(cores, 0);
  for (size_t begun = 0; begun < pieces.size(); ++begun) {
    const auto core = std::min_element(free.begin(), free.end());
    size_t next = pieces.size();
    double from = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (ends[i] >= 0) continue;
      double ready = *core;
      bool is_known = true;
      for (const size_t other : pieces[i].after) {
        is_known = is_known && ends[other] >= 0;
        ready = std::max(ready, ends[other]);
      }
      if (!is_known || (next < pieces.size() && ready >= from)) continue;
      next = i;
      from = ready;
    }
    ends[next] = *core = from + pieces[next].cpu_seconds;
  }
  return pieces.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
}

double TimeOn(const Phases& phases, size_t cores) {
  double finishing = phases.results.at(std::min(cores, kMostCores));
  for (const PieceTime& time : phases.finishing) {
    const bool is_results = &time == &phases.finishing.back();
    if (!is_results) finishing += time.cpu_seconds / static_cast<double>(cores);
  }
  return phases.reading.cpu_seconds / static_cast<double>(cores) + finishing + phases.tables.cpu_seconds +
         TimeOfPieces(phases.analyses, cores) + phases.metrics.cpu_seconds;
}

void Print(const Phases& phases) {
  const auto nanoseconds = [&](double seconds) { return seconds * 1e9 / static_cast<double>(phases.attempts); };
  const auto print = [&](const PieceTime& time) {
    std::printf("%-18s %8.0f  %s", time.name, nanoseconds(time.cpu_seconds), time.is_divisible ? "divisible" : "");
    for (const size_t other : time.after) std::printf("after %s  ", phases.analyses[other].name);
    std::printf("\n");
  };
  std::printf("%lld attempts          ns each\n", static_cast<long long>(phases.attempts));
  print(phases.reading);
  for (const PieceTime& time : phases.finishing) print(time);
  print(phases.tables);
  for (const PieceTime& time : phases.analyses) print(time);
  print(phases.metrics);
  const double work = TimeOn(phases, 1);
  constexpr size_t kAnyNumber = 1000;
  const double span = TimeOn(phases, kAnyNumber);
  std::printf("\nwork %.0f ns, longest chain %.0f ns (%.1f %%)\n", nanoseconds(work), nanoseconds(span),
              100 * span / work);
  for (const size_t cores : {2, 16, 64}) {
    std::printf("%2zu cores: %.2f times as fast as one\n", cores, work / TimeOn(phases, cores));
  }
}

}  // namespace
}  // namespace crema_benchmarks

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: work_and_span DIRECTORY [ROUNDS]\n");
    return 2;
  }
  const absl::StatusOr<crema::RecordLogs> logs = crema::FindRecordLogs({argv[1]}, "");
  if (!logs.ok()) {
    std::fprintf(stderr, "work_and_span: %s\n", std::string(logs.status().message()).c_str());
    return 1;
  }
  crema_benchmarks::Phases least = crema_benchmarks::Run(logs->logs);
  for (int round = 1; round < (argc > 2 ? std::atoi(argv[2]) : 3); ++round) {
    crema_benchmarks::KeepLeast(crema_benchmarks::Run(logs->logs), &least);
  }
  crema_benchmarks::Print(least);
  return 0;
}
