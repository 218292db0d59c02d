#include "collector/sources/process_tree/tree_ledger.h"

#include <algorithm>
#include <utility>

namespace crema {
namespace {

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
  (*sum)->read_bytes += more->read_bytes;
  (*sum)->write_bytes += more->write_bytes;
  (*sum)->rchar_bytes += more->rchar_bytes;
  (*sum)->wchar_bytes += more->wchar_bytes;
}

void RaiseTo(int64_t value, int64_t* largest) { *largest = std::max(*largest, value); }

void RaiseTo(int64_t value, std::optional<int64_t>* largest) { *largest = std::max(largest->value_or(value), value); }

// Some kernels and file systems let a counter go back (HSF/prmon issue 173 lost the I/O of half its jobs to it): what
// was once counted stays counted. A counter that can no longer be read stands where it was.
void KeepFromFalling(const ProcessReading& before, ProcessReading* now) {
  RaiseTo(before.stat.user_ticks, &now->stat.user_ticks);
  RaiseTo(before.stat.system_ticks, &now->stat.system_ticks);
  RaiseTo(before.stat.children_user_ticks, &now->stat.children_user_ticks);
  RaiseTo(before.stat.children_system_ticks, &now->stat.children_system_ticks);
  RaiseTo(before.stat.major_faults, &now->stat.major_faults);
  RaiseTo(before.stat.children_major_faults, &now->stat.children_major_faults);
  if (!before.io.has_value()) return;
  if (!now->io.has_value()) now->io.emplace();
  RaiseTo(before.io->read_bytes, &now->io->read_bytes);
  RaiseTo(before.io->write_bytes, &now->io->write_bytes);
  RaiseTo(before.io->rchar_bytes, &now->io->rchar_bytes);
  RaiseTo(before.io->wchar_bytes, &now->io->wchar_bytes);
}

// A sum of which one term is not known is not known.
void AddOrForget(const std::optional<int64_t>& more, std::optional<int64_t>* sum) {
  if (!more.has_value()) sum->reset();
  if (sum->has_value()) **sum += *more;
}

}  // namespace

TreeLedger::TreeLedger(int sampler_pid, int64_t tick_ns) : sampler_pid_(sampler_pid), tick_ns_(tick_ns) {}

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
  if (last.has_value()) {
    parent.gained_ticks = ChildrenTicks(*last) - (was_seen ? ChildrenTicks(member->second) : 0);
  }
  parent.ignores_child_signal = was_seen && member->second.ignores_child_signal;
  reaped_parents_[pid] = parent;

  reaped_.user_ns += reaped.user_ns;
  reaped_.system_ns += reaped.system_ns;
  reaped_.major_faults += reaped.major_faults;
  context_switches_involuntary_ += reaped.context_switches_involuntary;
  if (last.has_value() && last->io.has_value()) {
    AddIo(last->io, &reaped_.io);
  } else if (was_seen) {
    AddIo(member->second.io, &reaped_.io);
  }
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
  Waiter waiter;
  int parent = process.stat.parent_pid;
  for (size_t generation = 0; generation <= members_.size() && parent != sampler_pid_; ++generation) {
    const auto before = members_.find(parent);
    if (before != members_.end() && before->second.ignores_child_signal) {
      waiter.nobody = true;
      return waiter;
    }
    if (const auto reaped = reaped_parents_.find(parent); reaped != reaped_parents_.end()) {
      waiter.nobody = reaped->second.ignores_child_signal;
      if (!waiter.nobody) waiter.process = parent;
      return waiter;
    }
    const auto living = now.find(parent);
    if (living != now.end() && (before == members_.end() || IsSame(before->second, living->second))) {
      waiter.nobody = living->second.ignores_child_signal;
      if (!waiter.nobody) waiter.process = parent;
      return waiter;
    }
    if (before == members_.end()) return waiter;
    parent = before->second.stat.parent_pid;
  }
  return waiter;
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
    const auto still = now.find(pid);
    if (still != now.end() && IsSame(still->second, process)) continue;
    const Waiter waiter = FindWaiter(process, now);
    if (waiter.nobody || (!waiter.process.has_value() && !waits_)) {
      KeepLastReading(process);
    } else if (waiter.process.has_value()) {
      by_waiter[*waiter.process].push_back(&process);
    }
  }
  // A parent with SA_NOCLDWAIT cannot be told from /proc, but its children's times do not reach it: a child that had
  // used more than the parent gained was not waited for.
  for (auto& [waiter, vanished] : by_waiter) {
    const std::optional<int64_t> gained = GainedTicks(waiter, now);
    if (!gained.has_value()) continue;
    int64_t left = *gained + kRoundingTicks;
    std::stable_sort(vanished.begin(), vanished.end(),
                     [](const ProcessReading* a, const ProcessReading* b) { return CpuTicks(*a) > CpuTicks(*b); });
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
  AddTo(process, &unwaited_);
  if (!process.ended()) ++tree_cpu_sampled_;  // else it was its last
}

