#include "collector/sources/process_tree/tree_scanner.h"

#include <dirent.h>
#include <sys/resource.h>

#include <charconv>
#include <memory>

#include "collector/idioms/sequences.h"

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

// Calls `number(n)` for every entry of the directory that is a number.
template <class Number>
void ForEachNumber(const char* path, Number number) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path), closedir);
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    int value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error == std::errc() && end == name.data() + name.size()) number(value);
  }
}

// The kernel rounds a parent's user and system sums down to ticks, each on its own.
constexpr int64_t kRoundingTicks = 2;

int64_t ChildrenTicks(const ProcessReading& process) {
  return process.stat.children_user_ticks + process.stat.children_system_ticks;
}

int64_t CpuTicks(const ProcessReading& process) {
  return process.stat.user_ticks + process.stat.system_ticks + ChildrenTicks(process);
}

bool IsSame(const ProcessReading& a, const ProcessReading& b) {
  return a.stat.pid == b.stat.pid && a.stat.start_ticks == b.stat.start_ticks;
}

void AddIo(const std::optional<TreeIo>& more, std::optional<TreeIo>* sum) {
  if (!more.has_value()) return;
  if (!sum->has_value()) sum->emplace();
  for (const auto& [key, member] : kTreeIoFields) (**sum).*member += (*more).*member;
}

void RaiseTo(int64_t value, int64_t* largest) { *largest = std::max(*largest, value); }

void RaiseTo(int64_t value, std::optional<int64_t>* largest) { *largest = std::max(largest->value_or(value), value); }
void RaiseTo(const std::optional<TreeIo>& value, std::optional<TreeIo>* largest) {
  if (!value.has_value()) return;
  if (!largest->has_value()) largest->emplace();
  for (const auto& [key, member] : kTreeIoFields) RaiseTo((*value).*member, &((**largest).*member));
}

// Some kernels and file systems let a counter go back (HSF/prmon issue 173 lost the I/O of half its jobs to it): what
// was once counted stays counted. A counter that can no longer be read stands where it was.
void KeepFromFalling(const ProcessReading& before, ProcessReading* now) {
  for (const auto counter :
       {&ProcStat::user_ticks, &ProcStat::system_ticks, &ProcStat::children_user_ticks,
        &ProcStat::children_system_ticks, &ProcStat::major_faults, &ProcStat::children_major_faults}) {
    RaiseTo(before.stat.*counter, &(now->stat.*counter));
  }
  RaiseTo(before.io, &now->io);
}

