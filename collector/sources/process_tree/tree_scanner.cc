#include "collector/sources/process_tree/tree_scanner.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include "collector/sources/process_tree/proc_io.h"
#include "collector/sources/process_tree/proc_memory.h"

namespace crema {
namespace {

constexpr size_t kFilesPerMember = 5;
// Descriptors kept at most, and the share of RLIMIT_NOFILE they may take; beyond that files are opened and closed.
constexpr size_t kKeptDescriptors = 512;
constexpr size_t kDescriptorShare = 4;
// The children of other threads than the main one are looked for in every scan up to this many threads, else in every
// fifth: a file for each thread costs more than all else together.
constexpr int64_t kManyThreads = 64;
constexpr int64_t kScansBetweenThreadLists = 5;

size_t KeptLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<size_t>(kKeptDescriptors, static_cast<size_t>(limit.rlim_cur) / kDescriptorShare);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// Calls `number(n)` for every entry of the directory that is a number.
template <class Number>
void ForEachNumber(const char* path, Number number) {
  std::unique_ptr<DIR, CloseDirectory> directory(opendir(path));
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    int value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error == std::errc() && end == name.data() + name.size()) number(value);
  }
}

}  // namespace

TreeScanner::TreeScanner(int root_pid, std::string filesystem_root)
    : root_pid_(root_pid),
      filesystem_root_(std::move(filesystem_root)),
      kept_limit_(KeptLimit()),
      page_bytes_(sysconf(_SC_PAGESIZE)) {
  has_children_files_ = access(TaskPath(root_pid_, root_pid_), R_OK) == 0;
}

TreeScanner TreeScanner::IncludingRoot(int root_pid, std::string filesystem_root) {
  TreeScanner scanner(root_pid, std::move(filesystem_root));
  scanner.includes_root_ = true;
  scanner.AddPid(root_pid);
  return scanner;
}

const std::vector<ProcessReading>& TreeScanner::Scan() {
  std::vector<ProcessReading> vanished;
  std::swap(before_, readings_);
  readings_.clear();
  rss_bytes_ = 0;
  if (!has_children_files_) {
    AddByParents();
  } else if (!includes_root_) {
    AddChildrenOf(root_pid_, 1, &root_children_);
  }
  size_t kept = 0;
  // The list grows while it is walked: each process adds its children behind it.
  for (size_t i = 0; i < members_.size(); ++i) {
    ProcessReading reading;
    if (!Read(&members_[i], &reading)) {
      if (i < before_.size()) vanished.push_back(before_[i]);
      continue;
    }
    rss_bytes_ += reading.rss_bytes;
    readings_.push_back(reading);
    if (kept != i) members_[kept] = std::move(members_[i]);
    if (has_children_files_) {
      // The list may move while it grows: the file is taken out meanwhile.
      KeptProcFile children = std::move(members_[kept].children);
      AddChildrenOf(reading.stat.pid, reading.stat.threads, &children);
      members_[kept].children = std::move(children);
    }
    ++kept;
  }
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(kept), members_.end());
  if (!vanished.empty()) RereadAncestors(std::move(vanished));
  ++scans_;
  return readings_;
}

void TreeScanner::IgnorePresentChildren() {
  Scan();
  for (const ProcessReading& reading : readings_) {
    ignored_.push_back({reading.stat.pid, reading.stat.start_ticks});
  }
  members_.clear();
  readings_.clear();
}

bool TreeScanner::IsIgnored(int pid) {
  const auto found =
      std::find_if(ignored_.begin(), ignored_.end(), [pid](const Ignored& ignored) { return ignored.pid == pid; });
  if (found == ignored_.end()) return false;
  if (!found->start_ticks.has_value()) return true;
  ProcBuffer buffer;  // the list of children that is walked may lie in buffer_
  const std::optional<ProcStat> stat = ParseProcStat(ReadProcFile(Path(pid, "stat"), &buffer));
  if (!stat.has_value() || stat->start_ticks == *found->start_ticks) return true;
  ignored_.erase(found);  // its grandparent never hears of its end; another process has the pid by now
  return false;
}

bool TreeScanner::StopIgnoring(int pid, const std::optional<ProcessReading>& last) {
  const auto found =
      std::find_if(ignored_.begin(), ignored_.end(), [pid](const Ignored& ignored) { return ignored.pid == pid; });
  if (found == ignored_.end()) return false;
  const bool was_it =
      !last.has_value() || !found->start_ticks.has_value() || last->stat.start_ticks == *found->start_ticks;
  ignored_.erase(found);
  return was_it;
}

