// Which engine or batch system runs this process, as its environment says (docs/record_log.md, "`engine`").
#pragma once

#include <cstdint>
#include <optional>

#include "storage/fixed_text.h"

namespace crema::internal {

/// Texts are empty, and numbers nullopt, where the environment does not say.
struct EngineIdentity {
  FixedText<16> name;  ///< `taskvine`, `work_queue`, `htcondor`, `slurm` or `mpi`; empty: no engine
  FixedText<256> job;
  FixedText<256> step;
  std::optional<std::int64_t> rank;
  FixedText<256> slot;
  std::optional<std::int64_t> cpus;          ///< that the engine gave
  std::optional<std::int64_t> memory_bytes;  ///< that the engine gave
};

/// If there are several engines, the innermost: a worker of TaskVine may be a job of Slurm. `working_directory` may be
/// empty.
EngineIdentity FindEngine(std::string_view working_directory) noexcept;

}  // namespace crema::internal
