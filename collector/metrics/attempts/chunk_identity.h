// Which attempts are at the same chunk, and which processes are the same (docs/record_log.md, "What a reader does"):
// the one place, for tables, pictures and the live page.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/metrics/statistics/stable_hash.h"
#include "collector/records/facts.h"

namespace crema {

/// All that distinguishes a process from others (records/facts.h).
template <class Process>
uint64_t HashOfProcess(const Process& process) {
  return StableHash()
      .Add(std::string_view(process.run_id))
      .Add(std::string_view(process.host))
      .Add(process.pid)
      .Add(process.start_ns)
      .Add(std::string_view(process.boot_id))
      .Add(process.pid_namespace.value_or(-1))
      .value();
}

/// Each recorder of a process has a log, and numbers its chunks.
inline uint64_t HashOfLog(uint64_t process_hash, int64_t recorder) {
  return StableHash().Add(process_hash).Add(recorder).value();
}

/// What the chunks have in common that are read from one input in one pass of a run.
inline StableHash InputIdentity(uint64_t run_hash, const ChunkInput& input) {
  return StableHash().Add(run_hash).Add(input.pass).Add(input.dataset).Add(input.file).Add(input.tree);
}

/// Where the data is; without a file or a range the attempt itself, which is never a repetition.
inline uint64_t ChunkIdentity(StableHash input_identity, const ChunkInput& input, uint64_t log_hash, int64_t number) {
  if (input.file.empty() || !input.entry_start.has_value() || !input.entry_stop.has_value()) {
    return StableHash().Add(log_hash).Add(number).value();
  }
  return input_identity.Add(*input.entry_start).Add(*input.entry_stop).value();
}

}  // namespace crema