// The kernel holds the lock of the process's mappings while it walks the page tables. If crema loses its CPU meanwhile,
// a call of mmap(2), munmap(2) or brk(2) waits until crema has one again: 48 ms in a FIFO thread of a process with 1
// GB, on a busy machine. A thread of a real-time class does not wait for one of ours.
bool TreeScanner::HasRealTimeThread(int pid) {
  bool has_one = false;
  ForEachNumber(Path(pid, "task"), [&](int tid) {
    if (has_one) return;
    const std::optional<ProcStat> thread = ParseProcStat(ReadProcFile(TaskPath(pid, tid, "stat"), &buffer_));
    has_one = thread.has_value() && thread->is_real_time;
  });
  return has_one;
}

void TreeScanner::ReadPss() {
  for (ProcessReading& reading : readings_) {
    if (reading.ended() || HasRealTimeThread(reading.stat.pid)) continue;
    reading.pss_bytes = ParsePssBytes(ReadProcFile(Path(reading.stat.pid, "smaps_rollup"), &buffer_));
  }
}

std::optional<ProcessReading> TreeScanner::ReadEnded(int pid) {
  ProcessReading reading;
  Member ended;
  ended.pid = pid;
  const std::optional<ProcStat> stat = ParseProcStat(ReadProcFile(Path(pid, "stat"), &buffer_));
  if (!stat.has_value()) return std::nullopt;
  reading.stat = *stat;
  reading.io = ParseProcIo(ReadProcFile(Path(pid, "io"), &buffer_));
  return reading;
}

bool TreeScanner::ReadStat(Member* member, ProcessReading* reading) {
  const std::optional<ProcStat> stat =
      ParseProcStat(member->stat.Read(Path(member->pid, "stat"), KeepsFiles(), &buffer_));
  if (!stat.has_value()) return false;
  if (member->start_ticks == 0) member->start_ticks = stat->start_ticks;
  if (member->start_ticks != stat->start_ticks) return false;  // another process has the pid by now
  reading->stat = *stat;
  return true;
}

bool TreeScanner::Read(Member* member, ProcessReading* reading) {
  if (!ReadStat(member, reading)) return false;
  const int pid = member->pid;
  const bool keep = KeepsFiles();
  const std::string_view io = member->io.Read(Path(pid, "io"), keep, &buffer_);
  reading->io = ParseProcIo(io);
  reading->counts.read_calls = ParseReadCalls(io);
  const ProcStatus status = ParseProcStatus(member->status.Read(Path(pid, "status"), keep, &buffer_));
  reading->ignores_child_signal = status.ignores_child_signal;
  if (reading->ended()) return true;
  const std::optional<int64_t> pages = ParseStatmResidentPages(member->statm.Read(Path(pid, "statm"), keep, &buffer_));
  reading->rss_bytes = pages.value_or(0) * page_bytes_;
  reading->counts.rss_peak_bytes = status.peak_rss_bytes;
  reading->counts.anonymous_bytes = status.anonymous_bytes;
  reading->counts.file_bytes = status.file_bytes;
  reading->counts.minor_faults = reading->stat.minor_faults;
  reading->counts.major_faults = reading->stat.major_faults;
  if (reading->io.has_value()) reading->counts.read_call_bytes = reading->io->rchar_bytes;
  ReadRunDelay(member, reading);
  reading->swap_bytes = status.swap_bytes;
  return true;
}

void TreeScanner::ReadRunDelay(Member* member, ProcessReading* reading) {
  const auto read = [&](int tid) {
    return ParseRunDelay(ReadProcFile(TaskPath(member->pid, tid, "schedstat"), &buffer_));
  };
  if (reading->stat.threads <= kManyThreads || scans_ % kScansBetweenThreadLists == 0) {
    std::map<int, int64_t> now;
    if (reading->stat.threads <= 1) {
      if (const auto delay_ns = read(member->pid)) now[member->pid] = *delay_ns;
    } else {
      path_.assign(filesystem_root_).append("/proc/").append(std::to_string(member->pid)).append("/task");
      const std::string tasks = path_;
      ForEachNumber(tasks.c_str(), [&](int tid) {
        if (const auto delay_ns = read(tid)) now[tid] = *delay_ns;
      });
    }
    if (now.empty()) return;
    for (const auto& [tid, delay_ns] : member->run_delay_ns) {
      const auto still = now.find(tid);
      // Less than before: another thread has the number by now.
      if (still == now.end() || still->second < delay_ns) member->ended_run_delay_ns += delay_ns;
    }
    member->run_delay_ns = std::move(now);
  }
  int64_t sum_ns = member->ended_run_delay_ns;
  for (const auto& [tid, delay_ns] : member->run_delay_ns) sum_ns += delay_ns;
  reading->counts.run_delay_ns = sum_ns;
}

