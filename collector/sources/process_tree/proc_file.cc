#include "collector/sources/process_tree/proc_file.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace crema {
namespace {

constexpr size_t kSurelyShort = 3072;

std::string_view ReadDescriptor(int descriptor, ProcBuffer* buffer) {
  size_t length = 0;
  while (length < buffer->size()) {
    const ssize_t got = pread(descriptor, buffer->data() + length, buffer->size() - length, static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += static_cast<size_t>(got);
    // seq_file fills a page before it gives a short read: less than that is all there is, and asking for the end of
    // the file would cost a call more.
    if (length < kSurelyShort) break;
  }
  return {buffer->data(), length};
}

// Calls `field(name, value)` for each `name: value` line; the value begins at its first character that is not a blank.
template <class Field>
void ForEachField(std::string_view text, Field field) {
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    if (value != std::string_view::npos) field(line.substr(0, colon), line.substr(value));
  }
}

std::optional<int64_t> Number(std::string_view text, int base = 10) {
  uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number, base).ec != std::errc()) return std::nullopt;
  return static_cast<int64_t>(number);
}

/// The number in the field of this name.
std::optional<int64_t> NumberOf(std::string_view text, std::string_view field) {
  std::optional<int64_t> number;
  ForEachField(text, [&](std::string_view name, std::string_view value) {
    if (name == field) number = Number(value);
  });
  return number;
}

std::optional<int64_t> SecondNumber(std::string_view text) {
  const size_t blank = text.find(' ');
  return blank == std::string_view::npos ? std::nullopt : Number(text.substr(blank + 1));
}

std::optional<int64_t> BytesOf(std::optional<int64_t> kibibytes) {
  if (kibibytes.has_value()) *kibibytes *= 1024;
  return kibibytes;
}

// Received bytes are the first number after the colon, sent bytes the ninth.
constexpr int kSentColumn = 8;

int64_t Gained(int64_t now, int64_t before) { return now >= before ? now - before : now; }

// `cmdline` and `environ` of proc(5): each word ends with a NUL.
std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words = absl::StrSplit(text, '\0');
  if (!words.empty() && words.back().empty()) words.pop_back();
  return words;
}

// The number is the same on all architectures; older headers lack the name.
constexpr long kPidfdOpen = 434;

std::optional<ProcStat> ReadStat(int pid) {
  ProcBuffer buffer;
  return ParseProcStat(ReadProcFile(("/proc/" + std::to_string(pid) + "/stat").c_str(), &buffer));
}

}  // namespace

std::string_view ReadProcFile(const char* path, ProcBuffer* buffer) {
  const Descriptor descriptor(path, O_RDONLY);
  return descriptor < 0 ? std::string_view() : ReadDescriptor(descriptor, buffer);
}

std::string_view KeptProcFile::Read(const char* path, bool keep, ProcBuffer* buffer) {
  if (descriptor_ < 0) {
    if (!keep) return ReadProcFile(path, buffer);
    descriptor_ = Descriptor(path, O_RDONLY);
    if (descriptor_ < 0) return {};
  }
  return ReadDescriptor(descriptor_, buffer);
}

std::string ReadWholeFile(const std::string& path) {
  std::string text;
  const Descriptor descriptor(path, O_RDONLY);
  if (descriptor < 0) return text;
  ProcBuffer buffer;
  for (;;) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return text;
}

std::optional<ProcStat> ParseProcStat(std::string_view text) {
  ProcStat stat;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, stat.pid).ec != std::errc()) return std::nullopt;
  const size_t bracket = text.rfind(')');
  if (bracket == std::string_view::npos || bracket + 2 >= text.size()) return std::nullopt;
  stat.state = text[bracket + 2];
  const size_t opening = text.find('(');
  if (opening < bracket) stat.name = std::string(text.substr(opening + 1, bracket - opening - 1));

  // Field numbers are those of the man page; the state is number 3.
  constexpr int kFirst = 4;
  constexpr int kLast = 41;
  constexpr int kLastNeeded = 22;
  std::array<int64_t, kLast + 1> field{};
  const char* at = text.data() + bracket + 3;
  for (int number = kFirst; number <= kLast; ++number) {
    while (at < end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, field[number]);
    if (error == std::errc::result_out_of_range) {
      field[number] = 0;  // a mask or an address, none of those used here
    } else if (error != std::errc()) {
      if (number <= kLastNeeded) return std::nullopt;
      break;
    }
    at = next;
  }
  stat.parent_pid = static_cast<int>(field[4]);
  stat.minor_faults = field[10];
  stat.major_faults = field[12];
  stat.children_major_faults = field[13];
  stat.user_ticks = field[14];
  stat.system_ticks = field[15];
  stat.children_user_ticks = field[16];
  stat.children_system_ticks = field[17];
  stat.threads = field[20];
  stat.start_ticks = field[22];
  constexpr int64_t kDeadline = 6;  // SCHED_DEADLINE, which <sched.h> may lack
  stat.is_real_time = field[41] == SCHED_FIFO || field[41] == SCHED_RR || field[41] == kDeadline;
  return stat;
}

