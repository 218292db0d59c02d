// A program for allocators: threads that come and go, forks meanwhile, memory that it takes and touches.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

constexpr int kForks = 20;
constexpr int kThreads = 10;
constexpr std::size_t kBytes = 64 << 20;

void Chunk(const char* dataset) {
  crema::TrackMetrics metrics(dataset);
  for (std::size_t i = 1; i < 20; ++i) {
    crema::TrackSection section("take");
    void* memory = std::malloc(100 * i);
    std::memset(memory, 1, 100 * i);
    crema::TrackSection inner("give");
    std::free(memory);
  }
}

/// Records as its thread ends.
struct Last {
  ~Last() { Chunk("last"); }
};

void TakeAndTouch() {
  crema::TrackMetrics metrics("memory");
  crema::TrackMemory memory("64 MiB");
  auto* bytes = static_cast<volatile char*>(std::malloc(kBytes));
  for (std::size_t i = 0; i < kBytes; i += 4096) bytes[i] = 1;
}

}  // namespace

int main() {
  TakeAndTouch();
  std::atomic<bool> ends{false};
  std::thread others([&ends] {
    while (!ends) Chunk("others");
  });
  int failed = 0;
  for (int i = 0; i < kForks; ++i) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([] {
        thread_local Last last;
        static_cast<void>(&last);
        Chunk("thread");
      });
    }
    const pid_t child = fork();
    if (child == 0) {
      Chunk("child");
      std::thread([] { Chunk("child"); }).join();
      std::exit(0);
    }
    for (std::thread& thread : threads) thread.join();
    int status = -1;
    failed += waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
  }
  ends = true;
  others.join();
  return failed;
}
