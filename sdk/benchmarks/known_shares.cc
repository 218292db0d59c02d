// Three functions that take known parts of the CPU time of chunks: for stacks_shares.py.
//
//   known_shares SECONDS CHUNK_MICROSECONDS [hop]
//
// Prints the part that each took by the thread's CPU clock. With `hop` each chunk goes to another thread inside.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "crema/crema.h"

namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Loops with code of their own, so that the linker does not fold them into one.
template <int kWhich>
void Loop(std::int64_t rounds) {
  volatile double value = kWhich;
  for (std::int64_t i = 0; i < rounds; ++i) value = value * 1.0000001 + kWhich;
}

/// Two threads that work in turns.
class Baton {
 public:
  explicit Baton(int threads) { pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(threads)); }
  void Pass() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_{};
};

}  // namespace

// Names without a namespace, as nm(1) shows them.
extern "C" {
__attribute__((noinline)) void SixTenths(std::int64_t unit) { Loop<2>(6 * unit); }
__attribute__((noinline)) void ThreeTenths(std::int64_t unit) { Loop<3>(3 * unit); }
__attribute__((noinline)) void OneTenth(std::int64_t unit) { Loop<5>(unit); }
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: known_shares SECONDS CHUNK_MICROSECONDS [hop]\n");
    return 2;
  }
  const double seconds = std::atof(argv[1]);
  const double chunk_seconds = std::atof(argv[2]) * 1e-6;
  const bool hops = argc > 3 && std::strcmp(argv[3], "hop") == 0;
  constexpr std::int64_t kProbe = 10'000'000;
  const double begin = CpuSeconds();
  Loop<7>(kProbe);
  const auto unit =
      static_cast<std::int64_t>(static_cast<double>(kProbe) * chunk_seconds / (CpuSeconds() - begin) / 10);

  double six = 0;
  double three = 0;
  double one = 0;
  Baton baton(2);
  bool is_over = false;
  crema::TrackMetrics* hopping = nullptr;
  const auto finish = [&] {
    const double before = CpuSeconds();
    ThreeTenths(unit);
    const double between = CpuSeconds();
    OneTenth(unit);
    const double after = CpuSeconds();
    three += between - before;
    one += after - between;
  };
  std::thread other;
  if (hops) {
    other = std::thread([&] {
      for (;;) {
        baton.Pass();
        if (is_over) return;
        hopping->Resume();
        finish();
        hopping->Suspend();
        baton.Pass();
      }
    });
  }
  for (std::int64_t i = 0; six + three + one < seconds; ++i) {
    crema::TrackMetrics chunk({"known", "shares", i, i + 1});
    const double before = CpuSeconds();
    SixTenths(unit);
    six += CpuSeconds() - before;
    if (!hops) {
      finish();
      continue;
    }
    chunk.Suspend();
    hopping = &chunk;
    baton.Pass();
    baton.Pass();
    chunk.Resume();
  }
  if (hops) {
    is_over = true;
    baton.Pass();
    other.join();
  }
  const double all = six + three + one;
  std::printf("%.6f %.6f %.6f\n", six / all, three / all, one / all);
}
