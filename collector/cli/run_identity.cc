#include "collector/cli/run_identity.h"

#include <sys/random.h>
#include <unistd.h>

#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "fmt/format.h"

namespace crema {

std::string NewRunId() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) {
    random = static_cast<uint64_t>(absl::GetCurrentTimeNanos()) ^ static_cast<uint64_t>(getpid()) << 40;
  }
  return absl::FormatTime("%Y%m%dT%H%M%SZ-", absl::Now(), absl::UTCTimeZone()) + fmt::format("{:016x}", random);
}

std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  std::string host = name;
  for (char& character : host) {
    if (character == '/') character = '_';
  }
  return host;
}

std::string CommandName(const std::string& command) {
  const size_t slash = command.find_last_of('/');
  const std::string name = slash == std::string::npos ? command : command.substr(slash + 1);
  return name.empty() ? command : name;
}

}  // namespace crema
