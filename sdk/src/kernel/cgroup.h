// What the kernel allows this process: cores and memory, by affinity and control groups (versions 1 and 2).
#pragma once

#include <cstdint>
#include <optional>

namespace crema {
namespace internal {

/// The smaller of the CPUs in the affinity mask and the tightest CPU quota of the groups around the process.
std::optional<double> AllowedCores() noexcept;
/// The tightest memory limit of the groups around the process, in bytes; nullopt where there is none.
std::optional<std::int64_t> MemoryLimitBytes() noexcept;
/// How long the quotas of this process's groups kept tasks from their CPUs, since the groups began: `throttled_usec` of
/// `cpu.stat`, `throttled_time` in version 1; nullopt where there is no quota.
std::optional<std::int64_t> ThrottledNanoseconds() noexcept;
/// Share of the last 10 s in which some task of the machine waited for a CPU, in per cent: PSI's `some avg10`.
std::optional<double> CpuPressurePercent() noexcept;

}  // namespace internal
}  // namespace crema
