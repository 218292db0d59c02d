// What a chunk costs its thread where others end chunks as fast as they can, compared with one thread in the same run:
//
//     bazel run //sdk/benchmarks:chunk_threads -- DIRECTORY 1 8 16
//
// The figures mean something on a machine with as many free cores.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

constexpr int kRounds = 9;
constexpr int kChunks = 5000;  // of a thread
constexpr int kWarmUp = 500;   // long enough for threads to move to other logs

struct Cost {
  double us = 0;  ///< of a chunk, on its thread
  long logs = 0;
};

void RecordChunks(int chunks) {
  for (int i = 0; i < chunks; ++i) const crema::TrackMetrics chunk({"ttbar", "/data/events.root", i, i + 1});
}

/// In a process of its own, so that each count of threads begins with one log.
double Measure(const std::string& directory, int threads) {
  crema::Options options;
  options.directory = directory;
  options.interval_seconds = 0;
  if (!crema::Enable(options)) return 0;
  std::atomic<int> ready{0};
  std::atomic<std::int64_t> sum_ns{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      RecordChunks(kWarmUp);
      ++ready;
      while (ready < threads) std::this_thread::yield();
      const auto start = std::chrono::steady_clock::now();
      RecordChunks(kChunks);
      sum_ns += (std::chrono::steady_clock::now() - start).count();
    });
  }
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(sum_ns) / threads / kChunks / 1000;
}

Cost MeasureInChild(const std::string& parent, int threads) {
  Cost cost;
  std::string directory = parent + "/chunk-threads-XXXXXX";
  int result[2];
  if (mkdtemp(directory.data()) == nullptr || pipe(result) != 0) return cost;
  const pid_t child = fork();
  if (child == 0) {
    const double us = Measure(directory, threads);
    exit(write(result[1], &us, sizeof us) == static_cast<ssize_t>(sizeof us) ? 0 : 1);
  }
  if (child < 0 || waitpid(child, nullptr, 0) != child || read(result[0], &cost.us, sizeof cost.us) <= 0) cost.us = 0;
  close(result[0]);
  close(result[1]);
  const std::filesystem::directory_iterator logs(directory);
  cost.logs = std::distance(begin(logs), end(logs));
  std::filesystem::remove_all(directory);
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "/tmp";
  std::vector<int> counts;
  for (int i = 2; i < argc; ++i) counts.push_back(atoi(argv[i]));
  if (counts.empty()) counts = {1, 8, 16};
  std::map<int, std::vector<double>> us;
  std::map<int, long> logs;
  for (int round = 0; round < kRounds; ++round) {
    for (const int threads : counts) {
      const Cost cost = MeasureInChild(directory, threads);
      us[threads].push_back(cost.us);
      logs[threads] = std::max(logs[threads], cost.logs);
    }
  }
  double first = 0;
  for (const int threads : counts) {
    std::vector<double>& all = us[threads];
    std::nth_element(all.begin(), all.begin() + kRounds / 2, all.end());
    if (first == 0) first = all[kRounds / 2];
    printf("%3d threads %9.2f us a chunk %6.2f x %2d threads %3ld logs\n", threads, all[kRounds / 2],
           all[kRounds / 2] / first, counts.front(), logs[threads]);
  }
  return first > 0 ? 0 : 1;
}
