// One attempt at one chunk: what the collector keeps of its line, and which attempts are at the same chunk, and which
// processes are the same (docs/record_log.md, "What a reader does"), for tables, pictures and the live page.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collector/measurement/thresholds.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/optional_sum.h"
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

/// One recorded process: its life, its cores, its memory.
enum class ProcessState : uint8_t {
  kEnded,       // wrote its `end` line, or its engine reports an orderly end
  kRunning,     // its log is still locked by it
  kLost,        // it vanished in a chunk, or somebody reports a failure (`JudgeEnds`)
  kUnreported,  // nothing says how it ended: a signal or `_exit` between two chunks leaves no line
};

/// `ended`, `running`, `lost` or `unreported`.
inline std::string_view ToString(ProcessState state) {
  constexpr std::string_view kNames[] = {"ended", "running", "lost", "unreported"};
  return kNames[static_cast<size_t>(state)];
}

/// CPU time and run delay of a process since it began.
struct CpuReading {
  int64_t time_ns = 0;
  int64_t cpu_ns = 0;
  std::optional<int64_t> run_delay_ns;
};

/// A process that opened a record log. With chunks in it, it is a worker (docs/metrics.md, "Runs and workers").
struct ProcessRow : ProcessIdentity {
  int64_t last_ns = 0;  ///< its `end` line's time, else the latest time stamp on any of its lines
  ProcessState state = ProcessState::kUnreported;
  bool is_damaged = false;                  ///< its log could not be read to its end: what became of it is not known
  std::optional<int64_t> declared_threads;  ///< CREMA_THREADS or Enable
  int64_t lanes_peak = 0;                   ///< largest `lanes_peak` of its chunks; 0: not recorded
  std::optional<double> allowed_cores;      ///< affinity and cgroup quota, the smaller
  std::optional<int64_t> memory_limit_bytes;
  std::optional<int64_t> overhead_ns;    ///< what the SDK says it cost
  ProcessCounts counts;                  ///< the largest of each that it, or `crema run`, read
  std::vector<ProcessSample> samples;    ///< by time
  std::vector<CpuReading> cpu_readings;  ///< by time; beside those in `samples`
  std::string waits_reason;              ///< why it is not known what its threads wait for; empty: it is

  // Where it says that an engine started it for one task.
  std::string job;                ///< the engine's name, the task's and its step, `slurm 14.0`; empty: not known
  std::string working_directory;  ///< empty: not known

  /// Cores that its engine or batch system gave it, where its environment says so; nullopt: it does not.
  std::optional<int64_t> granted_cores;

  // Only an engine's worker has these.
  bool is_engine_worker = false;
  std::string engine_worker;             ///< the engine's name for it
  std::optional<int64_t> joined_ns;      ///< on the scheduler's clock, as the next; nullopt: not seen
  std::optional<int64_t> left_ns;        ///< nullopt: it was there to the last
  std::string left_reason;               ///< why it left, in the engine's words; empty: not known
  std::optional<int64_t> disk_bytes;     ///< that it offers to tasks
  std::optional<int64_t> engine_cpu_ns;  ///< that its batch system counted, as the next
  std::optional<int64_t> engine_peak_memory_bytes;
  bool is_unrecorded = false;              ///< what it did is not known: it sent no records, or none were found
  bool is_job = false;                     ///< of a batch system: its cores are its own, whatever it does
  std::optional<int64_t> time_limit_ns;    ///< that its batch system gave it
  std::optional<int64_t> clock_offset_ns;  ///< what the scheduler's clock is ahead of its own

  /// What a process line says; of several logs of the process, the larger values.
  void Take(const ProcessFact& fact) {
    parent_pid = std::max(parent_pid, fact.parent_pid.value_or(0));
    declared_threads = std::max(declared_threads, fact.threads);  // an empty optional is less than any value
    allowed_cores = std::max(allowed_cores, fact.cores);
    memory_limit_bytes = std::max(memory_limit_bytes, fact.memory_limit_bytes);
    granted_cores = std::max(granted_cores, fact.engine.cpus);
    job = std::max(job, StepOf(fact.engine));
    working_directory = std::max(working_directory, std::string(fact.working_directory));
  }
  /// `<host>:<pid>`.
  std::string process() const { return host + ":" + std::to_string(pid); }
  /// The worker's name in every table: the engine's, else the process's.
  std::string worker() const { return engine_worker.empty() ? process() : engine_worker; }
};

