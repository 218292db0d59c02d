#include "collector/sources/process_tree/tree_sampler.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/sources/process_tree/watched_process.h"

namespace crema {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

constexpr int64_t kTimePerCost = 1000;       // a share of 0.1 % of a core
constexpr int64_t kAllowanceNs = 2'000'000;  // so that jobs of a few seconds have a reading too
constexpr int64_t kSamplesBetweenReadings = 10;
constexpr int64_t kGrowthDivisor = 10;

constexpr int64_t kMicrosecondNs = 1000;
constexpr int64_t kKibibyte = 1024;

// A root below which there is no file.
constexpr char kNothing[] = "/dev/null";

int64_t Nanoseconds(const timeval& time) { return time.tv_sec * kSecondNs + time.tv_usec * kMicrosecondNs; }

}  // namespace

int64_t TickNs() { return kSecondNs / sysconf(_SC_CLK_TCK); }

int64_t ReadClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

AnchoredClock::AnchoredClock()
    : anchor_ns_(ReadClockNs(CLOCK_REALTIME) - ReadClockNs(CLOCK_MONOTONIC)),
      boot_ns_(ReadClockNs(CLOCK_REALTIME) - ReadClockNs(CLOCK_BOOTTIME)) {}

int64_t AnchoredClock::UnixNs() const { return anchor_ns_ + ReadClockNs(CLOCK_MONOTONIC); }

bool PssSchedule::Due(int64_t now_ns, int64_t rss_bytes) {
  ++samples_since_;
  const bool wanted =
      samples_since_ >= kSamplesBetweenReadings || rss_bytes > largest_rss_bytes_ + largest_rss_bytes_ / kGrowthDivisor;
  return wanted && spent_ns_ + last_cost_ns_ <= kAllowanceNs + (now_ns - start_ns_) / kTimePerCost;
}

void PssSchedule::Spent(int64_t cost_ns, int64_t rss_bytes) {
  samples_since_ = 0;
  largest_rss_bytes_ = std::max(largest_rss_bytes_, rss_bytes);
  last_cost_ns_ = cost_ns;
  spent_ns_ += cost_ns;
}

TreeSampler::TreeSampler(const AnchoredClock& clock, TreeLogWriter* log, TreeScanner scanner, TreeLedger ledger,
                         const std::string& process)
    : clock_(clock),
      log_(log),
      scanner_(std::move(scanner)),
      ledger_(std::move(ledger)),
      pss_schedule_(clock.UnixNs()),
      net_path_("/proc/" + process + "/net/dev"),
      oom_kills_file_(FindOomKillsFile({}, process)) {
  net_.Add(net_file_.Read(net_path_.c_str(), true, &buffer_));
  oom_kills_before_ = ReadOomKills(oom_kills_file_);
}

bool TreeSampler::SeesProcesses() {
  char own[16] = {};
  const ssize_t length = readlink("/proc/self", own, sizeof own - 1);
  return length > 0 && std::to_string(getpid()) == own;
}

TreeSampler TreeSampler::OfOwnCommand(const AnchoredClock& clock, TreeLogWriter* log) {
  // In another namespace, /proc has strangers under the pids of ours.
  const bool sees_processes = SeesProcesses();
  TreeScanner scanner = sees_processes ? TreeScanner(getpid()) : TreeScanner(getpid(), kNothing);
  scanner.IgnorePresentChildren();
  TreeSampler sampler(clock, log, std::move(scanner), TreeLedger(getpid(), TickNs()), "self");
  sampler.sees_processes_ = sees_processes;
  return sampler;
}

TreeSampler TreeSampler::OfProcess(int pid, const AnchoredClock& clock, TreeLogWriter* log) {
  TreeScanner scanner = TreeScanner::IncludingRoot(pid);
  scanner.Ignore(getpid());
  return TreeSampler(clock, log, std::move(scanner), TreeLedger::OfStrangers(TickNs()), std::to_string(pid));
}

