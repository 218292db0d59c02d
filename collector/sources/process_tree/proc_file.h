// Reading small kernel files (below /proc and /sys) cheaply, with a root in front so that tests can bring their own.
#pragma once

#include <sys/wait.h>

#include <array>
#include <map>

#include "collector/idioms/descriptor.h"
#include "collector/records/tree_facts.h"

namespace crema {

/// Room for the longest file read here; `status` and `stat` are under 2 KiB.
using ProcBuffer = std::array<char, 16384>;

/// The file's text, in `buffer`; empty when it cannot be read or is empty. Longer files are cut.
std::string_view ReadProcFile(const char* path, ProcBuffer* buffer);

/// A kernel file read again and again through one descriptor. Once its process has ended, reading gives nothing, even
/// when another process has the pid by then.
class KeptProcFile {
 public:
  /// Opens on the first call where `keep` allows to hold a descriptor; else opens, reads and closes.
  std::string_view Read(const char* path, bool keep, ProcBuffer* buffer);

 private:
  Descriptor descriptor_;
};

/// The whole of a file that is read once, of whatever length; empty when it cannot be read.
std::string ReadWholeFile(const std::string& path);

/// /proc/PID/stat (proc_pid_stat(5)): who a process is, whose child, and the CPU time it used.
/// Times are in clock ticks, as the kernel gives them (sysconf(_SC_CLK_TCK), 100 a second).
struct ProcStat {
  int pid = 0;
  char state = '?';  ///< Z: ended, not yet waited for
  int parent_pid = 0;
  int64_t minor_faults = 0;  ///< its own, as the next
  int64_t major_faults = 0;
  int64_t children_major_faults = 0;  ///< of children that it waited for
  int64_t user_ticks = 0;
  int64_t system_ticks = 0;
  int64_t children_user_ticks = 0;  ///< of children that it waited for, and what those waited for
  int64_t children_system_ticks = 0;
  int64_t threads = 0;
  std::string name;           ///< of the command, as the kernel cuts it
  int64_t start_ticks = 0;    ///< since the machine booted: with the pid, it names the process
  bool is_real_time = false;  ///< the thread's scheduling class; of a process, its first thread's
};

/// The run delay in /proc/PID/task/TID/schedstat, in nanoseconds: so long the thread was ready to run and had no CPU.
std::optional<int64_t> ParseRunDelay(std::string_view text);

/// The command's name may hold blanks and brackets, so fields are counted from the last `)`. nullopt: not such a line.
std::optional<ProcStat> ParseProcStat(std::string_view text);

/// /proc/PID/io: what a process read and wrote, children that it waited for included.
/// The kernel adds a child's I/O to its parent's when the parent waits for it (task_io_accounting_add in
/// kernel/exit.c), as it does with CPU time. nullopt: a field is missing.
std::optional<TreeIo> ParseProcIo(std::string_view text);

/// The read calls that the same file counts.
std::optional<int64_t> ParseReadCalls(std::string_view text);

/// Resident pages of /proc/PID/statm (its second field); multiply by the page size.
std::optional<int64_t> ParseStatmResidentPages(std::string_view text);

/// What only /proc/PID/status shows. A process that has ended has no memory lines.
struct ProcStatus {
  std::optional<int64_t> peak_rss_bytes;   ///< VmHWM
  std::optional<int64_t> anonymous_bytes;  ///< RssAnon
  std::optional<int64_t> file_bytes;       ///< RssFile + RssShmem
  std::optional<int64_t> swap_bytes;       ///< VmSwap
  bool ignores_child_signal = false;       ///< SigIgn holds SIGCHLD: the kernel reaps its children, with their times
};
ProcStatus ParseProcStatus(std::string_view text);

/// `Pss:` of /proc/PID/smaps_rollup in bytes: resident memory, shared pages divided among those who share them.
std::optional<int64_t> ParsePssBytes(std::string_view text);

/// /proc/net/dev: bytes through the interfaces of a network namespace.
/// Counts per interface; loopback is left out, as it leaves no host.
using InterfaceBytes = std::map<std::string, TreeNet, std::less<>>;
InterfaceBytes ParseProcNetDev(std::string_view text);

/// Bytes since the first reading. An interface that vanishes or starts again keeps what it had counted.
class NetCounter {
 public:
  /// Adds a reading of /proc/net/dev and gives the sums since the first one; nullopt for an unreadable file (empty).
  std::optional<TreeNet> Add(std::string_view proc_net_dev);

 private:
  bool has_first_ = false;
  InterfaceBytes last_;
  TreeNet sum_;
};

/// Whether others may share the network namespace of the process (a pid, or `self`): it is that of process 1, or it
/// is not known.
bool NetworkIsShared(const std::string& process = "self");

/// One process as /proc shows it at one moment.
struct ProcessReading {
  ProcStat stat;
  int64_t rss_bytes = 0;
  ProcessCounts counts;  ///< without `throttled_ns`; those of reads are with children it waited for
  std::optional<int64_t> swap_bytes;
  std::optional<int64_t> pss_bytes;
  std::optional<TreeIo> io;  ///< its own and that of children it waited for
  bool ignores_child_signal = false;

  bool ended() const { return stat.state == 'Z' || stat.state == 'X'; }
};

/// Who a process is that somebody else started: what `crema run --pid` writes down of it.
struct WatchedProcess {
  int pid = 0;
  int64_t start_ticks = 0;                         ///< since the machine booted, in clock ticks
  std::string name;                                ///< the kernel's, at most 15 characters
  std::vector<std::string> arguments;              ///< empty: a kernel thread, or not readable
  std::map<std::string, std::string> environment;  ///< at its start; empty where it may not be read
};

/// nullopt: there is no such process, or it has ended, or the number is that of a thread. `filesystem_root` stands
/// before /proc; empty but in tests.
std::optional<WatchedProcess> FindProcess(int pid, const std::string& filesystem_root = {});

/// The process that has the pid at construction; never another one that gets its pid later.
class ProcessExit {
 public:
  explicit ProcessExit(int pid);

  /// Whether it has ended; true too where there was none. Nobody needs to have waited for it.
  bool HasEnded() const;

  /// Becomes readable when it ends (pidfd_open(2)); -1 where the kernel has no such thing (before 5.3): ask `HasEnded`.
  int descriptor() const { return descriptor_; }

 private:
  int pid_;
  int64_t start_ticks_ = -1;
  Descriptor descriptor_;
};

/// The status that a shell makes of one of wait(2): the process's own, or 128 + the signal that killed it.
inline int ShellStatus(int wait_status) {
  constexpr int kKilled = 128;
  return WIFSIGNALED(wait_status) ? kKilled + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace crema