/// A stretch of time, half-open, Unix nanoseconds. Every time average and the budget are clipped to that of the run.
struct RunWindow {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;

  double seconds() const { return static_cast<double>(stop_ns - start_ns) / 1e9; }
  int64_t Clip(int64_t time_ns) const { return std::clamp(time_ns, start_ns, std::max(start_ns, stop_ns)); }
};

/// What other threads and child processes added to an attempt; most attempts have none, so it lives in a table of its
/// own. CPU time and run delay that were not measured are `AttemptRow::kUnknown`.
struct HelperTimes {
  int64_t cpu_ns = 0;
  int64_t cpu_wait_ns = 0;
  int64_t scope_ns = 0;  ///< sum of the helpers' scopes
  int64_t union_ns = 0;  ///< length of the union of their intervals
  // Part of `cpu_ns` and `scope_ns`; `union_ns` has the same, since the owner waits for what they compute.
  int64_t unannounced_ns = 0;  ///< CPU time of threads without guards
  int64_t children_ns = 0;     ///< CPU time of child processes
};

/// A field that was not measured is `kUnknown`. Millions of rows are kept as `PackedBlock`s.
struct AttemptRow {
  static constexpr int64_t kUnknown = -1;
  static constexpr uint32_t kNone = 0xffffffff;

  uint64_t chunk_id = 0;  ///< hash of (run, pass, dataset, file, tree, entry range), or of (process, number)
  int64_t start_ns = 0;   ///< Unix time
  int64_t duration_ns =
      kUnknown;              ///< without suspension; unknown for lost and open attempts; of unrecorded ones the most
  int64_t suspended_ns = 0;  ///< between start and stop, on no thread
  int64_t events = kUnknown;
  int64_t cpu_ns = kUnknown;         ///< the owner thread's CPU time
  int64_t cpu_wait_ns = kUnknown;    ///< the owner's run delay
  int64_t system_cpu_ns = kUnknown;  ///< of `cpu_ns`: in the kernel
  int64_t minor_faults = kUnknown;   ///< the owner's, as the next
  int64_t major_faults = kUnknown;
  int64_t rss_start_bytes = kUnknown;
  int64_t rss_stop_bytes = kUnknown;
  int64_t number = 0;         ///< the record's `chunk` number, unique in its log
  uint32_t helpers = kNone;   ///< index into the table of HelperTimes
  uint32_t process = 0;       ///< index into the table of ProcessRow: of the worker that ran it
  uint32_t input = 0;         ///< index into the table of (dataset, file, tree)
  uint32_t thread = 0;        ///< index into the table of threads
  uint32_t recorder = kNone;  ///< index of the process that recorded it, where a worker starts one for each task
  uint16_t lanes_peak = 0;    ///< 0: not recorded
  AttemptState status = AttemptState::kOk;
  bool is_result = false;  ///< the ok attempt of its chunk that stopped last

  uint32_t recording_process() const { return recorder == kNone ? process : recorder; }
  int64_t stop_ns() const { return start_ns + (duration_ns < 0 ? 0 : duration_ns + suspended_ns); }
};

/// What rows are ordered by within a process: number, start, duration, chunk_id and status.
using RowPlace = std::tuple<int64_t, int64_t, int64_t, uint64_t, AttemptState>;
inline RowPlace PlaceOf(const AttemptRow& row) {
  return {row.number, row.start_ns, row.duration_ns, row.chunk_id, row.status};
}

/// What an attempt's owner thread did with its duration (docs/metrics.md, "Chunks and attempts").
/// Nanoseconds; the four parts add up to the duration, exactly.
struct OwnerTime {
  int64_t cpu_ns = 0;       ///< clipped to the duration
  int64_t cpu_wait_ns = 0;  ///< clipped to what CPU leaves
  int64_t joined_ns = 0;    ///< waiting for its own helpers: the union of their scopes, clipped to what both leave
  int64_t blocked_ns = 0;   ///< the rest
  bool wait_known = true;   ///< false: `cpu_wait_ns` is 0 and the run delay is part of `blocked_ns`
};

