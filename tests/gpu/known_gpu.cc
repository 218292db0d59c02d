// Chunks with known work on the device, on the GPU of stand_in_cupti.h. Prints only what a scenario asks for.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "crema/crema.h"
#include "stand_in_cupti.h"

namespace {

constexpr std::uint64_t kMillisecond = 1000000;

/// The functions of the library that STAND_IN_LIBRARY names. It is found at run time, as CUDA's driver is.
struct StandIn {
  decltype(&stand_in_init) init;
  decltype(&stand_in_launch) launch;
  decltype(&stand_in_graph) graph;
  decltype(&stand_in_copy) copy;
  decltype(&stand_in_copy_peer) copy_peer;
  decltype(&stand_in_fill) fill;
  decltype(&stand_in_synchronize) synchronize;
  decltype(&stand_in_mixed_buffers) mixed_buffers;
};

const StandIn& Gpu() {
  static const StandIn kGpu = [] {
    StandIn found{};
    void* const library = dlopen(std::getenv("STAND_IN_LIBRARY"), RTLD_NOW | RTLD_GLOBAL);
    const auto find = [library](auto* function, const char* name) {
      *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
      if (*function == nullptr) std::abort();
    };
    find(&found.init, "stand_in_init");
    find(&found.launch, "stand_in_launch");
    find(&found.graph, "stand_in_graph");
    find(&found.copy, "stand_in_copy");
    find(&found.copy_peer, "stand_in_copy_peer");
    find(&found.fill, "stand_in_fill");
    find(&found.synchronize, "stand_in_synchronize");
    find(&found.mixed_buffers, "stand_in_mixed_buffers");
    return found;
  }();
  return kGpu;
}

void* Profiler() {
  static void* const kLibrary = dlopen(std::getenv("STAND_IN_PROFILER"), RTLD_LAZY);
  return kLibrary;
}

void Spin(std::uint64_t nanoseconds) {
  timespec begin{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000ull + now.tv_nsec - begin.tv_nsec < nanoseconds);
}

/// 1 kernel of 3 ms and 4 of 1 ms in `infer`, 2 MB to the device in `upload`, 1 MB back in `download`.
void RunChunk(int thread, int chunk, bool spins) {
  const auto first = std::int64_t{1000} * (100 * thread + chunk);
  crema::TrackMetrics guard({thread % 2 == 0 ? "even" : "odd", "f.root", first, first + 1000});
  {
    const crema::TrackSection section("upload");
    Gpu().copy(1, 2000000, kMillisecond);
    Gpu().synchronize(spins);
  }
  {
    const crema::TrackSection section("infer");
    Gpu().launch("_Z6LayersPf", 3 * kMillisecond);
    for (int i = 0; i < 4; ++i) Gpu().launch("_Z4Reluv", kMillisecond);
    Gpu().synchronize(spins);
  }
  {
    const crema::TrackSection section("download");
    Gpu().copy(2, 1000000, kMillisecond / 2);
    Gpu().synchronize(spins);
  }
  Spin(2 * kMillisecond);
  guard.SetEvents(1000);
}

void RunThreads(int threads, int chunks, bool spins) {
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back([=] {
      for (int j = 0; j < chunks; ++j) RunChunk(i, j, spins);
    });
  }
  for (std::thread& thread : pool) thread.join();
}

}  // namespace

