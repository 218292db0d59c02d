// Finds and reads all descendants of a process, again and again, at low cost.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SCANNER_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SCANNER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/process_reading.h"

namespace crema {

/// Descendants are found through /proc/PID/task/TID/children, which costs nothing for the rest of the machine; where
/// the kernel has no such file (no CONFIG_PROC_CHILDREN), through the parents of all processes. One that was found once
/// stays one until it ends, whoever its parent is by then. An orphan that was never found before it became one is in
/// the tree only where the root is the subreaper of its descendants (prctl(2)).
class TreeScanner {
 public:
  /// `filesystem_root` stands before `/proc`; empty but in tests.
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

  /// Of the last scan.
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
  /// Of all its threads, those that have gone with what they had when they were seen last.
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SCANNER_H_
