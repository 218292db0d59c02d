#include "kernel/children_cpu.h"

#include <stdio.h>

#include <algorithm>

namespace crema::internal {
namespace {

constexpr std::int64_t kLookNs = 20000000;  // a look takes some 5 us

}  // namespace

MaybeInteger ChildrenCpu::Read(std::int64_t pid, std::int64_t now_ns, DescriptorBudget* budget) noexcept {
  if (now_ns >= look_ns_) {
    look_ns_ = now_ns + kLookNs;
    if (path_[0] == '\0') snprintf(path_, sizeof path_, "/proc/self/task/%lld/children", static_cast<long long>(pid));
    Look(budget);
  }
  MaybeInteger ended_ns = CpuOfEndedChildren();
  std::int64_t living_ns = 0;
  for (int i = 0; count_ > 0 && i < 3; ++i) {
    living_ns = ReadLiving();
    // One that was waited for between both readings is in neither, or in both.
    const MaybeInteger before_ns = ended_ns;
    ended_ns = CpuOfEndedChildren();
    if (ended_ns == before_ns) break;
  }
  if (!ended_ns.has_value()) return std::nullopt;
  gone_ns_ += std::max<std::int64_t>(0, last_ns_ - (*ended_ns + living_ns + gone_ns_));
  last_ns_ = *ended_ns + living_ns + gone_ns_;
  return last_ns_;
}

void ChildrenCpu::Look(DescriptorBudget* budget) noexcept {
  char text[256];
  if (list_.Read(budget, text, sizeof text) <= 0) return;
  for (const char* at = text; count_ < kMostChildren; ++at) {
    std::int64_t child = 0;
    for (; *at >= '0' && *at <= '9'; ++at) child = 10 * child + (*at - '0');
    if (*at != ' ') return;  // the end, or a number that the text cuts
    const auto is_it = [child](const Child& known) { return known.pid == child; };
    if (std::none_of(children_, children_ + count_, is_it)) children_[count_++] = {child, 0};
  }
}

std::int64_t ChildrenCpu::ReadLiving() noexcept {
  std::int64_t sum_ns = 0;
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    const MaybeInteger cpu_ns = CpuOfProcess(children_[i].pid);
    // A clock that went back is another process's, which has the number now.
    if (!cpu_ns.has_value() || *cpu_ns < children_[i].cpu_ns) continue;
    children_[kept++] = {children_[i].pid, *cpu_ns};
    sum_ns += *cpu_ns;
  }
  count_ = kept;
  return sum_ns;
}

}  // namespace crema::internal
