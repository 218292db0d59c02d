#include "sdk/benchmarks/measured_batch.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>

namespace crema_benchmarks {
namespace {

constexpr int kMostThreads = 64;
constexpr int kSpins = 10000;
/// If the threads ran together for less than this share of the time, shared resources cost too little.
constexpr double kLeastOverlap = 0.8;

std::atomic<int> g_arrived{0};
std::atomic<int> g_round{0};

struct Batch {
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point stop;
};
Batch g_batches[kMostThreads];

}  // namespace

std::int64_t InvoluntarySwitches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

void Rendezvous(int threads) {
  const int round = g_round.load();
  if (g_arrived.fetch_add(1) + 1 == threads) {
    g_arrived.store(0);
    g_round.fetch_add(1);
    return;
  }
  for (int spins = 0; g_round.load() == round; ++spins) {
    if (spins > kSpins) sched_yield();  // the others may be waiting for this core
  }
}

void NoteBatch(int thread, std::chrono::steady_clock::time_point start, std::chrono::steady_clock::time_point stop) {
  if (thread < kMostThreads) g_batches[thread] = {start, stop};
}

bool Overlapped(int threads) {
  Batch common = g_batches[0];
  Batch whole = g_batches[0];
  for (int i = 1; i < std::min(threads, kMostThreads); ++i) {
    common = {std::max(common.start, g_batches[i].start), std::min(common.stop, g_batches[i].stop)};
    whole = {std::min(whole.start, g_batches[i].start), std::max(whole.stop, g_batches[i].stop)};
  }
  const std::chrono::duration<double> together = common.stop - common.start;
  const std::chrono::duration<double> all = whole.stop - whole.start;
  return together >= kLeastOverlap * all;
}

}  // namespace crema_benchmarks
