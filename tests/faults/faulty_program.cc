// An analysis that meets the fault that its argument names, after two chunks. It prints a line before it.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "crema/crema.h"

namespace {

void RecordChunks(int chunks) {
  for (int i = 0; i < chunks; ++i) {
    crema::TrackMetrics metrics({"ttbar", "/data/events.root", i, i + 1});
    const crema::TrackSection section("read");
    metrics.SetEvents(10);
  }
}

void NestSections(int depth) {
  if (depth == 0) return;
  const crema::TrackSection section("deeper");
  NestSections(depth - 1);
}

void MeetFault(const std::string& fault, const char* program) {
  if (fault == "file size") {
    const rlimit limit{64 << 10, 64 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) std::abort();
    return RecordChunks(200);
  }
  if (fault == "misuse") {
    auto* const chunk = new crema::TrackMetrics({"ttbar", "/data/events.root", 1000, 1001});
    return std::thread([chunk] { delete chunk; }).join();
  }
  if (fault == "late metric") return crema::RecordMetric("jets", 1);
  const crema::TrackMetrics metrics({"ttbar", "/data/events.root", 1000, 1001});
  if (fault == "depth") NestSections(200);
  if (fault == "exit") std::exit(6);
  if (fault == "kill") raise(SIGKILL);
  if (fault == "exec") execl(program, program, "none", nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  std::puts("the analysis's own line");
  std::fflush(stdout);
  RecordChunks(2);
  MeetFault(argc > 1 ? argv[1] : "none", argv[0]);
}
