// A section of two functions: `Fit` computes for 70 % of its time, `Sort` for the rest.
#include <ctime>

#include "crema/crema.h"

namespace {

double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

volatile double g_sum = 0;

// Two different bodies: a compiler makes one function of equal ones.
__attribute__((noinline)) void Fit(double seconds) {
  const double until = ThreadCpuSeconds() + seconds;
  while (ThreadCpuSeconds() < until) {
    for (int i = 0; i < 20000; ++i) g_sum = g_sum + 1.0 / (1 + i);
  }
}

__attribute__((noinline)) void Sort(double seconds) {
  const double until = ThreadCpuSeconds() + seconds;
  while (ThreadCpuSeconds() < until) {
    for (int i = 0; i < 20000; ++i) g_sum = g_sum * 0.5 + i;
  }
}

}  // namespace

int main() {
  for (int chunk = 0; chunk < 10; ++chunk) {
    crema::TrackMetrics metrics({"zjets", "a.root", chunk, chunk + 1});
    const crema::TrackSection select("select");
    Fit(0.07);
    Sort(0.03);
  }
}
