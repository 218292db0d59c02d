// Verdicts on what the engine and the files do with bytes, and on functions that stacks saw.

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "collector/diagnosis/verdict_families.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/metrics/statistics/bounded_names.h"

namespace crema {
namespace {

constexpr char kFasterCodec[] = "Store the input with a faster codec (LZ4, ZSTD), or read fewer columns.";

/// `key`: of the metric, in seconds.
void JudgeEngineCost(const JudgedRun& run, std::string_view id, const std::string& key, std::string_view what) {
  const double seconds = run.Metric(key), share = run.ShareOf(seconds);
  if (!run.Holds(id, share)) return;
  run.Add(id, share, fmt::format("The engine {} for {} of the core-seconds.", what, HumanPercent(share)),
          {{key, seconds}}, share);
}

void JudgeSpilling(const JudgedRun& run) {
  const std::optional<double> reading = run.measurement.Metric("disk_read_time_seconds");
  const std::optional<double> writing = run.measurement.Metric("disk_write_time_seconds");
  if (!reading.has_value() && !writing.has_value()) return;
  const double share = run.ShareOf(reading.value_or(0) + writing.value_or(0));
  if (!run.Holds("spilling", share)) return;
  const double bytes = run.Metric("disk_write_bytes");
  run.Add("spilling", share,
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
  const double cpu = run.ShareOfCores(run.Metric("chunk_cpu_time"));
  found.share = all > 0 ? found.samples / all * cpu : 0;
  found.at_least = all > 0 ? found.at_least / all * cpu : 0;
  return found;
}

/// Where nobody recorded the time inside decompressors: by the functions that stacks saw on a CPU.
void JudgeSampledDecompression(const JudgedRun& run) {
  const SampledFunctions found =
      FindSampled(run, [](const FunctionRow& row) { return Decompresses(row.function.str()); });
  if (found.most == nullptr || !kMuchDecompression.Holds(found.at_least)) return;
  run.Add("compression-heavy", 0,
          fmt::format("{} took about {} of the core-seconds, by samples of stacks: {} most.", kDecompressing,
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
  constexpr const char* kLoops[] = {"pthread_spin_lock", "opal_progress", "ucp_worker_progress", "uct_worker_progress"};
  return absl::c_linear_search(kLoops, row.function.str());
}

void JudgeSpinning(const JudgedRun& run) {
  const SampledFunctions found = FindSampled(run, WaitsInPool);
  if (found.most == nullptr || !run.Holds("spinning", found.at_least)) return;
  run.Add("spinning", found.share,
          fmt::format("Threads waited for others in a loop for about {} of the core-seconds, by samples of stacks: in "
                      "{} most.",
                      HumanPercent(found.share), ShortName(found.most->function.str())),
          {{"functions.samples", found.samples}});
}

/// The sum over all attempts; nullopt where there is none of this name and unit.
std::optional<double> SumOfMetric(const Measurement& measurement, std::string_view name, std::string_view unit) {
  for (const CustomMetricRow& row : measurement.custom_metrics) {
    if (row.name == name && row.unit == unit) return row.sum.value_or(0) + row.failed_sum.value_or(0);
  }
  return std::nullopt;
}

void JudgeInputDecompression(const JudgedRun& run) {
  const std::optional<double> unzip = SumOfMetric(run.measurement, "unzip_wall", "s");
  const std::optional<double> read = SumOfMetric(run.measurement, "read_wall", "s");
  if (!unzip.has_value()) return JudgeSampledDecompression(run);
  if (*unzip <= read.value_or(0)) return;
  const double share = run.ShareOf(*unzip), of_chunks = run.Metric("decompression_share");
  const bool is_much = kMuchDecompression.Holds(share);
  if (!is_much && !kMostOfIt.Holds(of_chunks)) return;
  Verdict& verdict = run.Add("compression-heavy", 0,
                             fmt::format("{} took {} (wall time), more than reading it.", kDecompressing,
                                         HumanPercent(is_much ? share : of_chunks) +
                                             (is_much ? " of the core-seconds" : " of the chunks' time")),
                             {{"custom_metrics.unzip_wall", *unzip}, {"custom_metrics.read_wall", read.value_or(0)}});
  verdict.suggestion = kFasterCodec;
  if (!is_much) verdict.severity = Severity::kInfo;
}

void JudgeLowCompression(const JudgedRun& run) {
  const std::optional<double> ratio = run.measurement.Metric("compression_ratio");
  const double bytes = run.Metric("bytes_read_compressed");
  const BudgetRows& budget = run.budget();
  const double waiting = budget.Share("blocked") + budget.Share("waiting") + budget.Share("outside_chunk");
  if (!ratio.has_value() || !run.Holds("low-compression", *ratio)) return;
  if (!kMuchInput.Holds(bytes) || !kWaitsForData.Holds(waiting)) return;
  run.Add("low-compression", 0,
          fmt::format("The input is hardly compressed ({} times), and waiting and what surrounds chunks take {} of the "
                      "core-seconds.",
                      HumanCount(*ratio), HumanPercent(waiting)),
          {{"compression_ratio", *ratio}, {"bytes_read_compressed", bytes}});
}

/// Each event loop of ROOT reads and decompresses its input once more.
void JudgeLoops(const JudgedRun& run) {
  constexpr char kLaterLoop[] = "loop ";                      // the first has no name: sdk/root
  std::map<std::string, std::pair<double, double>> later_of;  // loops and chunks, by dataset
  for (const ChunkFitRow& fit : run.measurement.chunk_fits) {
    if (!absl::StartsWith(fit.pass.str(), kLaterLoop)) continue;
    auto& [loops, chunks] = later_of[fit.dataset.str()];
    ++loops;
    chunks += fit.attempts.value_or(0);
  }
  const auto* most = LargestBy(later_of, [](const auto& each) { return each.second.first; }).first;
  if (most == nullptr) return;
  const auto& [dataset, later] = *most;
  const double loops = 1 + later.first;
  if (!run.Holds("repeated-loops", loops)) return;
  run.Add("repeated-loops", loops, fmt::format("{} was read in {} event loops.", ShortName(dataset), HumanCount(loops)),
          {{"chunk_fits.attempts", later.second}});
}

}  // namespace

void JudgeData(const JudgedRun& run) {
  JudgeSpilling(run);
  JudgeEngineCost(run, "serialization-heavy", "total_serialization_overhead_seconds", "serialized and deserialized");
  JudgeEngineCost(run, "compression-heavy", "total_compression_overhead_seconds",
                  "compressed and decompressed spilled data and transfers");
  JudgeInputDecompression(run);
  JudgeSpinning(run);
  JudgeLowCompression(run);
  JudgeLoops(run);
}

// Verdicts on what was asked of storage.

namespace {

struct Asked {
  double calls = 0;
  double bytes = 0;
  double seconds = 0;

  static Asked Of(const RequestSumRow& row) {
    return {row.calls.value_or(0), row.bytes.value_or(0), row.seconds.value_or(0)};
  }
};

/// What can be compared: an operation, at servers of one scheme or at mounts. A mount answers from memory in
/// microseconds, so beside one every server would be slow.
std::pair<std::string, std::string> ComparableTo(const RequestSumRow& row) {
  const std::string server = row.server.str();
  const std::size_t scheme = server.find("://");
  const char* const place = !server.empty() && server.front() == '/' ? "/" : "";
  return {row.operation.str(), scheme == std::string::npos ? place : server.substr(0, scheme)};
}

void JudgeSlowServer(const JudgedRun& run) {
  std::map<std::pair<std::string, std::string>, Asked> all;
  for (const RequestSumRow& row : run.measurement.requests) {
    if (row.server.str() == kOtherName) continue;
    const Asked asked = Asked::Of(row);
    Asked& sum = all[ComparableTo(row)];
    sum.calls += asked.calls;
    sum.bytes += asked.bytes;
    sum.seconds += asked.seconds;
  }
  const RequestSumRow* worst = nullptr;
  double worst_excess = 0;
  double worst_factor = 0;
  for (const RequestSumRow& row : run.measurement.requests) {
    if (row.server.str() == kOtherName) continue;
    const Asked asked = Asked::Of(row);
    const Asked& sum = all[ComparableTo(row)];
    const Asked others = {sum.calls - asked.calls, sum.bytes - asked.bytes, sum.seconds - asked.seconds};
    if (!kCallsOfSlowServer.Holds(asked.calls) || !kCallsOfSlowServer.Holds(others.calls)) continue;
    // What the others would have taken for the same: by bytes or by calls, whichever is more, so that neither a server
    // of large requests nor one of small ones looks slow for that alone.
    const double by_bytes = others.bytes > 0 ? asked.bytes * others.seconds / others.bytes : 0;
    const double expected = std::max(asked.calls * others.seconds / others.calls, by_bytes);
    if (expected <= 0 || !run.Holds("slow-server", asked.seconds / expected)) continue;
    const double excess = asked.seconds - expected;
    if (!kMuchExcess.Holds(run.ShareOf(excess)) || excess <= worst_excess) continue;
    worst = &row;
    worst_excess = excess;
    worst_factor = asked.seconds / expected;
  }
  if (worst == nullptr) return;
  // Requests may overlap, so it is not known what of this the run waited for.
  run.Add("slow-server", worst_factor,
          fmt::format("Server {} took {} times as long for {} as the others of its kind, {} longer in all.",
                      ShortName(worst->server.str()), HumanNumber(worst_factor), ShortName(worst->operation.str()),
                      HumanDuration(worst_excess)),
          {{"requests.calls", worst->calls.value_or(0)},
           {"requests.seconds", worst->seconds.value_or(0)},
           {"requests.max_seconds", worst->max_seconds.value_or(0)},
           {"requests.excess_seconds", worst_excess}});
}

/// In sections of this name, without those around another one of it.
double SecondsIn(const Measurement& measurement, const std::string& name) {
  std::map<std::string, double> seconds;
  for (const SectionRow& section : measurement.sections) {
    const std::string path = "/" + section.path.str();
    if (absl::EndsWith(path, "/" + name)) seconds[path] += section.total.value_or(0);
  }
  double sum = 0;
  for (const auto& [path, total] : seconds) {
    if (seconds.count(path + "/" + name) == 0) sum += total;
  }
  return sum;
}

/// What one `TrackIo` counted, and the time inside it: calls that only copy from memory are quick, so many of them in a
/// second are what this time went for.
bool JudgeTrackedCalls(const JudgedRun& run) {
  constexpr char kSuffix[] = ".read_calls";
  const CustomMetricRow* worst = nullptr;
  Asked most;
  for (const CustomMetricRow& row : run.measurement.custom_metrics) {
    const std::string& metric = row.name.str();
    if (metric == kSuffix || !absl::EndsWith(metric, kSuffix) || row.unit != "count") continue;
    const std::string name(absl::StripSuffix(metric, kSuffix));
    Asked asked = {SumOfMetric(run.measurement, metric, "count").value_or(0),
                   SumOfMetric(run.measurement, name + ".rchar_bytes", "B").value_or(0)};
    asked.seconds = SecondsIn(run.measurement, name);
    if (asked.bytes <= 0 || asked.seconds <= most.seconds || !kSmallCall.Holds(asked.bytes / asked.calls)) continue;
    if (!kManyCalls.Holds(asked.calls / asked.seconds)) continue;
    if (!kMuchRequestTime.Holds(run.ShareOf(asked.seconds))) continue;
    worst = &row;
    most = asked;
  }
  if (worst == nullptr) return false;
  const std::string name(absl::StripSuffix(worst->name.str(), kSuffix));
  run.Add("many-small-reads", 0,
          fmt::format("{} read calls in section {} returned {} each, and the section took {}.", HumanCount(most.calls),
                      ShortName(name), HumanData(most.bytes / most.calls), HumanDuration(most.seconds)),
          {{"custom_metrics." + worst->name.str(), most.calls}, {"sections.total", most.seconds}});
  return true;
}

/// Where no request says who was asked.
void JudgeSmallReadCalls(const JudgedRun& run) {
  const Asked tracked = {// as ROOT's event loops do, and those who record these metrics themselves
                         SumOfMetric(run.measurement, "read_calls", "count").value_or(0),
                         SumOfMetric(run.measurement, "bytes_read", "B").value_or(0),
                         SumOfMetric(run.measurement, "read_wall", "s").value_or(0)};
  if (tracked.bytes > 0 && kManyReads.Holds(tracked.calls) &&
      run.Holds("many-small-reads", tracked.bytes / tracked.calls) &&
      kMuchRequestTime.Holds(run.ShareOf(tracked.seconds))) {
    run.Add("many-small-reads", 0,
            fmt::format("{} reads moved {} each, and took {}.", HumanCount(tracked.calls),
                        HumanData(tracked.bytes / tracked.calls), HumanDuration(tracked.seconds)),
            {{"custom_metrics.read_calls", tracked.calls},
             {"custom_metrics.bytes_read", tracked.bytes},
             {"custom_metrics.read_wall", tracked.seconds}});
    return;
  }
  if (JudgeTrackedCalls(run)) return;
  const SmallReadCalls calls = ReadCalls(run.measurement);
  const double in_kernel = run.ShareOfCores(run.Metric("system_cpu_time"));
  if (!calls.are_many_and_small() || !kMuchRequestTime.Holds(in_kernel)) return;
  run.Add("many-small-reads", 0,
          fmt::format("{} read calls returned {} each: {} in each second of CPU time of your chunks.",
                      HumanCount(calls.calls), HumanData(calls.mean_bytes()),
                      HumanCount(calls.calls / calls.chunk_cpu_seconds)),
          {{"process_read_calls", calls.calls}, {"process_read_call_bytes", calls.bytes}});
}

void JudgeSmallReads(const JudgedRun& run) {
  const auto seconds_of_small = [&](const RequestSumRow& row) {
    const Asked asked = Asked::Of(row);
    if (row.server.str() == kOtherName || asked.bytes <= 0 || !kManyReads.Holds(asked.calls)) return 0.0;
    if (!run.Holds("many-small-reads", asked.bytes / asked.calls)) return 0.0;
    return kMuchRequestTime.Holds(run.ShareOf(asked.seconds)) ? asked.seconds : 0;
  };
  const RequestSumRow* worst = LargestBy(run.measurement.requests, seconds_of_small).first;
  if (worst == nullptr) return JudgeSmallReadCalls(run);
  const Asked asked = Asked::Of(*worst);
  run.Add("many-small-reads", 0,
          fmt::format("{} requests ({}) moved {} each from {}, and took {}.", HumanCount(asked.calls),
                      ShortName(worst->operation.str()), HumanData(asked.bytes / asked.calls),
                      ShortName(worst->server.str()), HumanDuration(asked.seconds)),
          {{"requests.calls", asked.calls}, {"requests.bytes", asked.bytes}, {"requests.seconds", asked.seconds}});
}

}  // namespace

SmallReadCalls ReadCalls(const Measurement& measurement) {
  const double calls = measurement.Metric("process_read_calls").value_or(0);
  const double own = kOwnReadCalls * measurement.Metric("num_attempts").value_or(0);
  if (calls <= 0 || kMostOfIt.Holds(own / calls)) return {};
  return {calls, measurement.Metric("process_read_call_bytes").value_or(0),
          measurement.Metric("chunk_cpu_time").value_or(0)};
}

void JudgeRequests(const JudgedRun& run) {
  JudgeSlowServer(run);
  JudgeSmallReads(run);
}

}  // namespace crema
