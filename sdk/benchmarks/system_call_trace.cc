#include "sdk/benchmarks/system_call_trace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crema_benchmarks {
namespace {

/// No system call has this number; the kernel refuses it, and the tracer knows where `traced` begins and ends.
constexpr long kMark = 99999;

std::uint64_t BytesOf(const __ptrace_syscall_info& info) {
  switch (info.entry.nr) {
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
      return info.entry.args[2];
    default:
      return 0;
  }
}

/// A child that has called `prepare` and waits, traced, for its tracer to let it call `traced`; -1 and a complaint
/// where that cannot be.
pid_t StartTraced(const std::function<void()>& prepare, const std::function<void()>& traced, std::string* complaint) {
  const pid_t child = fork();
  if (child < 0) *complaint = std::string("fork: ") + strerror(errno);
  if (child != 0) {
    int status = 0;
    if (child < 0 || (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status))) return child;
    *complaint = "this machine does not allow ptrace(2)";
    return -1;
  }
  prepare();
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
  raise(SIGSTOP);
  traced();
  raise(SIGSTOP);
  _exit(0);
}

void Kill(pid_t child) {
  int status = 0;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

/// Follows the stopped child from instruction to instruction until it stops itself.
std::string Follow(pid_t child, std::int64_t* instructions) {
  while (true) {
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) {
      return std::string("PTRACE_SINGLESTEP: ") + strerror(errno);
    }
    if (waitpid(child, &status, 0) != child) return std::string("waitpid: ") + strerror(errno);
    if (!WIFSTOPPED(status)) return "the traced process ended early";
    if (WSTOPSIG(status) == SIGSTOP) return "";
    if (WSTOPSIG(status) != SIGTRAP) return "the traced process was stopped by a signal";
    ++*instructions;
  }
}

/// Follows the stopped child from system call to system call until it ends.
std::string Follow(pid_t child, std::vector<SystemCall>* calls) {
  int marks = 0;
  if (ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0) {
    return std::string("PTRACE_SETOPTIONS: ") + strerror(errno);
  }
  while (true) {
    int status = 0;
    if (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) return std::string("PTRACE_SYSCALL: ") + strerror(errno);
    if (waitpid(child, &status, 0) != child) return std::string("waitpid: ") + strerror(errno);
    if (WIFEXITED(status)) return marks == 2 ? "" : "the traced process ended early";
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
      return "the traced process was stopped by a signal";
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) {
      return std::string("PTRACE_GET_SYSCALL_INFO: ") + strerror(errno);
    }
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
    if (info.entry.nr == kMark) {
      ++marks;
    } else if (marks == 1) {
      calls->push_back({info.entry.nr, BytesOf(info)});
    }
  }
}

}  // namespace

SystemCallTrace TraceSystemCalls(const std::function<void()>& prepare, const std::function<void()>& traced) {
  SystemCallTrace trace;
  const auto marked = [&traced] {
    syscall(kMark);
    traced();
    syscall(kMark);
    _exit(0);
  };
  const pid_t child = StartTraced(prepare, marked, &trace.complaint);
  if (child < 0) return trace;
  trace.complaint = Follow(child, &trace.calls);
  if (!trace.complaint.empty()) Kill(child);
  return trace;
}

InstructionCount CountInstructions(const std::function<void()>& prepare, const std::function<void()>& counted) {
  InstructionCount count;
  const pid_t child = StartTraced(prepare, counted, &count.complaint);
  if (child < 0) return count;
  count.complaint = Follow(child, &count.instructions);
  Kill(child);
  return count;
}

std::string ToText(const SystemCall& call) {
  const std::string bytes = "(" + std::to_string(call.bytes) + ")";
  switch (call.number) {
    case SYS_read:
      return "read" + bytes;
    case SYS_write:
      return "write" + bytes;
    case SYS_pread64:
      return "pread64" + bytes;
    case SYS_clock_gettime:
      return "clock_gettime";
    case SYS_fstat:
      return "fstat";
    case SYS_newfstatat:
      return "newfstatat";
    case SYS_getrusage:
      return "getrusage";
    case SYS_prlimit64:
      return "prlimit64";
    default:
      return "system call " + std::to_string(call.number);
  }
}

}  // namespace crema_benchmarks
