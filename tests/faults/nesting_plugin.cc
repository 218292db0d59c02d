// A plug-in with a copy of the SDK of its own, and a log of its own: it names the directory in another way.
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "crema/crema.h"

namespace {

std::int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

}  // namespace

/// Computes for so much CPU time in a chunk.
// NOLINTNEXTLINE(readability-identifier-naming): a C name
extern "C" __attribute__((visibility("default"))) void compute_in_plugin(std::int64_t number, std::int64_t cpu_ns) {
  crema::Options options;
  options.directory = std::string(std::getenv("CREMA_DIR")) + "/.";
  crema::Enable(options);
  const crema::TrackMetrics chunk({"plug-in", "plugin.root", number, number + 1});
  const std::int64_t until_ns = ThreadCpuNs() + cpu_ns;
  while (ThreadCpuNs() < until_ns) {
  }
}
