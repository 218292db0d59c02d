// RefuseCalls: a kernel, or a container's seccomp profile, that does not allow some system calls. TrapCalls: a program
// that answers them itself.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace crema {
namespace testing {

/// From now on these system calls (SYS_…) of all threads lead to `action` (seccomp(2)). Dies if this is not possible.
inline void FilterCalls(std::initializer_list<long> calls, std::uint32_t action) {
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, action));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) {
    std::abort();
  }
}

/// ... fail with `error`.
inline void RefuseCalls(std::initializer_list<long> calls, int error) {
  FilterCalls(calls, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
}

/// ... bring SIGSYS to the thread that makes them. They return their number, unless the handler changes it.
inline void TrapCalls(std::initializer_list<long> calls) { FilterCalls(calls, SECCOMP_RET_TRAP); }

}  // namespace testing
}  // namespace crema