/// nullopt for an attempt that did not end or whose CPU time is not known. `helpers_union_ns`: of its helpers.
inline std::optional<OwnerTime> SplitOwnerTime(const AttemptRow& attempt, int64_t helpers_union_ns) {
  if (attempt.duration_ns < 0 || attempt.cpu_ns < 0) return std::nullopt;
  OwnerTime time;
  time.wait_known = attempt.cpu_wait_ns >= 0;
  time.cpu_ns = std::min(attempt.cpu_ns, attempt.duration_ns);
  int64_t rest_ns = attempt.duration_ns - time.cpu_ns;
  time.cpu_wait_ns = std::clamp<int64_t>(attempt.cpu_wait_ns, 0, rest_ns);
  rest_ns -= time.cpu_wait_ns;
  time.joined_ns = std::clamp<int64_t>(helpers_union_ns, 0, rest_ns);
  time.blocked_ns = rest_ns - time.joined_ns;
  return time;
}

/// `helpers` is the table that `attempt.helpers` points into.
inline std::optional<OwnerTime> SplitOwnerTime(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  return SplitOwnerTime(attempt, attempt.helpers == AttemptRow::kNone ? 0 : helpers[attempt.helpers].union_ns);
}

/// Threads of an ended attempt at work for it: its own duration and its helpers' scopes, less the time in which the
/// owner waited for them. The largest integer stands for times beyond it.
inline int64_t WholeLaneTime(const AttemptRow& attempt, int64_t scope_ns, const std::optional<OwnerTime>& owner) {
  const int64_t own_ns = attempt.duration_ns - (owner.has_value() ? owner->joined_ns : 0);
  scope_ns = std::max<int64_t>(scope_ns, 0);
  return own_ns > std::numeric_limits<int64_t>::max() - scope_ns ? std::numeric_limits<int64_t>::max()
                                                                 : own_ns + scope_ns;
}

inline bool HasEnded(const AttemptRow& attempt) { return HasEnded(attempt.status); }

/// An attempt that never ended was open until its process's end, or until the last that was heard of the process. One
/// whose record is lost was open no longer than this.
inline RunWindow IntervalOf(const AttemptRow& attempt, const std::vector<ProcessRow>& processes) {
  if (HasEnded(attempt) || attempt.status == AttemptState::kUnrecorded) return {attempt.start_ns, attempt.stop_ns()};
  return {attempt.start_ns, std::max(attempt.start_ns, processes[attempt.recording_process()].last_ns)};
}

inline std::optional<int64_t> Known(int64_t value) {
  return value == AttemptRow::kUnknown ? std::nullopt : std::optional<int64_t>(value);
}

/// The helpers' CPU time; 0 without helpers, nullopt where theirs was not measured.
inline std::optional<int64_t> HelperCpu(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  return attempt.helpers == AttemptRow::kNone ? std::optional<int64_t>(0) : Known(helpers[attempt.helpers].cpu_ns);
}

/// CPU time of owner and helpers, ns.
inline std::optional<int64_t> ChunkCpu(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  const std::optional<int64_t> helper_cpu_ns = HelperCpu(attempt, helpers);
  if (attempt.cpu_ns == AttemptRow::kUnknown || !helper_cpu_ns.has_value()) return std::nullopt;
  return SaturatingAdd(attempt.cpu_ns, *helper_cpu_ns);
}

/// The owner's time without CPU that is neither contention nor waiting for its helpers, ns; nullopt where the kernel
/// did not report the run delay.
inline std::optional<int64_t> ChunkBlocked(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
  if (!owner.has_value() || !owner->wait_known) return std::nullopt;
  return owner->blocked_ns;
}

/// The helpers' run delay; 0 where none had a scope, nullopt where theirs was not measured.
inline std::optional<int64_t> HelperCpuWait(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  if (attempt.helpers == AttemptRow::kNone || helpers[attempt.helpers].scope_ns <= 0) return 0;
  return Known(helpers[attempt.helpers].cpu_wait_ns);
}

