// Verdicts on what the engine and the files do with bytes, and on functions that stacks saw.
#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr char kFasterCodec[] = "Store the input with a faster codec (LZ4, ZSTD), or read fewer columns.";

struct EngineCost {
  std::string_view id;
  std::string_view key;       ///< seconds
  std::string_view sentence;  ///< `{}`: the share
};

constexpr EngineCost kEngineCosts[] = {
    {"serialization-heavy", "total_serialization_overhead_seconds",
     "The engine serialized and deserialized for {} of the core-seconds."},
    {"compression-heavy", "total_compression_overhead_seconds",
     "The engine compressed and decompressed spilled data and transfers for {} of the core-seconds."},
};

void JudgeEngineCost(const JudgedRun& run, const EngineCost& cost) {
  const VerdictRule& rule = RuleOf(cost.id);
  const std::optional<double> seconds = run.measurement.Metric(cost.key);
  if (!seconds.has_value()) return;
  const double share = run.ShareOf(*seconds);
  if (!rule.threshold.Holds(share)) return;
  run.Add(rule, share, fmt::format(fmt::runtime(cost.sentence), HumanPercent(share)),
          {{std::string(cost.key), *seconds}}, share);
}

void JudgeSpilling(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("spilling");
  const std::optional<double> reading = run.measurement.Metric("disk_read_time_seconds");
  const std::optional<double> writing = run.measurement.Metric("disk_write_time_seconds");
  if (!reading.has_value() && !writing.has_value()) return;
  const double share = run.ShareOf(reading.value_or(0) + writing.value_or(0));
  if (!rule.threshold.Holds(share)) return;
  const double bytes = run.Metric("disk_write_bytes");
  run.Add(rule, share,
          fmt::format("Workers spilled {} to disk, which took {} of the core-seconds.", HumanData(bytes),
                      HumanPercent(share)),
          {{"disk_write_bytes", bytes},
           {"disk_write_time_seconds", writing.value_or(0)},
           {"disk_read_time_seconds", reading.value_or(0)}},
          share);
}

/// Whether a native function is one of liblzma, zstd, LZ4 or zlib that decompresses. Analyses inflate errors, too.
bool Decompresses(const std::string& function) {
  if (function == "inflate" || absl::StartsWith(function, "inflate_fast") || function == "inflate_table") return true;
  for (const char* const codec : {"lzma", "lz_", "LZ4_", "ZSTD_", "HUF_", "FSE_"}) {
    if (!absl::StartsWith(function, codec)) continue;
    return absl::StrContains(function, "decode") || absl::StrContains(function, "decompress") ||
           absl::StrContains(function, "DTable");
  }
  return false;
}

/// What stacks saw of some functions on CPUs.
struct SampledFunctions {
  const FunctionRow* most = nullptr;  ///< nullptr: none of them was seen
  double samples = 0;
  double share = 0;     ///< of the core-seconds
  double at_least = 0;  ///< at the lower end of its range
};

template <class IsOne>
SampledFunctions FindSampled(const JudgedRun& run, const IsOne& is_one) {
  SampledFunctions found;
  double all = 0;
  for (const FunctionRow& row : run.measurement.functions) {
    const double samples = row.samples.value_or(0);
    all += samples;
    if (!is_one(row) || row.share.value_or(0) <= 0) continue;
    found.samples += samples;
    found.at_least += samples * std::max(0.0, 1 - row.share_error.value_or(1) / *row.share);
    if (found.most == nullptr || samples > found.most->samples.value_or(0)) found.most = &row;
  }
  const double cpu = run.ShareOf(run.Metric("chunk_cpu_time"));
  found.share = all > 0 ? found.samples / all * cpu : 0;
  found.at_least = all > 0 ? found.at_least / all * cpu : 0;
  return found;
}

/// Where nobody recorded the time inside decompressors: by the functions that stacks saw on a CPU.
void JudgeSampledDecompression(const JudgedRun& run) {
  const SampledFunctions found =
      FindSampled(run, [](const FunctionRow& row) { return Decompresses(row.function.str()); });
  if (found.most == nullptr || !kMuchDecompression.Holds(found.at_least)) return;
  run.Add(RuleOf("compression-heavy"), 0,
          fmt::format("Decompressing the input took about {} of the core-seconds, by samples of stacks: {} most.",
                      HumanPercent(found.share), ShortName(found.most->function.str())),
          {{"functions.samples", found.samples}})
      .suggestion = kFasterCodec;
}

/// Whether a function is one of a pool of threads or of message passing, in which a thread waits for others. What the
/// program computes is in functions of its own.
bool WaitsInPool(const FunctionRow& row) {
  const std::string file = row.file.str();
  for (const char* const pool : {"libgomp.", "libomp.", "libiomp", "libtbb."}) {
    if (absl::StartsWith(file.substr(file.rfind('/') + 1), pool)) return true;
  }
  const std::string function = row.function.str();
  for (const char* const name : {"pthread_spin_lock", "opal_progress", "ucp_worker_progress", "uct_worker_progress"}) {
    if (function == name) return true;
  }
  return false;
}

void JudgeSpinning(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("spinning");
  const SampledFunctions found = FindSampled(run, WaitsInPool);
  if (found.most == nullptr || !rule.threshold.Holds(found.at_least)) return;
  run.Add(rule, found.share,
          fmt::format("Threads waited for others in a loop for about {} of the core-seconds, by samples of stacks: in "
                      "{} most.",
                      HumanPercent(found.share), ShortName(found.most->function.str())),
          {{"functions.samples", found.samples}});
}

void JudgeInputDecompression(const JudgedRun& run) {
  const std::optional<double> unzip = SumOfMetric(run.measurement, "unzip_wall", "s");
  const std::optional<double> read = SumOfMetric(run.measurement, "read_wall", "s");
  if (!unzip.has_value()) return JudgeSampledDecompression(run);
  if (*unzip <= read.value_or(0)) return;
  const double share = run.ShareOf(*unzip);
  if (!kMuchDecompression.Holds(share)) return;
  run.Add(
         RuleOf("compression-heavy"), 0,
         fmt::format("Decompressing the input took {} of the core-seconds, more than reading it.", HumanPercent(share)),
         {{"custom_metrics.unzip_wall", *unzip}, {"custom_metrics.read_wall", read.value_or(0)}})
      .suggestion = kFasterCodec;
}

void JudgeLowCompression(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("low-compression");
  const std::optional<double> ratio = run.measurement.Metric("compression_ratio");
  const double bytes = run.Metric("bytes_read_compressed");
  const BudgetRows& budget = run.budget();
  const double waiting = budget.Share("blocked") + budget.Share("waiting") + budget.Share("outside_chunk");
  if (!ratio.has_value() || !rule.threshold.Holds(*ratio)) return;
  if (!kMuchInput.Holds(bytes) || !kWaitsForData.Holds(waiting)) return;
  run.Add(rule, 0,
          fmt::format("The input is hardly compressed ({} times), and the run waits for {} of the core-seconds.",
                      HumanCount(*ratio), HumanPercent(waiting)),
          {{"compression_ratio", *ratio}, {"bytes_read_compressed", bytes}});
}

}  // namespace

void JudgeData(const JudgedRun& run) {
  JudgeSpilling(run);
  for (const EngineCost& cost : kEngineCosts) JudgeEngineCost(run, cost);
  JudgeInputDecompression(run);
  JudgeSpinning(run);
  JudgeLowCompression(run);
}

}  // namespace crema
