// How sacct writes times, memory, exit codes and lists of nodes (sacct(1), "Job Accounting Fields").
#ifndef CREMA_COLLECTOR_ENGINES_SLURM_SACCT_VALUES_H_
#define CREMA_COLLECTOR_ENGINES_SLURM_SACCT_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crema {

struct SacctTime {
  int64_t time_ns = 0;              ///< Unix time
  std::optional<int64_t> later_ns;  ///< in the hour that comes twice, when clocks are set back: the second time
};

/// Unix time of `1795576651` (SLURM_TIME_FORMAT=%s), `2026-11-25T03:20:00+0100`, or `2026-11-25T03:20:00`, which is
/// this machine's local time. nullopt: `Unknown`, `None`, or anything else.
std::optional<SacctTime> ParseSacctTime(std::string_view text);

/// `[days-][hours:]minutes:seconds[.fraction]`. nullopt: `UNLIMITED`, `Partition_Limit`, or anything else.
std::optional<int64_t> SacctDurationNs(std::string_view text);

/// What `ReqMem` asks for.
struct SacctMemory {
  enum class Of { kJob, kNode, kCore };
  int64_t bytes = 0;
  Of of = Of::kJob;  ///< until Slurm 21.08 a letter told it: `n`, `c`
};

/// `4G`, `1523.5M`, `812K`, `2000Mc`; without a unit they are bytes. nullopt: anything else.
std::optional<SacctMemory> ParseSacctMemory(std::string_view text);

/// One resource out of `cpu=2,mem=200M,node=1`; empty: it is not there.
std::string_view SacctResource(std::string_view text, std::string_view name);

struct SacctExit {
  int64_t code = 0;
  int64_t signal = 0;  ///< that ended it; 0: none
};

/// `0:9`, the code and the signal.
std::optional<SacctExit> ParseSacctExit(std::string_view text);

/// The nodes of `node[01-03,7],gpu1`, in order. Empty: there is none, or there are more than `most`.
std::vector<std::string> SacctNodes(std::string_view text, size_t most);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_SLURM_SACCT_VALUES_H_
