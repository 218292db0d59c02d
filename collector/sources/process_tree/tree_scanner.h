// Finds and reads all descendants of a process, again and again, at low cost.
#pragma once

#include "collector/records/tree_facts.h"
#include "collector/sources/process_tree/proc_file.h"

namespace crema {

/// Descendants are found through /proc/PID/task/TID/children, which costs nothing for the rest of the machine; where
/// the kernel has no such file (no CONFIG_PROC_CHILDREN), through the parents of all processes. One that was found once
/// stays one until it ends, whoever its parent is by then. An orphan that was never found before it became one is in
/// the tree only where the root is the subreaper of its descendants (prctl(2)).
class TreeScanner {
 public:
  /// `filesystem_root` precedes `/proc`; empty but in tests.
  explicit TreeScanner(int root_pid, std::string filesystem_root = {});

  /// The tree of a process that is itself part of it. Its pid is not looked for again once it has ended.
  static TreeScanner IncludingRoot(int root_pid, std::string filesystem_root = {});

  /// All descendants of the root, parents first, the root itself not included but where it was asked for. Where a
  /// process has vanished since the last scan, its ancestors are read once more, so that their accounts hold it. Valid
  /// until the next call.
  const std::vector<ProcessReading>& Scan();

  /// Adds the PSS to the readings of the last scan. It makes the kernel walk page tables: see `PssSchedule`. Processes
  /// with a thread of a real-time class are left out.
  void ReadPss();

  /// A child that has ended but was not waited for: its last account. To be called just before wait4(2).
  std::optional<ProcessReading> ReadEnded(int pid);

  /// Children that the root has now, from a life before this one (`exec`), are not of its tree.
  void IgnorePresentChildren();
  /// Nor is this process (crema itself, below the one that it watches) with its children.
  void Ignore(int pid) { ignored_.push_back({pid, std::nullopt}); }
  /// Once an ignored child was waited for, its pid may be another's. `last`: its reading just before. Whether it was
  /// ignored.
  bool StopIgnoring(int pid, const std::optional<ProcessReading>& last);

  /// As the last scan had it.
  const std::vector<ProcessReading>& readings() const { return readings_; }
  /// Bytes that the members held at the last scan.
  int64_t rss_bytes() const { return rss_bytes_; }

 private:
  /// One process, with its files kept open.
  struct Member {
    int pid = 0;
    int64_t start_ticks = 0;
    KeptProcFile stat, statm, status, io, children;
    std::map<int, int64_t> run_delay_ns;  ///< by thread, of those seen in the last scan that looked
    int64_t ended_run_delay_ns = 0;       ///< of threads that have gone since
  };

  struct Ignored {
    int pid = 0;
    std::optional<int64_t> start_ticks;  ///< absent: whenever it started
  };

  bool ReadStat(Member* member, ProcessReading* reading);
  bool Read(Member* member, ProcessReading* reading);
  /// All its threads, those that have gone with what they had when they were seen last.
  void ReadRunDelay(Member* member, ProcessReading* reading);
  void AddChildrenOf(int pid, int64_t threads, KeptProcFile* main_thread);
  void AddChildrenList(std::string_view text);
  void AddByParents();
  void AddPid(int pid);
  bool RereadMember(int pid, std::vector<ProcessReading>* vanished);
  void RereadAncestors(std::vector<ProcessReading> vanished);
  const char* Path(int pid, const char* file);
  const char* TaskPath(int pid, int tid, const char* file = "children");
  bool HasRealTimeThread(int pid);
  std::vector<Ignored>::iterator FindIgnored(int pid);
  bool IsIgnored(int pid);
  bool KeepsFiles() const;

  int root_pid_;
  bool includes_root_ = false;
  std::string filesystem_root_;
  size_t kept_limit_;
  int64_t page_bytes_;
  bool has_children_files_;
  int64_t scans_ = 0;
  int64_t rss_bytes_ = 0;
  std::vector<Member> members_;           // as long as readings_ after a scan, in the same order
  std::vector<ProcessReading> readings_;  // of the last scan
  std::vector<ProcessReading> before_;    // of the one before
  std::vector<Ignored> ignored_;
  KeptProcFile root_children_;
  std::string path_;
  ProcBuffer buffer_;
};

/// Who used how much: the account of a process tree, from readings of /proc and from wait4(2).
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
  TreeLedger(int sampler_pid, int64_t tick_ns) : sampler_pid_(sampler_pid), tick_ns_(tick_ns) {}

  /// The ledger of a tree for which the sampler never waits. A process that is waited for outside the tree leaves its
  /// last reading, counted in `tree_cpu_sampled` unless it had ended by then; what only wait4(2) reports stays unknown.
  static TreeLedger OfStrangers(int64_t tick_ns);

  /// The sampler waited for a process. `last`: its reading as a zombie, just before; absent when there was none.
  void AddReaped(const TreeReapFact& reaped, std::optional<ProcessReading> last);

  /// All members of the tree that exist now. One that was here before, and was not reaped by the sampler, has vanished:
  /// its parent, which must have been read *after* it was found missing, shows whether it was waited for.
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

    void Add(const Account& more);
  };
  /// A process that the sampler waited for since the last snapshot, as the parent of ones that vanished meanwhile.
  struct ReapedParent {
    std::optional<int64_t> gained_ticks;  ///< of children it waited for since the snapshot; nullopt: no reading
    bool ignores_child_signal = false;
  };
  /// Who would have waited for a process that vanished.
  struct Waiter {
    bool nobody = false;         ///< an ancestor ignores SIGCHLD: the kernel reaped it
    std::optional<int> process;  ///< pid of the nearest ancestor whose account is known; absent: not known
  };
  using Members = std::map<int, ProcessReading>;

  Account AccountOf(const ProcessReading& process) const;
  void KeepLastReading(const ProcessReading& process);
  Waiter FindWaiter(const ProcessReading& process, const Members& now) const;
  std::optional<int64_t> GainedTicks(int waiter, const Members& now) const;
  void JudgeVanished(const Members& now);
  /// What the living members hold; nothing else of the sample.
  TreeSampleFact HeldNow() const;
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
