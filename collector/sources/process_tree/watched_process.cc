#include "collector/sources/process_tree/watched_process.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/proc_stat.h"

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

}  // namespace crema
