// Records chunks on many threads, on a disk so slow that nearly all of them are writing at any time:
// `crowded_program THREADS CHUNKS`. With a third argument, `kill`, it is killed with a chunk open on each thread.
// Prints how many chunks ended.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/faked_kernel.h"

namespace {

constexpr int kEvents = 10;

void RecordChunk(int number) {
  crema::TrackMetrics chunk({"ttbar", "/data/events.root", number * kEvents, (number + 1) * kEvents});
  crema::TrackSection section("read");
  chunk.SetEvents(kEvents);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int threads = atoi(argv[1]);
  const int chunks = atoi(argv[2]);
  const bool is_killed = argc > 3 && strcmp(argv[3], "kill") == 0;
  crema::testing::Kernel().slow_writes_us = 1000;
  std::atomic<int> done{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      for (int k = 0; k < chunks; ++k) RecordChunk(i * chunks + k);
      if (!is_killed) return;
      const crema::TrackMetrics open({"ttbar", "/data/open.root", i, i + 1});
      ++done;
      while (true) pause();
    });
  }
  printf("%d\n", threads * chunks);
  fflush(stdout);
  while (is_killed && done < threads) usleep(1000);
  if (is_killed) kill(getpid(), SIGKILL);
  for (std::thread& thread : running) thread.join();
}
