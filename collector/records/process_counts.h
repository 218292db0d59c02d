// What the kernel counts of a whole process: the same names in record logs, process-tree logs and live figures.
#ifndef CREMA_COLLECTOR_RECORDS_PROCESS_COUNTS_H_
#define CREMA_COLLECTOR_RECORDS_PROCESS_COUNTS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace crema {

/// Memory in bytes at one moment, its peak, and sums since the process began. nullopt: not known.
struct ProcessCounts {
  std::optional<int64_t> rss_peak_bytes;   ///< VmHWM: no short peak is missed
  std::optional<int64_t> anonymous_bytes;  ///< of resident memory: what the program allocated
  std::optional<int64_t> file_bytes;       ///< of resident memory: pages of files, and shared memory
  std::optional<int64_t> system_cpu_ns;    ///< CPU time in the kernel
  std::optional<int64_t> minor_faults;
  std::optional<int64_t> major_faults;  ///< these needed I/O
  std::optional<int64_t> read_calls;
  std::optional<int64_t> read_call_bytes;
  std::optional<int64_t> run_delay_ns;  ///< its threads were ready to run and had no CPU
  std::optional<int64_t> throttled_ns;  ///< the CPU quota of its cgroup held it back; nullopt: there is none

  /// Takes what is larger: peaks and sums only grow, and of memory at one moment the largest is kept.
  void Raise(const ProcessCounts& other);
};

struct ProcessCount {
  std::string_view key;
  std::optional<int64_t> ProcessCounts::*member;
};

inline constexpr ProcessCount kProcessCounts[] = {
    {"rss_peak_bytes", &ProcessCounts::rss_peak_bytes}, {"anonymous_bytes", &ProcessCounts::anonymous_bytes},
    {"file_bytes", &ProcessCounts::file_bytes},         {"system_cpu_ns", &ProcessCounts::system_cpu_ns},
    {"minor_faults", &ProcessCounts::minor_faults},     {"major_faults", &ProcessCounts::major_faults},
    {"read_calls", &ProcessCounts::read_calls},         {"read_call_bytes", &ProcessCounts::read_call_bytes},
    {"run_delay_ns", &ProcessCounts::run_delay_ns},     {"throttled_ns", &ProcessCounts::throttled_ns},
};

inline void ProcessCounts::Raise(const ProcessCounts& other) {
  // An empty optional is less than any value.
  for (const auto& [key, member] : kProcessCounts) this->*member = std::max(this->*member, other.*member);
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_RECORDS_PROCESS_COUNTS_H_
