// Measures what tracking costs the event loop of this example on one thread: with and without it, in turns.
//
//   loop_cost FILE [ROUNDS]              CPU time: prints ratio and cost of a chunk, beside their limits
//   loop_cost FILE on|off ENTRIES        one loop, for callgrind (loop_cost.py); ENTRIES in a chunk, 0: a file
//
// FILE is one of those that `replicate` writes.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis.h"
#include "crema/root.h"

namespace {

constexpr double kMostRatio = 1.01;
constexpr double kMostMicroseconds = 50;  ///< of a chunk
constexpr long kLargeChunk = 10'000;
constexpr long kSmallChunk = 100;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Switch(bool on) {
  if (!on) return crema::Disable();
  crema::Options options;
  options.directory = std::filesystem::temp_directory_path() / "crema_loop_cost";
  options.interval_seconds = -1;
  crema::Enable(options);
}

struct Loop {
  double seconds = 0;
  unsigned long long events = 0;
};

/// `entries` 0: without tracking.
Loop Run(const std::string& path, long entries) {
  Switch(entries > 0);
  crema::DataFrameOptions options("cost");
  options.entries_per_chunk = entries;
  const double start = CpuSeconds();
  const auto found = root_muons::Analyze(path, options);
  return {CpuSeconds() - start, found.events};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const std::string& path, int rounds) {
  std::vector<double> off_seconds;
  std::vector<double> ratios;
  std::vector<double> chunk_microseconds;
  Run(path, 0);  // caches
  for (int round = 0; round < rounds; ++round) {
    const Loop off = Run(path, 0);
    const Loop large = Run(path, kLargeChunk);
    const Loop small = Run(path, kSmallChunk);
    const Loop again = Run(path, 0);
    const double without = (off.seconds + again.seconds) / 2;
    off_seconds.push_back(without);
    ratios.push_back(large.seconds / without);
    const double chunks = static_cast<double>(off.events) / kSmallChunk;
    chunk_microseconds.push_back(1e6 * (small.seconds - without) / chunks);
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf("loop without tracking: %.3f s of CPU (median of %d)\n", Median(off_seconds), rounds);
  std::printf("with chunks of %ld events: x %.4f (median; %.4f to %.4f), limit %.2f\n", kLargeChunk, Median(ratios),
              *least, *most, kMostRatio);
  std::printf("a chunk: %.1f us (median), limit %.0f us\n", Median(chunk_microseconds), kMostMicroseconds);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: loop_cost FILE [ROUNDS | on|off ENTRIES]\n");
    return 2;
  }
  if (count == 4) {
    Run(arguments[1], std::string(arguments[2]) == "on" ? std::atol(arguments[3]) : 0);
    return 0;
  }
  Compare(arguments[1], count > 2 ? std::atoi(arguments[2]) : 11);
}
