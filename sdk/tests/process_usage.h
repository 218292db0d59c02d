// Memory and descriptors of this process, as the kernel reports them.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace crema {
namespace testing {

/// `/proc/self/statm` field 2, in bytes.
inline std::int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// `Threads:` of `/proc/self/status`; sanitizers have threads of their own.
inline std::int64_t Threads() {
  std::ifstream status("/proc/self/status");
  std::int64_t threads = 0;
  for (std::string key; status >> key;) {
    if (key == "Threads:") status >> threads;
  }
  return threads;
}

inline int OpenDescriptors() {
  const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<int>(std::distance(begin(entries), end(entries))) - 1;  // less the one that lists them
}

}  // namespace testing
}  // namespace crema
