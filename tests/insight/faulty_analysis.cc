// An analysis with one fault planted: faulty_analysis FAULT SEED. `none` has no fault but that its chunks sleep;
// `healthy` computes. Two lanes take 160 chunks of 8 files from a queue; a chunk of e events (600 to 1400) takes 0.1 ms
// + e x 12 us and some noise. verdicts_test.py has the faults, and what is found.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

constexpr int kLanes = 2, kChunks = 160, kFiles = 8;

std::string_view g_fault;
thread_local std::vector<char> t_kept;  // what `memory-growth` never gives back
// What `leaking-section` never gives back, not even when its thread ends.
thread_local auto* t_pieces = new std::vector<std::vector<char>>();

double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void Compute(double seconds) {
  const double until = ThreadCpuSeconds() + seconds;
  while (ThreadCpuSeconds() < until) {
    for (volatile int i = 0; i < 20'000; i = i + 1) {  // else the kernel reads clocks most of the time
    }
  }
}

bool Is(std::string_view fault) { return g_fault == fault; }

bool Computes() {
  return Is("healthy") || Is("compute-bound") || Is("hot-section") || Is("cpu-contention") || Is("oversubscribed");
}

void Work(double seconds) { Computes() ? Compute(seconds) : Sleep(seconds); }

struct Chunk {
  int number = 0;
  std::int64_t events = 0;
  std::int64_t first = 0;
  double seconds = 0;
};

std::vector<Chunk> Chunks(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(1, 0.03);
  std::vector<Chunk> chunks;
  std::int64_t next_entry[kFiles] = {};
  const int count = Is("too-few-chunks") ? 3 : kChunks;
  for (int i = 0; i < count; ++i) {
    Chunk chunk;
    chunk.number = i;
    chunk.events = 600 + 200 * (i * 7 % 5);
    double fixed = 1e-4, factor = noise(random);
    if (Is("too-few-chunks")) chunk.events = i == 2 ? 150'000 : 50'000;
    if (Is("chunks-too-small")) fixed = 0.06;
    if (Is("oversized-chunks") && i == count - 1) chunk.events *= 40;
    if (Is("stragglers") && i % 20 == 7) factor = 8;
    if (Is("skewed-dataset") && i % 9 == 4) factor = 16;
    if (Is("long-tail") && i == count - 1) factor = 40;
    if (Is("slow-file") && i % kFiles == 3) factor *= 8;
    if (Is("slow-spell") && i >= 60 && i < 90) factor *= 4;
    chunk.first = next_entry[i % kFiles];
    next_entry[i % kFiles] += chunk.events;
    chunk.seconds = (fixed + 1.2e-5 * static_cast<double>(chunk.events)) * factor;
    chunks.push_back(chunk);
  }
  return chunks;
}

void Request(const Chunk& chunk, std::string_view server, int times, double seconds, std::int64_t bytes) {
  for (int i = 0; i < times; ++i) {
    crema::TrackRequest request(server, "read", bytes);
    Sleep(seconds);
  }
  (void)chunk;
}

// False: the attempt failed.
bool Process(const Chunk& chunk, bool is_repeat, double pace) {
  const std::string file = "file" + std::to_string(chunk.number % kFiles);
  crema::TrackMetrics metrics({"made", file, chunk.first, chunk.first + chunk.events});
  const double seconds = chunk.seconds * pace;
  {
    crema::TrackSection read("read");
    Work((Is("hot-section") ? 0.05 : 0.35) * seconds);
    if (Is("slow-server")) {
      const bool slow = chunk.number % 2 == 0;
      Request(chunk, slow ? "root://slow.example" : "root://quick.example", 2, slow ? 0.02 : 0.002, 2'000'000);
    }
    if (Is("many-small-reads")) Request(chunk, "root://quick.example", 10, 5e-4, 500);
    if (Is("low-compression")) metrics.AddBytesRead(1'000'000, 1'050'000);
  }
  {
    crema::TrackSection select("select");
    Work((Is("hot-section") ? 0.9 : 0.35) * seconds);
    if (Is("leaking-section")) t_pieces->emplace_back(100'000);
  }
  if (Is("instrumentation-heavy")) {
    for (int i = 0; i < 60'000; ++i) crema::TrackSection every_event("every event");
  }
  {
    crema::TrackSection fill("fill");
    Work((Is("hot-section") ? 0.05 : 0.3) * seconds);
  }
  if (Is("memory-growth")) t_kept.resize(t_kept.size() + (2 << 20), 1);
  const bool fails =
      (Is("failing-chunks") && chunk.number % 10 == 3) || (Is("retry-waste") && chunk.number % 8 == 3 && !is_repeat);
  if (fails) {
    metrics.Fail("planted");
    return false;
  }
  metrics.SetEvents(chunk.events);
  return true;
}

void RunLane(const std::vector<Chunk>& chunks, std::atomic<std::size_t>* next, double pace) {
  for (std::size_t i = (*next)++; i < chunks.size(); i = (*next)++) {
    if (!Process(chunks[i], false, pace) && Is("retry-waste")) Process(chunks[i], true, pace);
    if (Is("idle-workers")) Sleep(0.01);
  }
}

void RunThreads(const std::vector<Chunk>& chunks, int lanes) {
  if (Is("startup-dominated")) Sleep(1.5);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int lane = 0; lane < lanes; ++lane) threads.emplace_back([&] { RunLane(chunks, &next, 1); });
  for (std::thread& thread : threads) thread.join();
}

// Each of several processes has its part of the chunks, and one lane.
void RunProcesses(const std::vector<Chunk>& chunks, int count) {
  for (int process = 0; process < count; ++process) {
    if (Is("scaling-lag") && process == 1) Sleep(11);  // while the first one works
    if (Is("no-workers") && process == 1) {
      wait(nullptr);
      Sleep(1.5);
    }
    if (fork() > 0) continue;
    std::vector<Chunk> own;
    for (const Chunk& chunk : chunks) {
      if (chunk.number / kFiles % count == process) own.push_back(chunk);
    }
    if (Is("worker-loss") && process == 1) {
      own.resize(own.size() / 2);
      std::atomic<std::size_t> next{0};
      RunLane(own, &next, 1);
      crema::TrackMetrics open({"made", "file0", 0, 1});
      kill(getpid(), SIGKILL);
    }
    std::atomic<std::size_t> next{0};
    double pace = Is("slow-worker") && process == 1 ? 5 : 1;
    if (Is("scaling-lag")) pace = process == 0 ? 30 : 5;
    RunLane(own, &next, pace);
    std::exit(0);
  }
  while (wait(nullptr) > 0) {
  }
}

}  // namespace

int main(int count, char** values) {
  if (count != 3) return 2;
  g_fault = values[1];
  const std::vector<Chunk> chunks = Chunks(static_cast<unsigned>(std::atoi(values[2])));
  if (Is("no-workers")) {
    RunProcesses(chunks, 2);
  } else if (Is("worker-loss") || Is("slow-worker") || Is("scaling-lag")) {
    RunProcesses(chunks, 4);
  } else {
    RunThreads(chunks, Is("healthy") ? 1 : (Is("cpu-contention") || Is("oversubscribed") ? 6 : kLanes));
  }
}
