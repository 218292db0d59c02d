#include "sdk/benchmarks/ratio_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "sdk/benchmarks/measured_batch.h"

namespace crema_benchmarks {
namespace {

constexpr std::size_t kFewestUndisturbed = 5;
constexpr double kNoTarget = 0;
constexpr double kOffNanoseconds = 2;
/// The comparison of two threads with one uses four medians; this allows for their noise.
constexpr double kScalingNoise = 1.05;

struct Comparison {
  const char* what;
  const char* guard;
  int guard_threads;
  const char* limit;
  int limit_threads;
  double target;  ///< largest ratio of guard to limit
};

/// The targets are those of docs/performance.md, which says where they come from.
constexpr Comparison kComparisons[] = {
    {"section", "section", 1, "two_clocks", 1, 1.05},
    {"section, two threads at once", "section", 2, "two_clocks", 2, 1.05},
    {"section, one of 8 siblings in a loop", "siblings", 1, "two_clocks", 1, 1.5},
    {"section, one of three nested", "nested", 1, "two_clocks", 1, 1.5},
    {"section, 200 names in turn", "names_in_turn", 1, "two_clocks", 1, kNoTarget},
    {"section, 200 names at random", "names_at_random", 1, "two_clocks", 1, kNoTarget},
    {"section with CPU time", "section_cpu", 1, "two_thread_cpu_clocks", 1, 1.1},
    {"section with CPU time, two threads", "section_cpu", 2, "two_thread_cpu_clocks", 2, 1.1},
    {"memory guard", "memory", 1, "two_statms", 1, 1.15},
    {"memory guard, two threads", "memory", 2, "two_statms", 2, 1.15},
    {"activity", "activity", 1, "two_monotonic_clocks", 1, kNoTarget},
    {"helper scope", "helper", 1, "helper_readings", 1, kNoTarget},
    {"task", "task", 1, "task_readings", 1, kNoTarget},
    {"task, two threads at once", "task", 2, "task_readings", 2, kNoTarget},
    {"task that was marked as ready", "ready_task", 1, "task_readings", 1, kNoTarget},
    {"event without lines", "event", 1, "two_monotonic_clocks", 1, kNoTarget},
    {"RecordMetric", "metric", 1, "bare_metric", 1, kNoTarget},
    {"RecordMetric, counts of objects", "metric_of_counts", 1, "bare_metric", 1, kNoTarget},
    {"RecordCut", "cut", 1, "bare_metric", 1, kNoTarget},
    {"whole chunk", "chunk", 1, "chunk_calls", 1, 1.35},
    {"whole chunk, two threads at once", "chunk", 2, "chunk_calls", 2, 1.35},
};

struct Costs {
  double median_ns;
  double least_ns;
};

bool FindCosts(const RepetitionCollector& measured, const char* name, int threads, Costs* costs) {
  const Repetitions* repetitions = measured.Find(name, threads);
  if (repetitions == nullptr) return false;
  *costs = {Median(repetitions->used()), Least(repetitions->used())};
  return true;
}

/// Prints the row; returns whether it meets its target.
bool PrintRow(const char* what, Costs guard, Costs limit, double target) {
  const double ratio = guard.median_ns / limit.median_ns;
  std::printf("%-38s %9.2f %9.2f %7.2f %7.2f", what, guard.median_ns, limit.median_ns, ratio,
              guard.least_ns / limit.least_ns);
  if (target == kNoTarget) {
    std::printf("\n");
    return true;
  }
  const bool met = ratio <= target;
  std::printf(" %7.2f  %s\n", target, met ? "yes" : "NO");
  return met;
}

}  // namespace

const std::vector<double>& Repetitions::used() const {
  return undisturbed.size() >= kFewestUndisturbed ? undisturbed : all;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double Least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

bool RepetitionCollector::ReportContext(const Context&) { return true; }

void RepetitionCollector::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration) continue;
    if (run.error_occurred) {
      errors_.push_back(run.benchmark_name() + ": " + run.error_message);
      continue;
    }
    Repetitions& repetitions = repetitions_[{run.run_name.function_name, static_cast<int>(run.threads)}];
    // The library divides by the iterations of all threads together.
    const double ns = run.GetAdjustedRealTime() * static_cast<double>(run.threads);
    repetitions.all.push_back(ns);
    if (run.counters.at(kDisturbed).value == 0) repetitions.undisturbed.push_back(ns);
  }
}

const Repetitions* RepetitionCollector::Find(const std::string& name, int threads) const {
  const auto found = repetitions_.find({name, threads});
  return found == repetitions_.end() ? nullptr : &found->second;
}

int PrintRatios(const RepetitionCollector& measured) {
  int missed = 0;
  Costs guard;
  Costs limit;
  std::printf("%-38s %9s %9s %7s %7s %7s  %s\n", "", "ns", "limit ns", "ratio", "of min", "target", "ok");
  for (const Comparison& row : kComparisons) {
    if (!FindCosts(measured, row.guard, row.guard_threads, &guard)) continue;
    if (!FindCosts(measured, row.limit, row.limit_threads, &limit)) continue;
    missed += PrintRow(row.what, guard, limit, row.target) ? 0 : 1;
  }
  if (FindCosts(measured, "section_off", 1, &guard)) {
    missed += PrintRow("section, recording off (limit in ns)", guard, {kOffNanoseconds, kOffNanoseconds}, 1) ? 0 : 1;
  }
  // The limit is the slowdown of the bare system calls on two threads; crema may add nothing to it.
  Costs calls_of_one;
  Costs calls_of_two;
  if (FindCosts(measured, "chunk_calls", 1, &calls_of_one) && FindCosts(measured, "chunk_calls", 2, &calls_of_two) &&
      FindCosts(measured, "chunk", 1, &limit) && FindCosts(measured, "chunk", 2, &guard)) {
    PrintRow("its system calls, two threads to one", calls_of_two, calls_of_one, kNoTarget);
    const double write_limit = std::max(1.0, calls_of_two.median_ns / calls_of_one.median_ns);
    missed += PrintRow("whole chunk, two threads to one", guard, limit, kScalingNoise * write_limit) ? 0 : 1;
  }
  return missed;
}

}  // namespace crema_benchmarks