std::optional<TreeIo> ParseProcIo(std::string_view text) {
  const std::optional<int64_t> read = NumberOf(text, "read_bytes"), written = NumberOf(text, "write_bytes"),
                               rchar = NumberOf(text, "rchar"), wchar = NumberOf(text, "wchar");
  const bool has_all = read.has_value() && written.has_value() && rchar.has_value() && wchar.has_value();
  return has_all ? std::optional(TreeIo{*read, *written, *rchar, *wchar}) : std::nullopt;
}

std::optional<int64_t> ParseReadCalls(std::string_view text) { return NumberOf(text, "syscr"); }

// Behind the time on a CPU.
std::optional<int64_t> ParseRunDelay(std::string_view text) { return SecondNumber(text); }
std::optional<int64_t> ParseStatmResidentPages(std::string_view text) { return SecondNumber(text); }

ProcStatus ParseProcStatus(std::string_view text) {
  ProcStatus status;
  ForEachField(text, [&status](std::string_view name, std::string_view value) {
    if (name == "VmHWM") {
      status.peak_rss_bytes = BytesOf(Number(value));
    } else if (name == "RssAnon") {
      status.anonymous_bytes = BytesOf(Number(value));
    } else if (name == "RssFile" || name == "RssShmem") {
      status.file_bytes = status.file_bytes.value_or(0) + BytesOf(Number(value)).value_or(0);
    } else if (name == "VmSwap") {
      status.swap_bytes = BytesOf(Number(value));
    } else if (name == "SigIgn") {
      const auto ignored = static_cast<uint64_t>(Number(value, 16).value_or(0));
      status.ignores_child_signal = (ignored >> (SIGCHLD - 1) & 1) != 0;
    }
  });
  return status;
}

std::optional<int64_t> ParsePssBytes(std::string_view text) { return BytesOf(NumberOf(text, "Pss")); }

InterfaceBytes ParseProcNetDev(std::string_view text) {
  InterfaceBytes interfaces;
  ForEachField(text, [&interfaces](std::string_view name, std::string_view value) {  // headings have no colon
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    if (name == "lo") return;
    std::array<int64_t, kSentColumn + 1> number{};
    const char* at = value.data();
    const char* end = value.data() + value.size();
    bool whole = true;
    for (int64_t& field : number) {
      while (at < end && *at == ' ') ++at;
      const auto [next, error] = std::from_chars(at, end, field);
      whole = whole && error == std::errc();
      at = next;
    }
    if (whole) interfaces[std::string(name)] = TreeNet{number[0], number[kSentColumn]};
  });
  return interfaces;
}

std::optional<TreeNet> NetCounter::Add(std::string_view proc_net_dev) {
  if (proc_net_dev.empty()) return has_first_ ? std::optional<TreeNet>(sum_) : std::nullopt;
  InterfaceBytes now = ParseProcNetDev(proc_net_dev);
  if (has_first_) {
    for (const auto& [interface, bytes] : now) {
      const TreeNet before = last_.count(interface) != 0 ? last_.at(interface) : TreeNet();
      sum_.rx_bytes += Gained(bytes.rx_bytes, before.rx_bytes);
      sum_.tx_bytes += Gained(bytes.tx_bytes, before.tx_bytes);
    }
  }
  has_first_ = true;
  last_ = std::move(now);
  return sum_;
}

bool NetworkIsShared(const std::string& process) {
  struct stat mine {};
  struct stat first {};
  if (stat(("/proc/" + process + "/ns/net").c_str(), &mine) != 0 || stat("/proc/1/ns/net", &first) != 0) return true;
  return mine.st_ino == first.st_ino && mine.st_dev == first.st_dev;
}

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
  process.name = std::string(absl::StripSuffix(ReadWholeFile(directory + "comm"), "\n"));
  process.arguments = WordsOf(ReadWholeFile(directory + "cmdline"));
  for (const std::string& variable : WordsOf(ReadWholeFile(directory + "environ"))) {
    const size_t equals = variable.find('=');
    if (equals != std::string::npos)
      process.environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return process;
}

ProcessExit::ProcessExit(int pid) : pid_(pid) {
  const std::optional<ProcStat> stat = ReadStat(pid);
  if (!stat.has_value()) return;
  start_ticks_ = stat->start_ticks;
  descriptor_ = Descriptor(static_cast<int>(syscall(kPidfdOpen, pid, 0)));  // close-on-exec by itself
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
