// Who used how much: the account of a process tree, from readings of /proc and from wait4(2).
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LEDGER_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collector/records/tree_facts.h"
#include "collector/sources/process_tree/process_reading.h"

namespace crema {

/// Every process's CPU time, I/O and major faults are counted once, wherever the kernel keeps them by then:
///
///  - wait4(2) gives the exact account of a process *and of all that it waited for itself*, so only the processes
///    that the sampler waits for are added, never their children;
///  - a living process holds its own time and that of the children it waited for (`cutime`), so the sum over living
///    processes stays the same when one passes to its parent;
///  - a process whose parent ignores SIGCHLD (or has SA_NOCLDWAIT) vanishes with its times: what its last reading
///    said is kept, and it is counted in `tree_cpu_sampled`.
class TreeLedger {
 public:
  /// `sampler_pid`: the root, itself not part of the tree. `tick_ns`: nanoseconds of a clock tick.
  TreeLedger(int sampler_pid, int64_t tick_ns);

  /// Of a tree for which the sampler never waits. A process that is waited for outside the tree leaves its last
  /// reading, counted in `tree_cpu_sampled` unless it had ended by then; what only wait4(2) tells stays unknown.
  static TreeLedger OfStrangers(int64_t tick_ns);

  /// The sampler waited for a process. `last`: its reading as a zombie, just before; absent when there was none.
  void AddReaped(const TreeReapFact& reaped, std::optional<ProcessReading> last);

  /// All members of the tree that exist now. One that was here before, and was not reaped by the sampler, has vanished:
  /// its parent, which must have been read *after* it was found missing, tells whether it was waited for.
  void AddSnapshot(const std::vector<ProcessReading>& members);

  /// The tree at the last snapshot, in the shape of the log; time and network are the caller's. `boot_ns`: Unix time
  /// of tick 0.
  TreeSampleFact Sample(int64_t boot_ns);

  /// All so far. Processes still there count with their last reading, in `processes_left_running` too.
  TreeTotals Totals() const;

 private:
  /// What adds up over processes.
  struct Account {
    int64_t user_ns = 0;
    int64_t system_ns = 0;
    int64_t major_faults = 0;
    std::optional<TreeIo> io;
  };
  /// What the living members hold at one instant.
  struct Held {
    int64_t rss_bytes = 0;
    std::optional<int64_t> pss_bytes;
    std::optional<int64_t> swap_bytes;
    int64_t processes = 0;
    int64_t threads = 0;
  };
  /// A process that the sampler waited for since the last snapshot, as the parent of ones that vanished meanwhile.
  struct ReapedParent {
    std::optional<int64_t>
        gained_ticks;  ///< of children it waited for since the last snapshot; unknown without a reading
    bool ignores_child_signal = false;
  };
  /// Who would have waited for a process that vanished.
  struct Waiter {
    bool nobody = false;         ///< an ancestor ignores SIGCHLD: the kernel reaped it
    std::optional<int> process;  ///< pid of the nearest ancestor whose account is known; absent: cannot be told
  };
  using Members = std::map<int, ProcessReading>;

  void AddTo(const ProcessReading& process, Account* account) const;
  void KeepLastReading(const ProcessReading& process);
  Waiter FindWaiter(const ProcessReading& process, const Members& now) const;
  std::optional<int64_t> GainedTicks(int waiter, const Members& now) const;
  void JudgeVanished(const Members& now);
  Held HeldNow() const;
  void NotePeaks();
  Account Everything() const;

  int sampler_pid_;
  bool waits_ = true;
  int64_t tick_ns_;
  Members members_;  ///< by pid, as of the last snapshot; those reaped since are out
  std::map<int, ReapedParent> reaped_parents_;
  Account reaped_;
  Account unwaited_;  ///< of processes that the kernel reaped
  int64_t context_switches_involuntary_ = 0;
  int64_t tree_cpu_sampled_ = 0;
  TreeTotals peaks_;  ///< only its peaks and maxima are used
  Account said_;      ///< largest counters so far: in samples they never fall
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LEDGER_H_