/// What CPU and run delay leave of the helpers' scopes, as the last.
inline std::optional<int64_t> HelperBlocked(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  const std::optional<int64_t> cpu_ns = HelperCpu(attempt, helpers), wait_ns = HelperCpuWait(attempt, helpers);
  if (!cpu_ns.has_value() || !wait_ns.has_value()) return std::nullopt;
  const int64_t scope_ns = attempt.helpers == AttemptRow::kNone ? 0 : helpers[attempt.helpers].scope_ns;
  return std::max<int64_t>(0, std::max<int64_t>(0, scope_ns - *cpu_ns) - *wait_ns);
}

/// RSS at the end less RSS at the start, bytes.
inline std::optional<int64_t> RssDelta(const AttemptRow& attempt) {
  if (attempt.rss_start_bytes == AttemptRow::kUnknown || attempt.rss_stop_bytes == AttemptRow::kUnknown) {
    return std::nullopt;
  }
  return attempt.rss_stop_bytes - attempt.rss_start_bytes;
}

/// Attempts that were summed where they ran, because their lines would have taken the host's disk.
/// All summed attempts of one log, dataset, file, pass and status: all of them ended, and each `ok` one counts as the
/// result of its chunk. Retries among them cannot be identified, nor anything else that needs single attempts.
struct SummedAttempts {
  /// Their sums, as if they were one attempt: `duration_ns` is the time in which they were open, summed, and
  /// `start_ns` the first one's begin. The union of its helpers is what owners waited for them.
  AttemptRow row;
  int64_t stop_ns = 0;  ///< the last one's end, Unix time
  int64_t chunks = 0;
  int64_t chunks_with_events = 0;
  int64_t max_duration_ns = 0;
};

// The one conversion of what a record says of a chunk, or of summed chunks, to the row that all figures are made from.

inline int64_t OrUnknown(const std::optional<int64_t>& value) { return value.value_or(AttemptRow::kUnknown); }

/// Threads without guards and child processes count as helpers that do nothing but compute.
template <class Fact>
HelperTimes WithUnannounced(HelperTimes helpers, const Fact& fact) {
  helpers.unannounced_ns = fact.unannounced_cpu_ns.value_or(0);
  helpers.children_ns = fact.children_cpu_ns.value_or(0);
  const int64_t cpu_ns = SaturatingAdd(helpers.unannounced_ns, helpers.children_ns);
  if (helpers.scope_ns <= 0) {  // there were no helpers: nothing of theirs is unknown
    helpers.cpu_ns = std::max<int64_t>(helpers.cpu_ns, 0);
    helpers.cpu_wait_ns = std::max<int64_t>(helpers.cpu_wait_ns, 0);
  }
  if (helpers.cpu_ns >= 0) helpers.cpu_ns = SaturatingAdd(helpers.cpu_ns, cpu_ns);
  helpers.scope_ns = SaturatingAdd(helpers.scope_ns, cpu_ns);
  helpers.union_ns = SaturatingAdd(helpers.union_ns, cpu_ns);
  return helpers;
}

/// Whether threads without guards and child processes did more than their clocks differ by when they are read.
inline bool HasUnannounced(const ChunkFact& fact) {
  constexpr int64_t kLeastShare = 1000;  // one in so many
  const int64_t cpu_ns = SaturatingAdd(fact.unannounced_cpu_ns.value_or(0), fact.children_cpu_ns.value_or(0));
  return cpu_ns > fact.duration_ns() / kLeastShare;
}

/// What helpers added; nullopt where the record has none of them.
inline std::optional<HelperTimes> HelpersOf(const ChunkFact& fact) {
  const HelperTimes announced = {OrUnknown(fact.helper_cpu_ns), OrUnknown(fact.helper_wait_ns),
                                 fact.helper_scope_ns.value_or(0), fact.helper_union_ns.value_or(0)};
  if (HasUnannounced(fact)) return WithUnannounced(announced, fact);
  const int64_t most = std::max({announced.cpu_ns, announced.cpu_wait_ns, announced.scope_ns, announced.union_ns});
  return most > 0 ? std::optional<HelperTimes>(announced) : std::nullopt;
}