bool TreeScanner::RereadMember(int pid, std::vector<ProcessReading>* vanished) {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].pid != pid) continue;
    if (ReadStat(&members_[i], &readings_[i])) return true;
    vanished->push_back(readings_[i]);
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
    readings_.erase(readings_.begin() + static_cast<std::ptrdiff_t>(i));
    return false;
  }
  return false;
}

void TreeScanner::RereadAncestors(std::vector<ProcessReading> vanished) {
  // The list grows where an ancestor turns out to have vanished as well: then its own parent is due.
  for (size_t next = 0; next < vanished.size(); ++next) {
    int parent = vanished[next].stat.parent_pid;
    for (size_t generation = 0; generation < vanished.size(); ++generation) {
      if (parent == root_pid_ && !includes_root_) break;
      if (RereadMember(parent, &vanished)) break;
      const auto gone = std::find_if(vanished.begin(), vanished.end(),
                                     [parent](const ProcessReading& process) { return process.stat.pid == parent; });
      if (gone == vanished.end()) break;
      parent = gone->stat.parent_pid;
    }
  }
}

void TreeScanner::AddChildrenOf(int pid, int64_t threads, KeptProcFile* main_thread) {
  std::string_view text = main_thread->Read(TaskPath(pid, pid), KeepsFiles(), &buffer_);
  if (text.size() == buffer_.size()) {
    AddChildrenList(ReadWholeFile(TaskPath(pid, pid)));
  } else {
    AddChildrenList(text);
  }
  if (threads <= 1 || (threads > kManyThreads && scans_ % kScansBetweenThreadLists != 0)) return;
  path_.assign(filesystem_root_).append("/proc/").append(std::to_string(pid)).append("/task");
  const std::string tasks = path_;
  ForEachNumber(tasks.c_str(), [this, pid](int tid) {
    if (tid != pid) AddChildrenList(ReadProcFile(TaskPath(pid, tid), &buffer_));
  });
}

void TreeScanner::AddChildrenList(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    if (error == std::errc()) AddPid(pid);
    at = error == std::errc() ? next : at + 1;
  }
}

void TreeScanner::AddByParents() {
  std::vector<std::pair<int, int>> parents;  // (parent, pid)
  ForEachNumber((filesystem_root_ + "/proc").c_str(), [this, &parents](int pid) {
    const std::optional<ProcStat> stat = ParseProcStat(ReadProcFile(Path(pid, "stat"), &buffer_));
    if (stat.has_value()) parents.emplace_back(stat->parent_pid, pid);
  });
  std::vector<int> open;
  if (!includes_root_) open.push_back(root_pid_);
  for (const Member& member : members_) open.push_back(member.pid);
  for (size_t i = 0; i < open.size(); ++i) {
    for (const auto& [parent, pid] : parents) {
      if (parent != open[i] || IsIgnored(pid) || std::find(open.begin(), open.end(), pid) != open.end()) continue;
      open.push_back(pid);
      AddPid(pid);
    }
  }
}

void TreeScanner::AddPid(int pid) {
  if (IsIgnored(pid)) return;
  for (const Member& member : members_) {
    if (member.pid == pid) return;
  }
  members_.emplace_back();
  members_.back().pid = pid;
}

const char* TreeScanner::Path(int pid, const char* file) {
  path_.assign(filesystem_root_).append("/proc/").append(std::to_string(pid)).append("/").append(file);
  return path_.c_str();
}

const char* TreeScanner::TaskPath(int pid, int tid, const char* file) {
  path_.assign(filesystem_root_).append("/proc/").append(std::to_string(pid));
  path_.append("/task/").append(std::to_string(tid)).append("/").append(file);
  return path_.c_str();
}

bool TreeScanner::KeepsFiles() const { return members_.size() * kFilesPerMember < kept_limit_; }

}  // namespace crema
