// A program with a copy of the SDK, whose chunks have chunks of a plug-in inside: nesting_program PLUGIN. Prints its
// CPU time and how long its loop took, in nanoseconds.
#include <dlfcn.h>
#include <time.h>

#include <cstdint>
#include <cstdio>

#include "crema/crema.h"

namespace {

std::int64_t Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

}  // namespace

int main(int count, char** arguments) {
  void* const plugin = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin == nullptr) return 1;
  const auto compute = reinterpret_cast<void (*)(std::int64_t, std::int64_t)>(dlsym(plugin, "compute_in_plugin"));
  const std::int64_t begin_ns = Now(CLOCK_MONOTONIC);
  for (std::int64_t number = 0; number < 10; ++number) {
    const crema::TrackMetrics chunk({"host", "host.root", number, number + 1});
    compute(number, 20000000);
  }
  const std::int64_t wall_ns = Now(CLOCK_MONOTONIC) - begin_ns;
  std::printf("%lld %lld\n", static_cast<long long>(Now(CLOCK_PROCESS_CPUTIME_ID)), static_cast<long long>(wall_ns));
}
