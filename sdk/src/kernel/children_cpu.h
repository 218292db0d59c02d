// ChildrenCpu: the CPU time of child processes while they live.
#pragma once

#include "kernel/kernel_readings.h"

namespace crema::internal {

/// The CPU time of the children that were waited for, and of theirs, by RUSAGE_CHILDREN; and that of the children that
/// live, by their clocks. So what a child computes counts when it computes, not when it is waited for. Which children
/// the main thread has is looked for at most once in 20 ms: `children` of proc_pid_task(5), where the kernel has it, on
/// a descriptor of our own, since a filter of seccomp(2) may come that does not list open(2). Without it, beyond 16
/// children, and of other threads, a child counts when it has been waited for.
///
/// Not synchronized.
class ChildrenCpu {
 public:
  /// What all used so far, ns; it never declines. `pid`: of this process. nullopt: the kernel does not report it.
  MaybeInteger Read(std::int64_t pid, std::int64_t now_ns, DescriptorBudget* budget) noexcept;
  void Close(DescriptorBudget* budget) noexcept { list_.Close(budget); }

 private:
  struct Child {
    std::int64_t pid = 0;
    std::int64_t cpu_ns = 0;  ///< when it was read last
  };

  /// Adds the main thread's children that are not known.
  void Look(DescriptorBudget* budget) noexcept;
  /// Reads the clocks of the known children, and forgets those that have none any more.
  std::int64_t ReadLiving() noexcept;

  static constexpr int kMostChildren = 16;
  char path_[64] = "";
  ProcReading list_{path_, IsListOfProcesses};
  Child children_[kMostChildren];
  int count_ = 0;
  std::int64_t look_ns_ = 0;  ///< when to look again
  std::int64_t last_ns_ = 0;
  std::int64_t gone_ns_ = 0;  ///< of children for which nobody waited
};

}  // namespace crema::internal
