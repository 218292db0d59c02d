#include "collector/sources/process_tree/watched_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/sources/process_tree/proc_file.h"

namespace crema {
namespace {

// `cmdline` and `environ` of proc(5): each word ends with a NUL.
std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words = absl::StrSplit(text, '\0');
  if (!words.empty() && words.back().empty()) words.pop_back();
  return words;
}

std::string WithoutNewline(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The number is the same on all architectures; older headers lack the name.
constexpr long kPidfdOpen = 434;

std::optional<ProcStat> ReadStat(int pid) {
  ProcBuffer buffer;
  return ParseProcStat(ReadProcFile(("/proc/" + std::to_string(pid) + "/stat").c_str(), &buffer));
}

}  // namespace

std::optional<WatchedProcess> FindProcess(int pid, const std::string& filesystem_root) {
  const std::string directory = filesystem_root + "/proc/" + std::to_string(pid) + "/";
  const std::optional<ProcStat> stat = ParseProcStat(ReadWholeFile(directory + "stat"));
  if (!stat.has_value() || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  // /proc has a directory for every thread too, which it does not list.
  const std::string status = ReadWholeFile(directory + "status");
  if (!status.empty() && !absl::StrContains(status, absl::StrCat("\nTgid:\t", pid, "\n"))) return std::nullopt;
  WatchedProcess process;
  process.pid = pid;
  process.start_ticks = stat->start_ticks;
  process.name = WithoutNewline(ReadWholeFile(directory + "comm"));
  process.arguments = Words(ReadWholeFile(directory + "cmdline"));
  for (const std::string& variable : Words(ReadWholeFile(directory + "environ"))) {
    const size_t equals = variable.find('=');
    if (equals != std::string::npos)
      process.environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return process;
}

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
