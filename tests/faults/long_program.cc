// An analysis of so many short chunks. After each tenth of them it prints how much memory it has, in kB.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "crema/crema.h"

namespace {

void Process(std::int64_t number) {
  const std::string file = "/store/data/Run2018A/" + std::to_string(number / 1500 % 100) + ".root";
  crema::TrackMetrics chunk({"ttbar", file, number * 100, number * 100 + 100});
  chunk.SetEvents(100);
  const crema::TrackSection select("select");
}

/// RssAnon of proc(5): pages of files come and go with the kernel's cache.
long MemoryInKilobytes() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return -1;
  long kilobytes = -1;
  for (char line[256]; std::fgets(line, sizeof(line), status) != nullptr;) {
    if (std::sscanf(line, "RssAnon: %ld", &kilobytes) == 1) break;
  }
  std::fclose(status);
  return kilobytes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t chunks = argc > 1 ? std::atoll(argv[1]) : 0;
  for (std::int64_t number = 0; number < chunks; ++number) {
    Process(number);
    if ((number + 1) % (chunks / 10) == 0) std::printf("%ld\n", MemoryInKilobytes());
  }
}