void TreeLedger::AddTo(const ProcessReading& process, Account* account) const {
  account->user_ns += (process.stat.user_ticks + process.stat.children_user_ticks) * tick_ns_;
  account->system_ns += (process.stat.system_ticks + process.stat.children_system_ticks) * tick_ns_;
  account->major_faults += process.stat.major_faults + process.stat.children_major_faults;
  AddIo(process.io, &account->io);
}

TreeLedger::Account TreeLedger::Everything() const {
  Account all = reaped_;
  all.user_ns += unwaited_.user_ns;
  all.system_ns += unwaited_.system_ns;
  all.major_faults += unwaited_.major_faults;
  AddIo(unwaited_.io, &all.io);
  for (const auto& [pid, process] : members_) AddTo(process, &all);
  return all;
}

TreeLedger::Held TreeLedger::HeldNow() const {
  Held held;
  held.pss_bytes = 0;
  held.swap_bytes = 0;
  for (const auto& [pid, process] : members_) {
    if (process.ended()) continue;
    ++held.processes;
    held.threads += process.stat.threads;
    held.rss_bytes += process.rss_bytes;
    AddOrForget(process.pss_bytes, &held.pss_bytes);
    AddOrForget(process.swap_bytes, &held.swap_bytes);
  }
  if (held.processes == 0) {
    held.pss_bytes.reset();
    held.swap_bytes.reset();
  }
  return held;
}

void TreeLedger::NotePeaks() {
  const Held held = HeldNow();
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
  const Held held = HeldNow();
  TreeSampleFact sample;
  sample.rss_bytes = held.rss_bytes;
  sample.pss_bytes = held.pss_bytes;
  sample.swap_bytes = held.swap_bytes;
  sample.processes = held.processes;
  sample.threads = held.threads;
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
  if (all.io.has_value()) {
    if (!said_.io.has_value()) said_.io.emplace();
    RaiseTo(all.io->read_bytes, &said_.io->read_bytes);
    RaiseTo(all.io->write_bytes, &said_.io->write_bytes);
    RaiseTo(all.io->rchar_bytes, &said_.io->rchar_bytes);
    RaiseTo(all.io->wchar_bytes, &said_.io->wchar_bytes);
  }
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
  if (totals.process_peak_rss_bytes.has_value()) {
    RaiseTo(*totals.process_peak_rss_bytes, &totals.tree_peak_rss_bytes);
  }
  if (waits_) totals.context_switches_involuntary = context_switches_involuntary_;
  int64_t left_running = 0;
  for (const auto& [pid, process] : members_) left_running += process.ended() ? 0 : 1;
  totals.processes_left_running = left_running;
  totals.tree_cpu_sampled = tree_cpu_sampled_ + left_running;
  return totals;
}

}  // namespace crema