// A sum of which one term is not known is not known.
void AddOrForget(const std::optional<int64_t>& more, std::optional<int64_t>* sum) {
  if (!more.has_value()) sum->reset();
  if (sum->has_value()) **sum += *more;
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

std::vector<TreeScanner::Ignored>::iterator TreeScanner::FindIgnored(int pid) {
  return absl::c_find_if(ignored_, [pid](const Ignored& ignored) { return ignored.pid == pid; });
}

bool TreeScanner::IsIgnored(int pid) {
  const auto found = FindIgnored(pid);
  if (found == ignored_.end()) return false;
  if (!found->start_ticks.has_value()) return true;
  ProcBuffer buffer;  // the list of children that is walked may lie in buffer_
  const std::optional<ProcStat> stat = ParseProcStat(ReadProcFile(Path(pid, "stat"), &buffer));
  if (!stat.has_value() || stat->start_ticks == *found->start_ticks) return true;
  ignored_.erase(found);  // its grandparent never hears of its end; another process has the pid by now
  return false;
}

bool TreeScanner::StopIgnoring(int pid, const std::optional<ProcessReading>& last) {
  const auto found = FindIgnored(pid);
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
      const std::string tasks = Path(member->pid, "task");
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
  const auto member = absl::c_find_if(members_, [pid](const Member& known) { return known.pid == pid; });
  if (member == members_.end()) return false;
  const auto reading = readings_.begin() + (member - members_.begin());
  if (ReadStat(&*member, &*reading)) return true;
  vanished->push_back(*reading);
  members_.erase(member);
  readings_.erase(reading);
  return false;
}

void TreeScanner::RereadAncestors(std::vector<ProcessReading> vanished) {
  // The list grows where an ancestor turns out to have vanished as well: then its own parent is due.
  for (size_t next = 0; next < vanished.size(); ++next) {
    int parent = vanished[next].stat.parent_pid;
    for (size_t generation = 0; generation < vanished.size(); ++generation) {
      if (parent == root_pid_ && !includes_root_) break;
      if (RereadMember(parent, &vanished)) break;
      const auto gone =
          absl::c_find_if(vanished, [parent](const ProcessReading& process) { return process.stat.pid == parent; });
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
  const std::string tasks = Path(pid, "task");
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
      if (parent != open[i] || IsIgnored(pid) || absl::c_linear_search(open, pid)) continue;
      open.push_back(pid);
      AddPid(pid);
    }
  }
}

void TreeScanner::AddPid(int pid) {
  if (IsIgnored(pid) || FindBy(members_, &Member::pid, pid) != nullptr) return;
  members_.emplace_back().pid = pid;
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

TreeLedger TreeLedger::OfStrangers(int64_t tick_ns) {
  constexpr int kNobody = 0;
  TreeLedger ledger(kNobody, tick_ns);
  ledger.waits_ = false;
  return ledger;
}

void TreeLedger::AddReaped(const TreeReapFact& reaped, std::optional<ProcessReading> last) {
  const int pid = static_cast<int>(reaped.pid);
  const auto member = members_.find(pid);
  const bool was_seen = member != members_.end() && (!last.has_value() || IsSame(member->second, *last));

  if (was_seen && last.has_value()) KeepFromFalling(member->second, &*last);
  ReapedParent parent;
  if (last.has_value()) parent.gained_ticks = ChildrenTicks(*last) - (was_seen ? ChildrenTicks(member->second) : 0);
  parent.ignores_child_signal = was_seen && member->second.ignores_child_signal;
  reaped_parents_[pid] = parent;

  std::optional<TreeIo> io = last.has_value() ? last->io : std::nullopt;
  if (!io.has_value() && was_seen) io = member->second.io;
  reaped_.Add({reaped.user_ns, reaped.system_ns, reaped.major_faults, io});
  context_switches_involuntary_ += reaped.context_switches_involuntary;
  RaiseTo(reaped.max_rss_bytes, &peaks_.process_peak_rss_bytes);
  RaiseTo(1, &peaks_.max_processes);
  RaiseTo(1, &peaks_.max_threads);
  if (was_seen) members_.erase(member);
}

void TreeLedger::AddSnapshot(const std::vector<ProcessReading>& members) {
  Members now;
  for (const ProcessReading& process : members) {
    ProcessReading& reading = now.emplace(process.stat.pid, process).first->second;
    const auto before = members_.find(process.stat.pid);
    if (before != members_.end() && IsSame(before->second, reading)) KeepFromFalling(before->second, &reading);
  }
  JudgeVanished(now);
  members_ = std::move(now);
  reaped_parents_.clear();
  NotePeaks();
}

TreeLedger::Waiter TreeLedger::FindWaiter(const ProcessReading& process, const Members& now) const {
  // A parent that has vanished too was waited for with all that it had waited for, so its own parent is asked.
  int parent = process.stat.parent_pid;
  const auto waiter_if = [&parent](bool nobody) {
    return Waiter{nobody, nobody ? std::nullopt : std::optional(parent)};
  };
  for (size_t generation = 0; generation <= members_.size() && parent != sampler_pid_; ++generation) {
    const auto before = members_.find(parent);
    if (before != members_.end() && before->second.ignores_child_signal) return waiter_if(true);
    if (const auto reaped = reaped_parents_.find(parent); reaped != reaped_parents_.end()) {
      return waiter_if(reaped->second.ignores_child_signal);
    }
    const auto living = now.find(parent);
    if (living != now.end() && (before == members_.end() || IsSame(before->second, living->second))) {
      return waiter_if(living->second.ignores_child_signal);
    }
    if (before == members_.end()) break;
    parent = before->second.stat.parent_pid;
  }
  return {};
}

std::optional<int64_t> TreeLedger::GainedTicks(int waiter, const Members& now) const {
  if (const auto reaped = reaped_parents_.find(waiter); reaped != reaped_parents_.end()) {
    return reaped->second.gained_ticks;
  }
  const auto before = members_.find(waiter);
  return ChildrenTicks(now.at(waiter)) - (before == members_.end() ? 0 : ChildrenTicks(before->second));
}

void TreeLedger::JudgeVanished(const Members& now) {
  std::map<int, std::vector<const ProcessReading*>> by_waiter;
  for (const auto& [pid, process] : members_) {
    if (const auto still = now.find(pid); still != now.end() && IsSame(still->second, process)) continue;
    if (const Waiter waiter = FindWaiter(process, now); waiter.nobody || (!waiter.process.has_value() && !waits_)) {
      KeepLastReading(process);
    } else if (waiter.process.has_value()) {
      by_waiter[*waiter.process].push_back(&process);
    }
  }
  // A parent with SA_NOCLDWAIT cannot be recognised in /proc, but its children's times do not reach it: a child that
  // had used more than the parent gained was not waited for.
  for (auto& [waiter, vanished] : by_waiter) {
    const std::optional<int64_t> gained = GainedTicks(waiter, now);
    if (!gained.has_value()) continue;
    int64_t left = *gained + kRoundingTicks;
    SortLargestFirst(&vanished, [](const ProcessReading* process) { return CpuTicks(*process); });
    for (const ProcessReading* process : vanished) {
      if (CpuTicks(*process) <= left) {
        left -= CpuTicks(*process);
      } else {
        KeepLastReading(*process);
      }
    }
  }
}

void TreeLedger::KeepLastReading(const ProcessReading& process) {
  unwaited_.Add(AccountOf(process));
  if (!process.ended()) ++tree_cpu_sampled_;  // else it was its last
}

void TreeLedger::Account::Add(const Account& more) {
  user_ns += more.user_ns;
  system_ns += more.system_ns;
  major_faults += more.major_faults;
  AddIo(more.io, &io);
}

TreeLedger::Account TreeLedger::AccountOf(const ProcessReading& process) const {
  const ProcStat& stat = process.stat;
  return {(stat.user_ticks + stat.children_user_ticks) * tick_ns_,
          (stat.system_ticks + stat.children_system_ticks) * tick_ns_, stat.major_faults + stat.children_major_faults,
          process.io};
}

TreeLedger::Account TreeLedger::Everything() const {
  Account all = reaped_;
  all.Add(unwaited_);
  for (const auto& [pid, process] : members_) all.Add(AccountOf(process));
  return all;
}

TreeSampleFact TreeLedger::HeldNow() const {
  TreeSampleFact held;
  for (const auto& [pid, process] : members_) {
    if (process.ended()) continue;
    if (held.processes++ == 0) held.pss_bytes = held.swap_bytes = 0;
    held.threads += process.stat.threads;
    held.rss_bytes += process.rss_bytes;
    AddOrForget(process.pss_bytes, &held.pss_bytes);
    AddOrForget(process.swap_bytes, &held.swap_bytes);
  }
  return held;
}

void TreeLedger::NotePeaks() {
  const TreeSampleFact held = HeldNow();
  RaiseTo(held.rss_bytes, &peaks_.tree_peak_rss_bytes);
  if (held.pss_bytes.has_value()) RaiseTo(*held.pss_bytes, &peaks_.tree_peak_pss_bytes);
  if (held.swap_bytes.has_value()) RaiseTo(*held.swap_bytes, &peaks_.tree_peak_swap_bytes);
  RaiseTo(held.processes, &peaks_.max_processes);
  RaiseTo(held.threads, &peaks_.max_threads);
  for (const auto& [pid, process] : members_) {
    RaiseTo(process.counts.rss_peak_bytes.value_or(process.rss_bytes), &peaks_.process_peak_rss_bytes);
  }
}

TreeSampleFact TreeLedger::Sample(int64_t boot_ns) {
  TreeSampleFact sample = HeldNow();
  for (const auto& [pid, process] : members_) {
    if (process.ended()) continue;
    ProcessCounts counts = process.counts;
    counts.system_cpu_ns = process.stat.system_ticks * tick_ns_;
    sample.process_rows.push_back({pid, boot_ns + process.stat.start_ticks * tick_ns_, process.rss_bytes,
                                   (process.stat.user_ticks + process.stat.system_ticks) * tick_ns_,
                                   process.stat.threads, process.stat.name, counts});
  }
  const Account all = Everything();
  RaiseTo(all.user_ns, &said_.user_ns);
  RaiseTo(all.system_ns, &said_.system_ns);
  RaiseTo(all.io, &said_.io);
  sample.cpu_user_ns = said_.user_ns;
  sample.cpu_system_ns = said_.system_ns;
  sample.io = said_.io;
  return sample;
}

TreeTotals TreeLedger::Totals() const {
  TreeTotals totals = peaks_;
  const Account all = Everything();
  totals.cpu_user_ns = all.user_ns;
  totals.cpu_system_ns = all.system_ns;
  totals.major_faults = all.major_faults;
  totals.io = all.io;
  // While one process was at its peak, the tree held at least that much.
  if (totals.process_peak_rss_bytes.has_value()) RaiseTo(*totals.process_peak_rss_bytes, &totals.tree_peak_rss_bytes);
  if (waits_) totals.context_switches_involuntary = context_switches_involuntary_;
  const int64_t left_running = absl::c_count_if(members_, [](const auto& entry) { return !entry.second.ended(); });
  totals.processes_left_running = left_running;
  totals.tree_cpu_sampled = tree_cpu_sampled_ + left_running;
  return totals;
}

}  // namespace crema
