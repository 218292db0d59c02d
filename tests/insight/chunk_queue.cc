// Threads take chunks from a queue; what chunks take is known: chunk_queue LANES CHUNKS SEED CPU_SHARE SECTION_FACTOR
// EVENTS_FACTOR [COUNTER SLOWER]. A chunk of e events (500 to 2950, times EVENTS_FACTOR; the same for any SEED) takes 2
// ms + e x 10 us, times a random factor about 1, of which CPU_SHARE is spent computing and the rest asleep; 60 % of it
// are in the section `select`, which is SECTION_FACTOR times as fast. Chunks are of 20 files in turn, and have
// ranges; with the same SEED they are the same. Processes with the same file COUNTER (8 bytes, zeros) share a queue; in
// one of them chunks take SLOWER times as long.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

constexpr int kFiles = 20;

struct Chunk {
  std::int64_t events = 0;
  double seconds = 0;
  std::string file;
  std::int64_t first = 0;
};

double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void Work(double seconds, double cpu_share) {
  const double until = ThreadCpuSeconds() + seconds * cpu_share;
  while (ThreadCpuSeconds() < until) {  // a system call: seldom, or it is most of the work
    for (volatile int step = 0; step < 20000; step = step + 1) {
    }
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds * (1 - cpu_share)));
}

// The number of the next chunk, shared by all processes that have the file.
std::atomic<std::uint64_t>* SharedCounter(const char* file) {
  const int descriptor = open(file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<std::uint64_t>*>(memory);
}

}  // namespace

int main(int count, char** values) {
  if (count != 7 && count != 9) return 2;
  const int lanes = std::atoi(values[1]), chunks = std::atoi(values[2]);
  std::mt19937_64 random(static_cast<std::uint64_t>(std::atoi(values[3])));
  const double cpu_share = std::atof(values[4]), section_factor = std::atof(values[5]),
               events_factor = std::atof(values[6]), slower = count == 9 ? std::atof(values[8]) : 1;
  std::lognormal_distribution<double> noise(0, 0.3);
  std::vector<Chunk> queue;
  std::int64_t next_entry[kFiles] = {};
  for (int i = 0; i < chunks; ++i) {
    const auto events = static_cast<std::int64_t>((500 + 50 * (i * 37 % 50)) * events_factor);
    std::int64_t& next_of_file = next_entry[i % kFiles];
    queue.push_back({events, (0.002 + 1e-5 * static_cast<double>(events)) * noise(random),
                     "file" + std::to_string(i % kFiles), next_of_file});
    next_of_file += events;
  }
  std::atomic<std::uint64_t> own{0};
  std::atomic<std::uint64_t>* next = count == 9 ? SharedCounter(values[7]) : &own;
  if (next == nullptr) return 1;
  std::vector<std::thread> threads;
  for (int lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&] {
      for (std::uint64_t i = (*next)++; i < queue.size(); i = (*next)++) {
        const Chunk& next_chunk = queue[i];
        crema::TrackMetrics chunk({"made", next_chunk.file, next_chunk.first, next_chunk.first + next_chunk.events});
        chunk.SetEvents(next_chunk.events);
        {
          crema::TrackSection select("select");
          Work(0.6 * slower * next_chunk.seconds / section_factor, cpu_share);
        }
        Work(0.4 * slower * next_chunk.seconds, cpu_share);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