bool TreeSampler::AnyAlive() const {
  return std::any_of(scanner_.readings().begin(), scanner_.readings().end(),
                     [](const ProcessReading& process) { return !process.ended(); });
}

bool TreeSampler::IsOfTree(int64_t pid) const {
  return std::any_of(scanner_.readings().begin(), scanner_.readings().end(),
                     [pid](const ProcessReading& process) { return process.stat.pid == pid; });
}

void TreeSampler::Sample() {
  gpus_.StartOnce();  // the command runs by now: it waits for nothing
  net_bytes_ = net_.Add(net_file_.Read(net_path_.c_str(), true, &buffer_));
  if (!sees_processes_) return;
  scanner_.Scan();
  if (pss_schedule_.Due(clock_.UnixNs(), scanner_.rss_bytes())) {
    const int64_t before_ns = ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
    scanner_.ReadPss();
    pss_schedule_.Spent(ReadClockNs(CLOCK_THREAD_CPUTIME_ID) - before_ns, scanner_.rss_bytes());
  }
  ledger_.AddSnapshot(scanner_.readings());
  TreeSampleFact sample = ledger_.Sample(clock_.boot_ns());
  sample.time_ns = clock_.UnixNs();
  sample.net = net_bytes_;
  sample.gpus = gpus_.Latest([this](int64_t pid) { return IsOfTree(pid); });
  log_->Write(sample);
  ++samples_;
}

TreeSampler::Reaped TreeSampler::ReapChildren(pid_t command) {
  Reaped result;
  for (;;) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      result.none_left = errno == ECHILD;
      return result;
    }
    if (ended.si_pid == 0) return result;
    // wait4 gives the account of a process and all that it waited for in one sum: /proc has its parts, but only as
    // long as nobody waited for it.
    const std::optional<ProcessReading> last = scanner_.ReadEnded(ended.si_pid);
    int status = 0;
    rusage usage{};
    if (wait4(ended.si_pid, &status, WNOHANG, &usage) != ended.si_pid) continue;
    if (scanner_.StopIgnoring(ended.si_pid, last) && ended.si_pid != command) continue;
    TreeReapFact reaped;
    reaped.time_ns = clock_.UnixNs();
    reaped.pid = ended.si_pid;
    reaped.user_ns = Nanoseconds(usage.ru_utime);
    reaped.system_ns = Nanoseconds(usage.ru_stime);
    reaped.max_rss_bytes = usage.ru_maxrss * kKibibyte;
    reaped.major_faults = usage.ru_majflt;
    reaped.context_switches_involuntary = usage.ru_nivcsw;
    reaped.exit_status = ShellStatus(status);
    ledger_.AddReaped(reaped, last);
    log_->Write(reaped);
    if (ended.si_pid == command) result.command_status = status;
  }
}

void TreeSampler::End(int64_t stop_ns, std::optional<int> exit_status) {
  Sample();
  TreeEndFact end;
  end.time_ns = stop_ns;
  end.exit_status = exit_status;
  end.totals = ledger_.Totals();
  end.totals.net = net_bytes_;
  const std::optional<int64_t> oom_kills = ReadOomKills(oom_kills_file_);
  if (oom_kills.has_value() && oom_kills_before_.has_value()) end.totals.oom_kills = *oom_kills - *oom_kills_before_;
  if (!sees_processes_) {
    end.totals.tree_peak_rss_bytes.reset();
    end.totals.max_processes.reset();
    end.totals.max_threads.reset();
    end.totals.processes_left_running.reset();
  }
  end.gpus = gpus_.End();
  end.samples = samples_;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    end.sampler_cpu_ns = Nanoseconds(usage.ru_utime) + Nanoseconds(usage.ru_stime);
  }
  // Not ru_maxrss: exec(2) hands on the peak of whoever started crema.
  end.sampler_peak_rss_bytes = ParseProcStatus(ReadProcFile("/proc/self/status", &buffer_)).peak_rss_bytes;
  log_->Write(end);
}

}  // namespace crema
