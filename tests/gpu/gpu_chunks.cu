// Chunks whose work on the GPU is known three times: what was planted, what each kernel measures of itself with the
// device's clock, and what CUDA events say. Prints one JSON object.
//   gpu_chunks THREADS CHUNKS [block] [no-guards] [kill]
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

constexpr int kUploadBytes = 16 << 20, kDownloadBytes = 4 << 20;

/// Kernels of each section, and how long each of them lasts.
struct Work {
  const char* section;
  int kernels;
  long long kernel_ns;
};
constexpr Work kWork[] = {{"short", 20, 100000}, {"medium", 5, 1000000}, {"long", 2, 4000000}};
constexpr int kSections = 3;
constexpr Work kGraph = {"graph", 4, 500000};
constexpr long long kHostNanoseconds = 5000000;

__device__ unsigned long long DeviceClock() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void SpinFor(long long nanoseconds, unsigned long long* sum) {
  const unsigned long long begin = DeviceClock();
  unsigned long long now = begin;
  while (static_cast<long long>(now - begin) < nanoseconds) now = DeviceClock();
  *sum += now - begin;
}
__global__ void Nothing() {}

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

struct Sums {
  double events[kSections + 1] = {};
  unsigned long long measured[kSections + 1] = {};
  double upload = 0, download = 0;
};

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\":\"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// What one thread does: its own stream.
void Run(int thread, int chunks, bool has_guards, Sums* sums) {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  char *device, *host;
  unsigned long long* measured;
  // Else the capture of one thread forbids fills and copies of the others.
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  Check(cudaEventCreate(&begin), "event");
  Check(cudaEventCreate(&end), "event");
  Check(cudaMalloc(&device, kUploadBytes), "memory");
  Check(cudaMallocHost(&host, kUploadBytes), "host memory");
  Check(cudaMalloc(&measured, (kSections + 1) * sizeof *measured), "memory");
  std::memset(host, 0, kUploadBytes);
  Check(cudaMemsetAsync(measured, 0, (kSections + 1) * sizeof *measured, stream), "fill");
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < kGraph.kernels; ++i) SpinFor<<<1, 1, 0, stream>>>(kGraph.kernel_ns, measured + kSections);
  Check(cudaStreamEndCapture(stream, &graph), "capture");
  Check(cudaGraphInstantiate(&executable, graph, 0), "graph");

  const auto timed = [&](auto&& launch) {
    float milliseconds = 0;
    Check(cudaEventRecord(begin, stream), "event");
    launch();
    Check(cudaGetLastError(), "launch");
    Check(cudaEventRecord(end, stream), "event");
    Check(cudaStreamSynchronize(stream), "synchronisation");
    Check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    return milliseconds * 1e-3;
  };
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const long long first = 1000LL * (chunk + 1000000LL * thread);
    std::unique_ptr<crema::TrackMetrics> guard;
    if (has_guards) {
      guard = std::make_unique<crema::TrackMetrics>(
          crema::Chunk{thread % 2 == 0 ? "even" : "odd", "f.root", first, first + 1000});
      guard->SetEvents(1000);
    }
    {
      const crema::TrackSection section("upload");
      sums->upload += timed([&] { cudaMemcpyAsync(device, host, kUploadBytes, cudaMemcpyHostToDevice, stream); });
    }
    for (int i = 0; i < kSections; ++i) {
      const crema::TrackSection section(kWork[i].section);
      sums->events[i] += timed([&] {
        for (int k = 0; k < kWork[i].kernels; ++k) SpinFor<<<1, 1, 0, stream>>>(kWork[i].kernel_ns, measured + i);
      });
    }
    {
      const crema::TrackSection section(kGraph.section);
      sums->events[kSections] += timed([&] { cudaGraphLaunch(executable, stream); });
    }
    {
      const crema::TrackSection section("download");
      sums->download += timed([&] { cudaMemcpyAsync(host, device, kDownloadBytes, cudaMemcpyDeviceToHost, stream); });
    }
    const double until = Seconds(CLOCK_MONOTONIC) + kHostNanoseconds * 1e-9;
    while (Seconds(CLOCK_MONOTONIC) < until) {
    }
  }
  Check(cudaMemcpyAsync(sums->measured, measured, sizeof sums->measured, cudaMemcpyDeviceToHost, stream), "result");
  Check(cudaStreamSynchronize(stream), "result");
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1, chunks = argc > 2 ? std::atoi(argv[2]) : 20;
  bool blocks = false, has_guards = true, is_killed = false;
  for (int i = 3; i < argc; ++i) {
    blocks |= std::string(argv[i]) == "block";
    has_guards &= std::string(argv[i]) != "no-guards";
    is_killed |= std::string(argv[i]) == "kill";
  }
  if (blocks) cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
  Check(cudaFree(nullptr), "CUDA");
  cudaFuncAttributes unused;  // loads the kernel: CUDA does it late, and not beside a capture
  Check(cudaFuncGetAttributes(&unused, SpinFor), "kernel");
  const double wall = Seconds(CLOCK_MONOTONIC), cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  std::vector<Sums> sums(threads);
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back(Run, i, chunks, has_guards, &sums[i]);
  for (std::thread& thread : pool) thread.join();
  std::printf("{\"threads\":%d,\"chunks\":%d,\"wall\":%.6f,\"cpu\":%.6f,\"host\":%.6f,\"sections\":{", threads,
              threads * chunks, Seconds(CLOCK_MONOTONIC) - wall, Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
              threads * chunks * kHostNanoseconds * 1e-9);
  double upload = 0, download = 0;
  for (int i = 0; i <= kSections; ++i) {
    const Work& work = i == kSections ? kGraph : kWork[i];
    double events = 0, measured = 0;
    for (const Sums& sum : sums) events += sum.events[i], measured += sum.measured[i] * 1e-9;
    std::printf("%s\"%s\":{\"kernels\":%d,\"planted\":%.6f,\"measured\":%.6f,\"events\":%.6f}", i == 0 ? "" : ",",
                work.section, threads * chunks * work.kernels, threads * chunks * work.kernels * work.kernel_ns * 1e-9,
                measured, events);
  }
  for (const Sums& sum : sums) upload += sum.upload, download += sum.download;
  std::printf("},\"upload\":{\"bytes\":%lld,\"events\":%.6f},\"download\":{\"bytes\":%lld,\"events\":%.6f}",
              1LL * threads * chunks * kUploadBytes, upload, 1LL * threads * chunks * kDownloadBytes, download);

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  double launch = 1, synchronisation = 1;
  for (int repetition = 0; repetition < 5; ++repetition) {
    constexpr int kCalls = 20000;
    cudaStreamSynchronize(stream);
    double begin = Seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < kCalls; ++i) Nothing<<<1, 32, 0, stream>>>();
    launch = std::min(launch, (Seconds(CLOCK_MONOTONIC) - begin) / kCalls);
    cudaStreamSynchronize(stream);
    begin = Seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < kCalls; ++i) cudaStreamSynchronize(stream);
    synchronisation = std::min(synchronisation, (Seconds(CLOCK_MONOTONIC) - begin) / kCalls);
  }
  std::printf(",\"launch_us\":%.3f,\"synchronize_us\":%.3f,\"empty_launches\":100000}\n", launch * 1e6,
              synchronisation * 1e6);
  std::fflush(stdout);
  if (is_killed) {
    crema::Flush();
    kill(getpid(), SIGKILL);
  }
}
