// One reading of a process, whoever took it.
#ifndef CREMA_COLLECTOR_RECORDS_PROCESS_SAMPLE_H_
#define CREMA_COLLECTOR_RECORDS_PROCESS_SAMPLE_H_

#include <cstdint>
#include <optional>

namespace crema {

/// One reading of a process, by its own sampler or by `crema run`.
struct ProcessSample {
  int64_t time_ns = 0;  ///< Unix time
  std::optional<int64_t> rss_bytes;
  std::optional<int64_t> cpu_ns;  ///< since the process began
  std::optional<int64_t> threads;
  std::optional<int64_t> open_chunks;
  std::optional<int64_t> memory_limit_bytes;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_RECORDS_PROCESS_SAMPLE_H_
