#include "collector/engines/taskvine/worker_directory.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace crema {

std::optional<int64_t> PidOfWorkerDirectory(std::string_view path) {
  const std::vector<std::string> names = absl::StrSplit(std::string(path), '/');
  for (const std::string& name : names) {
    const std::vector<std::string> parts = absl::StrSplit(name, '-');
    int64_t pid = 0;
    if (parts.size() == 3 && parts[0] == "worker" && absl::SimpleAtoi(parts[2], &pid) && pid > 0) return pid;
  }
  return std::nullopt;
}

}  // namespace crema
