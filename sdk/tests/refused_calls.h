// RefuseCalls: a kernel, or a container's seccomp profile, that does not allow some system calls.
#ifndef CREMA_TESTS_REFUSED_CALLS_H_
#define CREMA_TESTS_REFUSED_CALLS_H_

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace crema {
namespace testing {

/// From now on these system calls (SYS_…) of this process fail with `error` (seccomp(2)). Dies where that is not
/// possible.
inline void RefuseCalls(std::initializer_list<long> calls, int error) {
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    std::abort();
  }
}

}  // namespace testing
}  // namespace crema

#endif  // CREMA_TESTS_REFUSED_CALLS_H_