/// Lanes that were busy at once. Threads without guards and child processes are not lanes of the record: what they and
/// the owner computed took as many as it needs. An owner that only waited for them has a lane beside theirs.
template <class Fact>
std::optional<int64_t> LanesPeakOf(const Fact& fact, int64_t duration_ns) {
  constexpr int64_t kClocksApartNs = 200'000;  // two readings of the SDK, each of which may take half of it
  const int64_t unannounced_ns = std::max<int64_t>(0, fact.unannounced_cpu_ns.value_or(0) - kClocksApartNs);
  const int64_t others_ns = SaturatingAdd(unannounced_ns, fact.children_cpu_ns.value_or(0));
  if (others_ns == 0 || duration_ns <= 0 || !fact.lanes_peak.has_value()) return fact.lanes_peak;
  const auto duration = static_cast<double>(duration_ns), others = static_cast<double>(others_ns);
  const auto cpu = static_cast<double>(fact.cpu_ns.value_or(0));
  const double rest = duration - cpu - static_cast<double>(fact.cpu_wait_ns.value_or(0));
  const bool owner_waits = rest >= kOwnersWait * std::min(others, duration);
  const double lanes = (owner_waits ? 1 : 0) + std::ceil((owner_waits ? others : cpu + others) / duration - kHardlyOne);
  constexpr int64_t kMost = std::numeric_limits<decltype(AttemptRow::lanes_peak)>::max();
  return std::max(*fact.lanes_peak, lanes < static_cast<double>(kMost) ? static_cast<int64_t>(lanes) : kMost);
}
inline std::optional<int64_t> LanesPeakOf(const ChunkFact& fact) { return LanesPeakOf(fact, fact.duration_ns()); }
inline std::optional<int64_t> LanesPeakOf(const SumsFact& fact) { return LanesPeakOf(fact, fact.duration_ns); }

/// The sum of what helpers added; their union is what owners waited for them.
inline HelperTimes HelpersOf(const SumsFact& fact) {
  return WithUnannounced({OrUnknown(fact.helper_cpu_ns), OrUnknown(fact.helper_wait_ns), fact.helper_scope_ns,
                          fact.helper_joined_ns.value_or(fact.helper_union_ns)},
                         fact);
}

/// What chunks and summed chunks say by the same names.
template <class Fact>
AttemptRow RowOf(const Fact& fact, int64_t start_ns, int64_t duration_ns) {
  AttemptRow row;
  row.start_ns = start_ns;
  row.duration_ns = duration_ns;
  row.events = OrUnknown(fact.events);
  row.cpu_ns = OrUnknown(fact.cpu_ns);
  row.cpu_wait_ns = OrUnknown(fact.cpu_wait_ns);
  row.system_cpu_ns = OrUnknown(fact.system_cpu_ns);
  row.minor_faults = OrUnknown(fact.minor_faults);
  row.major_faults = OrUnknown(fact.major_faults);
  row.lanes_peak = static_cast<uint16_t>(std::min<int64_t>(LanesPeakOf(fact, duration_ns).value_or(0),
                                                           std::numeric_limits<decltype(row.lanes_peak)>::max()));
  row.status = fact.failed ? AttemptState::kFailed : AttemptState::kOk;
  return row;
}

/// Times, events, memory and status of a chunk that ended, without its names and its identity.
inline AttemptRow RowOf(const ChunkFact& fact) {
  AttemptRow row = RowOf(fact, fact.start_ns, fact.duration_ns());
  row.suspended_ns = fact.stop_ns - fact.start_ns - row.duration_ns;
  row.rss_start_bytes = OrUnknown(fact.rss_start_bytes);
  row.rss_stop_bytes = OrUnknown(fact.rss_stop_bytes);
  row.number = fact.number;
  return row;
}

/// The same of chunks that were summed.
inline SummedAttempts SummedOf(const SumsFact& fact) {
  SummedAttempts summed;
  summed.row = RowOf(fact, fact.first_start_ns, fact.duration_ns);
  summed.row.is_result = !fact.failed;
  summed.stop_ns = fact.last_stop_ns;
  summed.chunks = fact.chunks;
  summed.chunks_with_events = fact.chunks_with_events;
  summed.max_duration_ns = fact.max_duration_ns;
  return summed;
}

/// What summed chunks read.
inline ByteSums BytesOf(const SumsFact& fact) {
  ByteSums bytes;
  bytes.Add(fact.bytes_read, fact.bytes_uncompressed);
  for (int64_t* count : {&bytes.with_read, &bytes.with_uncompressed, &bytes.with_both}) *count *= fact.chunks;
  return bytes;
}

}  // namespace crema
