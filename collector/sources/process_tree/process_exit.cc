#include "collector/sources/process_tree/process_exit.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/proc_stat.h"

namespace crema {
namespace {

// The number is the same on all architectures; older headers lack the name.
constexpr long kPidfdOpen = 434;

std::optional<ProcStat> ReadStat(int pid) {
  ProcBuffer buffer;
  return ParseProcStat(ReadProcFile(("/proc/" + std::to_string(pid) + "/stat").c_str(), &buffer));
}

}  // namespace

ProcessExit::ProcessExit(int pid) : pid_(pid), start_ticks_(-1), descriptor_(-1) {
  const std::optional<ProcStat> stat = ReadStat(pid);
  if (!stat.has_value()) return;
  start_ticks_ = stat->start_ticks;
  descriptor_ = static_cast<int>(syscall(kPidfdOpen, pid, 0));  // close-on-exec by itself
}

ProcessExit::~ProcessExit() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool ProcessExit::HasEnded() const {
  if (descriptor_ >= 0) {
    pollfd ended{descriptor_, POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
  }
  const std::optional<ProcStat> stat = ReadStat(pid_);
  return !stat.has_value() || stat->start_ticks != start_ticks_ || stat->state == 'Z' || stat->state == 'X';
}

}  // namespace crema