int main(int /*argc*/, char** argv) {
  const std::string scenario = argv[1];
  if (scenario == "profiler") Gpu(), Profiler();  // as PyTorch, which is loaded before CUDA begins
  if (scenario == "fork first") {  // as Python's multiprocessing; each of the two begins with CUDA itself
    const pid_t child = fork();
    Gpu().init();
    RunThreads(1, child == 0 ? 2 : 3, true);
    if (child != 0) waitpid(child, nullptr, 0);
    return 0;
  }
  if (scenario != "no cuda") Gpu().init();
  if (scenario == "spin" || scenario == "block") RunThreads(2, 5, scenario == "spin");
  if (scenario == "no cuda") crema::TrackMetrics chunk({"even", "f.root", 0, 1});
  if (scenario == "outside") {
    Gpu().launch("_Z6LayersPf", kMillisecond);
    const crema::TrackSection section("warm up");
    Gpu().graph("_Z4Reluv", 7, kMillisecond);
    Gpu().fill(500, 1000);
    Gpu().copy_peer(700, 1000);
    Gpu().copy(8, 300, 1000);
    Gpu().synchronize(false);
  }
  if (scenario == "two streams") {  // calls return at once, so both kernels are on the device at the same time
    const crema::TrackSection section("both");
    std::thread([] { Gpu().launch("_Z6LayersPf", 500 * kMillisecond); }).join();
    Gpu().launch("_Z6LayersPf", 500 * kMillisecond);
    Gpu().synchronize(false);
  }
  if (scenario == "late") {  // the device works on when the chunk has ended
    {
      crema::TrackMetrics chunk({"even", "f.root", 0, 1});
      Gpu().launch("_Z6LayersPf", 30 * kMillisecond);
    }
    usleep(60000);
  }
  if (scenario == "endless") {  // the program ends before the device
    crema::TrackMetrics chunk({"even", "f.root", 0, 1});
    Gpu().launch("_Z6LayersPf", kMillisecond);
    Gpu().synchronize(false);
    Gpu().launch("_Z6LayersPf", 1000000 * kMillisecond);
  }
  if (scenario == "helper") {
    crema::TrackMetrics chunk({"even", "f.root", 0, 1});
    const crema::TrackSection section("outer");
    const crema::ChunkHandle handle = chunk.handle();
    std::thread([handle] {
      crema::TrackHelper helper(handle);
      const crema::TrackSection inner("inner");
      Gpu().launch("_Z6LayersPf", kMillisecond);
      Gpu().synchronize(true);
    }).join();
  }
  if (scenario == "stale helper") {  // it outlives its chunk, whose thread goes on with other sections in its memory
    std::atomic<bool> is_begun{false}, is_over{false};
    std::thread helping;
    for (int i = 0; i < 20; ++i) {
      crema::TrackMetrics chunk({"even", "f.root", i, i + 1});
      const crema::TrackSection section("outer " + std::to_string(i % 2));
      if (i == 0) {
        helping = std::thread([&, handle = chunk.handle()] {
          crema::TrackHelper helper(handle);
          const crema::TrackSection inner("inner");
          Gpu().launch("_Z6LayersPf", kMillisecond);
          is_begun = true;
          while (!is_over) Gpu().launch("_Z4Reluv", 1);
          Gpu().synchronize(false);
        });
        while (!is_begun) std::this_thread::yield();
      }
      for (int j = 0; j < 600; ++j) crema::TrackSection("section " + std::to_string(600 * i + j));
    }
    is_over = true;
    helping.join();
  }
  if (scenario == "helpers") {  // of one thread, in the sections of two chunks
    std::vector<crema::ChunkHandle> handles;
    crema::TrackMetrics first({"even", "f.root", 0, 1});
    const crema::TrackSection of_first("first");
    handles.push_back(first.handle());
    crema::TrackMetrics second({"odd", "f.root", 1, 2});
    const crema::TrackSection of_second("second");
    handles.push_back(second.handle());
    std::thread([&handles] {
      for (int i = 0; i < 4; ++i) {
        crema::TrackHelper helper(handles[i % 2]);
        Gpu().launch("_Z4Reluv", kMillisecond);
        const crema::TrackSection inner("inner");
        Gpu().launch("_Z6LayersPf", kMillisecond);
        Gpu().synchronize(false);
      }
    }).join();
  }
  if (scenario == "profiler" || scenario == "late profiler") {
    RunThreads(1, 2, true);
    if (scenario == "late profiler") {
      Profiler();
      usleep(600000);  // until it is noticed
    }
    reinterpret_cast<void (*)()>(dlsym(Profiler(), "profiler_start"))();
    RunThreads(1, 3, true);
    const auto records = reinterpret_cast<std::uint64_t (*)()>(dlsym(Profiler(), "profiler_records"));
    std::printf("%lu %lu\n", records(), Gpu().mixed_buffers());
  }
  if (scenario == "fork") {
    RunThreads(1, 1, true);
    const pid_t child = fork();
    if (child == 0) {
      { crema::TrackMetrics chunk({"even", "g.root", 0, 1}); }
      std::exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  if (scenario == "exec") {
    RunThreads(1, 1, true);
    const pid_t child = fork();
    if (child == 0) {
      execl(argv[0], argv[0], "outside", nullptr);
      _exit(127);
    }
    waitpid(child, nullptr, 0);
  }
  if (scenario == "judged") RunThreads(1, 450, true);  // long enough to be sampled
  if (scenario == "killed") {
    for (int i = 0; i < 200; ++i) RunChunk(0, i, true);
    std::fflush(stdout);
    kill(getpid(), SIGKILL);
  }
  return 0;
}
