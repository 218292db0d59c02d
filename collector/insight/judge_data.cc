// Verdicts on what the engine and the files do with bytes.
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

/// Where nobody recorded the time inside decompressors: by the functions that stacks saw on a CPU.
void JudgeSampledDecompression(const JudgedRun& run) {
  double all = 0;
  double inside = 0;
  double at_least = 0;
  const FunctionRow* most = nullptr;
  for (const FunctionRow& row : run.measurement.functions) {
    const double samples = row.samples.value_or(0);
    all += samples;
    if (!Decompresses(row.function.str()) || row.share.value_or(0) <= 0) continue;
    inside += samples;
    at_least += samples * std::max(0.0, 1 - row.share_error.value_or(1) / *row.share);
    if (most == nullptr || samples > most->samples.value_or(0)) most = &row;
  }
  if (most == nullptr) return;
  const double cpu = run.ShareOf(run.Metric("chunk_cpu_time"));
  if (!kMuchDecompression.Holds(at_least / all * cpu)) return;
  run.Add(RuleOf("compression-heavy"), 0,
          fmt::format("Decompressing the input took about {} of the core-seconds, by samples of stacks: {} most.",
                      HumanPercent(inside / all * cpu), ShortName(most->function.str())),
          {{"functions.samples", inside}})
      .suggestion = kFasterCodec;
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
  JudgeLowCompression(run);
}

}  // namespace crema
