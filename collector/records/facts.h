// What the lines of a record log `crema.records/1` say (docs/record_log.md), one plain struct for each type of line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "collector/idioms/members.h"
#include "fmt/format.h"

namespace crema {

/// A log's `schema`: this name, a slash and the major number. Minor versions only add fields and types.
inline constexpr std::string_view kRecordSchema = "crema.records/1";

/// What a record log's name ends with, and the process-tree log of `crema run`; engines' logs have suffixes of their
/// own.
inline constexpr std::string_view kRecordLogSuffix = ".jsonl";
inline constexpr std::string_view kTreeLogSuffix = ".tree.ndjson";

/// Before the suffix, of a copy that was made while the log was written.
inline constexpr std::string_view kLiveCopyMark = ".live";

/// The longest line that a writer may write, its newline included; a longer one is malformed.
inline constexpr size_t kMaxLineBytes = size_t{1} << 20;

// What became of an attempt at a chunk, and of those that have no end.

enum class AttemptState : uint8_t {
  kOk,
  kFailed,
  kLost,        ///< begun, and its process ended or vanished
  kRunning,     ///< begun, and its process still runs
  kUnrecorded,  ///< ended, and the record of it is lost: whether it was ok, and when it ended, is not known
};

/// `ok`, `failed`, `lost`, `running` or `unrecorded`.
inline std::string_view ToString(AttemptState state) {
  constexpr std::string_view kNames[] = {"ok", "failed", "lost", "running", "unrecorded"};
  return kNames[static_cast<size_t>(state)];
}

/// Whether there is a record of its end.
inline bool HasEnded(AttemptState state) { return state == AttemptState::kOk || state == AttemptState::kFailed; }

/// A `begin` without its `chunk`.
struct UnendedAttempt {
  int64_t number = 0;
  int64_t start_ns = 0;
  std::optional<int64_t> next_ns;  ///< when its thread began its next attempt; nullopt: it did not, or is not known
  bool has_ended = false;          ///< found out: only the record of its end is missing
};

/// Fills `has_ended` for all that one log has of them. A thread ends its attempt before it begins the next. The log's
/// `end`, where there is one, says how many were still open (`open_at_end`): no more than these did not end, and of
/// those the ones that began last. `overlap`: chunks of the process were suspended, or had others inside, so that its
/// threads began others while these were open.
inline void FindEnded(std::vector<UnendedAttempt>& attempts, std::optional<int64_t> open_at_end, bool overlap) {
  if (!open_at_end.has_value()) {
    for (UnendedAttempt& attempt : attempts) attempt.has_ended = !overlap && attempt.next_ns.has_value();
    return;
  }
  std::sort(attempts.begin(), attempts.end(), [](const UnendedAttempt& a, const UnendedAttempt& b) {
    return std::make_tuple(a.next_ns.has_value(), b.start_ns, b.number) <
           std::make_tuple(b.next_ns.has_value(), a.start_ns, a.number);
  });
  for (size_t i = 0; i < attempts.size(); ++i) attempts[i].has_ended = static_cast<int64_t>(i) >= *open_at_end;
}

// Exit statuses as shells have them: where a signal ended the command, 128 and its number.

inline constexpr int kSignalOfShell = 128;

/// The signal that ended a command; 0: none.
inline int SignalOfExit(int64_t exit_status) {
  constexpr int kLastSignal = 64;
  const bool is_signal = exit_status > kSignalOfShell && exit_status <= kSignalOfShell + kLastSignal;
  return is_signal ? static_cast<int>(exit_status - kSignalOfShell) : 0;
}

/// `exit status 3`, `exit status 139, as after signal 11 (segmentation fault)`: a program may also end with 139 itself.
inline std::string ExitStatusWords(int64_t exit_status) {
  const int signal = SignalOfExit(exit_status);
  if (signal == 0) return fmt::format("exit status {}", exit_status);
  std::string name = strsignal(signal);
  name.front() = absl::ascii_tolower(static_cast<unsigned char>(name.front()));
  return fmt::format("exit status {}, as after signal {} ({})", exit_status, signal, name);
}

/// Why a process was lost: `killed by signal 9`, `its exit status was 3`.
inline std::string WhyOfExit(int64_t exit_status) {
  const int signal = SignalOfExit(exit_status);
  return signal > 0 ? fmt::format("killed by signal {}", signal) : fmt::format("its exit status was {}", exit_status);
}

// Paths of sections: names with a slash between, in which a slash of a name is written %2F.

/// A name as the user wrote it.
inline std::string NameOfPathPart(const std::string& part) { return absl::StrReplaceAll(part, {{"%2F", "/"}}); }

/// The names of a path, the outermost first; of the empty path, none.
inline std::vector<std::string> NamesOfPath(const std::string& path) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    names.push_back(NameOfPathPart(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return names;
}

/// A name as a part of a path.
inline std::string PathPartOfName(const std::string& name) { return absl::StrReplaceAll(name, {{"/", "%2F"}}); }

// What the lines of a record log say, one plain struct for each type of line (docs/record_log.md, "Types").
//
// Names are views into the line or the parser's memory: they hold until the next line is parsed. Times are Unix
// nanoseconds. An empty optional is "not measured".

/// What the kernel counts of a whole process: the same names in record logs, process-tree logs and live figures.
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
  /// CPU time of threads that used no guard, while several chunks were open; of record logs only.
  std::optional<int64_t> shared_cpu_ns;

  /// Takes what is larger: peaks and sums only grow, and of memory at one moment the largest is kept.
  void Raise(const ProcessCounts& other);
};

using MembersOfProcessCounts =
    MemberList<&ProcessCounts::rss_peak_bytes, &ProcessCounts::anonymous_bytes, &ProcessCounts::file_bytes,
               &ProcessCounts::system_cpu_ns, &ProcessCounts::minor_faults, &ProcessCounts::major_faults,
               &ProcessCounts::read_calls, &ProcessCounts::read_call_bytes, &ProcessCounts::run_delay_ns,
               &ProcessCounts::throttled_ns, &ProcessCounts::shared_cpu_ns>;
inline constexpr auto kProcessCounts = MembersOfProcessCounts::kNamed;

inline void ProcessCounts::Raise(const ProcessCounts& other) {
  // An empty optional is less than any value.
  for (const auto& [key, member] : kProcessCounts) this->*member = std::max(this->*member, other.*member);
}

/// One path of sections in a chunk, or outside every chunk in a process.
struct SectionFact {
  std::string_view path;
  bool helper = false;  ///< ran on a helper thread: is apart from the owner's time
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  std::optional<int64_t> min_ns;
  std::optional<int64_t> max_ns;
  std::optional<int64_t> cpu_ns;
  int64_t failed = 0;
};

struct MemorySectionFact {
  std::string_view path;
  int64_t count = 0;
  int64_t delta_bytes = 0;  ///< sum over the calls; may be negative
  std::optional<int64_t> min_bytes;
  std::optional<int64_t> max_bytes;
  std::optional<int64_t> rss_start_bytes;
  std::optional<int64_t> rss_stop_bytes;
  std::optional<int64_t> peak_bytes;
};

/// A user's metric in one chunk: the aggregate of its values there.
struct MetricFact {
  std::string_view name;
  std::string_view unit;  ///< may be empty
  int64_t count = 0;
  std::optional<double> sum;  ///< empty: the values were not finite
  std::optional<double> min;
  std::optional<double> max;
  int64_t invalid = 0;               ///< values that were not finite, beside the `count` good ones
  std::vector<int64_t> sketch = {};  ///< bucket, count, bucket, count, …; empty: not known
  int64_t sketch_shift = 0;
};

struct CutFact {
  std::string_view name;
  int64_t events = 0;
  std::optional<double> weights;
  std::optional<int64_t> seen = {};  ///< events that the cut was asked about
  std::string_view path = {};        ///< in its flow; empty: the cut is one of a list
  std::string_view flow = {};
};

/// An activity on Dask's terms, recorded natively.
struct ActivityFact {
  std::string_view label;
  std::string_view unit;
  std::optional<double> value;  ///< empty: it was not finite
};

/// What was asked of one server, or mount, by one operation.
struct RequestFact {
  std::string_view server;
  std::string_view operation;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t total_ns = 0;
  int64_t max_ns = 0;
  int64_t errors = 0;
};

/// A function of a sampled stack.
struct FunctionFact {
  std::string_view name;
  std::string_view file;        ///< empty: not known
  std::optional<int64_t> line;  ///< of its definition
  /// For native code: `file` is a program or library, and `name` ends with `+0x` and where in it.
  std::string_view build_id = {};
};

/// A program or library that native functions of sampled stacks lie in.
struct ModuleFact {
  std::string_view name;  ///< with which the names of its functions begin
  std::string_view path;
  std::string_view build_id;  ///< hexadecimal; empty: it has none
};

/// How often one stack was seen.
struct StackFact {
  int64_t samples = 0;
  int64_t squares = 0;             ///< the sum of each sighting's samples, squared
  std::vector<int64_t> functions;  ///< indices into the line's functions, the outermost first; never empty
};

/// Stacks that a sampling thread saw since the line before, inside one section of chunks of one dataset.
struct StacksFact {
  int64_t time_ns = 0;
  std::string_view dataset;  ///< empty: none
  std::string_view section;  ///< a path; empty: outside every section
  double hertz = 0;          ///< samples in a second of CPU time
  std::vector<FunctionFact> functions;
  std::vector<StackFact> stacks;
  std::vector<ModuleFact> modules;
  std::string_view refused;  ///< why native stacks were not taken; empty: they were, or nobody asked
};

/// Sums of counts: the largest integer stands for sums beyond it. Of numbers that are not negative, so that the order
/// of additions does not matter.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

struct AllocationSums {
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  std::optional<int64_t> live_bytes;       ///< when recording ended; sum over processes
  std::optional<int64_t> peak_live_bytes;  ///< the largest of one process
  /// `live_bytes` less what was live when a quarter to half of the chunks had ended; the largest of one process. May be
  /// negative.
  std::optional<int64_t> live_growth_bytes;
};

/// What one section of a process allocated itself, without the sections inside it.
struct AllocationSiteFact {
  std::string_view path;  ///< empty: outside every section
  std::string_view of;    ///< `chunk`, `helper` or `process`: outside chunks
  AllocationSums sums;
};

/// What a process allocated since it began. The last line counts.
struct AllocationsFact {
  int64_t time_ns = 0;
  bool is_last = false;     ///< recording ended then
  std::string_view reason;  ///< why figures are not known; empty: they are
  std::optional<int64_t> allocations;
  std::optional<int64_t> allocated_bytes;
  std::optional<int64_t> live_bytes;
  std::optional<int64_t> peak_live_bytes;
  std::optional<int64_t> cost_ns;  ///< what counting them cost
  std::vector<AllocationSiteFact> sites;
};

/// What GPUs did for whatever launched it.
struct GpuWork {
  int64_t launches = 0;
  int64_t kernel_ns = 0;  ///< of kernels on the devices, added up
  int64_t copies = 0;
  int64_t copy_ns = 0;
  int64_t to_device_bytes = 0;
  int64_t from_device_bytes = 0;
  int64_t on_device_bytes = 0;
  int64_t wait_ns = 0;                     ///< of threads inside CUDA's synchronisations and copies
  std::optional<int64_t> wait_cpu_ns = 0;  ///< of this, CPU time: they spun; nullopt: not known

  void Add(const GpuWork& other) {
    for (const auto member :
         {&GpuWork::launches, &GpuWork::kernel_ns, &GpuWork::copies, &GpuWork::copy_ns, &GpuWork::to_device_bytes,
          &GpuWork::from_device_bytes, &GpuWork::on_device_bytes, &GpuWork::wait_ns}) {
      this->*member = SaturatingAdd(this->*member, other.*member);
    }
    if (!other.wait_cpu_ns.has_value()) wait_cpu_ns.reset();
    if (wait_cpu_ns.has_value()) wait_cpu_ns = SaturatingAdd(*wait_cpu_ns, *other.wait_cpu_ns);
  }
};

/// What a GPU did for one chunk in one section, or for a section outside chunks, since the process's line before.
struct GpuRowFact {
  std::optional<int64_t> chunk;  ///< its number; nullopt: outside chunks
  std::string_view dataset;      ///< empty: none
  std::string_view section;      ///< a path; empty: outside every section
  GpuWork work = {0, 0, 0, 0, 0, 0, 0, 0, std::nullopt};
};

/// A kernel in one section, since the process's line before.
struct GpuKernelFact {
  std::string_view name;  ///< mangled
  std::string_view dataset;
  std::string_view section;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t max_ns = 0;
};

/// What GPUs did for a process. Rows add up over its lines; of the other figures the last line counts.
struct GpuFact {
  int64_t time_ns = 0;
  bool is_last = false;
  std::string_view reason;          ///< why nothing, or not everything, was counted; empty: all was
  std::optional<int64_t> until_ns;  ///< from then on nothing was counted; nullopt: all was, or nothing
  std::optional<int64_t> busy_ns;   ///< so long at least one kernel or copy of the process was on a device
  std::optional<int64_t> lost;      ///< kernels and copies without a place, or without times
  std::vector<GpuRowFact> rows;
  std::vector<GpuKernelFact> kernels;
};

/// One occurrence of a section, in trace mode.
struct TraceFact {
  int64_t section = 0;   ///< index into the chunk's `sections`
  int64_t start_ns = 0;  ///< since the chunk's start
  int64_t duration_ns = 0;
  int64_t tid = 0;
};

/// A task or a request of an event, in trace mode.
struct TracedTaskFact {
  std::string_view name;       ///< of the module; of a request the server
  std::string_view operation;  ///< of a request
  int64_t tid = 0;             ///< of a task; 0: a request
  int64_t start_ns = 0;        ///< since the event's start, as `ready_ns`
  int64_t duration_ns = 0;
  std::optional<int64_t> ready_ns;  ///< nullopt: not marked
  std::optional<int64_t> by;        ///< index of the task that marked it as ready, or began the request

  bool is_request() const { return tid == 0; }
  int64_t stop_ns() const { return start_ns + duration_ns; }
};

/// What runs a process, as its environment says. Texts are empty where it does not.
struct ProcessEngineFact {
  std::string_view name;  ///< `taskvine`, `slurm` and others; empty: none is known
  std::string_view job;
  std::string_view step;
  std::optional<int64_t> rank;
  std::string_view slot;
  std::optional<int64_t> cpus;
  std::optional<int64_t> memory_bytes;
};

/// The engine's name and the job's, `taskvine 14`; empty: none is known.
inline std::string JobOf(const ProcessEngineFact& engine) {
  return engine.job.empty() ? std::string() : std::string(engine.name) + " " + std::string(engine.job);
}

/// The same with its step, `slurm 14.0`; without one that of the job.
inline std::string StepOf(const ProcessEngineFact& engine) {
  const std::string job = JobOf(engine);
  return job.empty() || engine.step.empty() ? job : job + "." + std::string(engine.step);
}

/// The first line of a log.
struct ProcessFact {
  std::string_view run_id;  ///< empty: none was given
  std::string_view host;
  int64_t pid = 0;
  std::optional<int64_t> parent_pid;
  std::optional<int64_t> pid_namespace;
  int64_t start_ns = 0;
  std::string_view boot_id;               ///< empty: not known
  std::optional<int64_t> recorder;        ///< distinguishes the logs of one process
  std::optional<int64_t> first_recorder;  ///< that of the log beside which its writer opened this one
  std::string_view executable;
  std::vector<std::string_view> arguments;
  std::optional<double> cores;     ///< allowed by affinity and cgroup
  std::optional<int64_t> threads;  ///< declared
  std::optional<int64_t> memory_limit_bytes;
  std::string_view sdk;
  std::optional<int64_t> total_events;  ///< what the whole run will process (CREMA_TOTAL_EVENTS)
  std::string_view working_directory;   ///< when recording began; empty: not known
  ProcessEngineFact engine;
};

/// What distinguishes a recorder from all others, wherever and whenever they run.
struct ProcessIdentity {
  std::string run_id = {};  ///< empty: none was given
  std::string host = {};
  int64_t pid = 0;
  int64_t start_ns = 0;      ///< Unix time
  std::string boot_id = {};  ///< empty: not known
  std::optional<int64_t> pid_namespace = {};
  int64_t parent_pid = 0;  ///< 0: not known
  int64_t recorder = 0;

  void Identify(const ProcessFact& fact) {
    run_id = fact.run_id;
    host = fact.host;
    pid = fact.pid;
    start_ns = fact.start_ns;
    boot_id = fact.boot_id;
    pid_namespace = fact.pid_namespace;
    parent_pid = fact.parent_pid.value_or(0);
    recorder = fact.recorder.value_or(0);
  }
};

/// The data a chunk is about; with the run, its identity (docs/metrics.md, "Chunks and attempts").
struct ChunkInput {
  std::string_view dataset;
  std::string_view file;
  std::string_view tree;
  std::optional<int64_t> entry_start;
  std::optional<int64_t> entry_stop;
  std::string_view pass;
};

struct BeginFact {
  int64_t number = 0;  ///< `chunk`: unique in its log
  int64_t time_ns = 0;
  std::optional<uint64_t> thread;
  std::optional<int64_t> tid;
  ChunkInput input;
  int64_t suspended = 0;                  ///< chunks of the process that were suspended then
  std::optional<int64_t> inside;          ///< the chunk that its thread has open around it
  bool is_detached = false;               ///< an event that no thread holds: `thread` only began it
  std::optional<int64_t> process_cpu_ns;  ///< of the process's first chunk: CPU time of all threads until then
  std::string_view attributes;            ///< as those of `ChunkFact`, as far as they were known then
};

/// How often a thread of the chunk was seen in a wait of this kind; `running`: in none.
struct WaitFact {
  std::string_view path;
  std::string_view kind;
  std::string_view object;
  std::string_view stack;  ///< a line for each function, the innermost first
  int64_t samples = 0;
};

struct ChunkFact {
  int64_t number = 0;  ///< `chunk`: unique in its log
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  bool failed = false;
  std::optional<int64_t> events;
  std::optional<int64_t> bytes_read;
  std::optional<int64_t> bytes_uncompressed;
  std::optional<int64_t> cpu_ns;  ///< the owner thread's
  std::optional<int64_t> helper_cpu_ns;
  std::optional<int64_t> cpu_wait_ns;
  std::optional<int64_t> helper_wait_ns;
  std::optional<int64_t> helper_scope_ns;
  std::optional<int64_t> helper_union_ns;
  std::optional<int64_t> rss_start_bytes;
  std::optional<int64_t> rss_stop_bytes;
  std::optional<int64_t> rss_peak_bytes;
  std::optional<int64_t> io_read_bytes;
  std::optional<int64_t> system_cpu_ns;  ///< of `cpu_ns`: in the kernel
  std::optional<int64_t> minor_faults;   ///< of the owner thread, as the next
  std::optional<int64_t> major_faults;
  std::optional<int64_t> open_chunks;
  std::optional<int64_t> lanes_peak;
  std::optional<uint64_t> thread;
  std::optional<int64_t> tid;
  ChunkInput input;
  std::string_view span;
  std::string_view error;
  std::string_view attributes;  ///< the user's notes, as the line has them: a JSON object; empty if there are none
  std::vector<std::string_view> columns;
  std::vector<SectionFact> sections;
  std::vector<MemorySectionFact> memory_sections;
  std::vector<MetricFact> metrics;
  std::vector<CutFact> cuts;
  std::vector<ActivityFact> activities;
  std::vector<RequestFact> requests;
  std::vector<WaitFact> waits;
  std::optional<int64_t> unannounced_cpu_ns;  ///< of threads without guards, while no other chunk was open
  std::optional<int64_t> children_cpu_ns;     ///< of child processes, likewise
  int64_t sections_dropped = 0;
  int64_t suspended_ns = 0;            ///< of the time from start to stop, that in which it was on no thread
  bool is_detached = false;            ///< as of `begin`
  int64_t inner_ns = 0;                ///< the same, that of chunks and helper scopes inside it on its thread
  std::optional<int64_t> allocations;  ///< of the owner thread
  std::optional<int64_t> allocated_bytes;
  std::vector<TraceFact> trace;       ///< trace mode only
  int64_t trace_dropped = 0;          ///< occurrences that are not in `trace`, or `tasks`
  std::vector<TracedTaskFact> tasks;  ///< of an event, in trace mode only

  /// From start to stop without the time that was not its own; never negative.
  int64_t duration_ns() const {
    const int64_t open_ns = std::max<int64_t>(0, stop_ns - start_ns);
    const int64_t on_thread_ns = open_ns - std::min(suspended_ns, open_ns);
    return on_thread_ns - std::min(inner_ns, on_thread_ns);
  }
};

/// Distinguishes the threads of a process, of a `begin` or `chunk` line; 0: it was not recorded.
template <class Fact>
uint64_t IdOfThread(const Fact& fact) {
  return fact.tid.has_value() ? static_cast<uint64_t>(*fact.tid) : fact.thread.value_or(0);
}

/// What chunks came to that have no `chunk` line: all of one dataset, file, pass and status since the process began.
/// The last line of such a row counts, and holds the earlier ones.
struct SumsFact {
  int64_t time_ns = 0;
  std::string_view reason;  ///< why they have no line, as the format names it
  ChunkInput input;         ///< dataset, file and pass
  bool failed = false;
  int64_t chunks = 0;
  std::vector<int64_t> begun;  ///< numbers of those that have a `begin` line
  int64_t first_start_ns = 0;
  int64_t last_stop_ns = 0;
  int64_t duration_ns = 0;
  int64_t min_duration_ns = 0;
  int64_t max_duration_ns = 0;
  int64_t chunks_with_events = 0;
  std::optional<int64_t> events;
  std::optional<int64_t> bytes_read;
  std::optional<int64_t> bytes_uncompressed;
  std::optional<int64_t> cpu_ns;
  std::optional<int64_t> helper_cpu_ns = 0;
  std::optional<int64_t> cpu_wait_ns;
  std::optional<int64_t> helper_wait_ns;
  int64_t helper_scope_ns = 0;
  int64_t helper_union_ns = 0;
  std::optional<int64_t> helper_joined_ns;  ///< time in which the owners waited for their helpers
  std::optional<int64_t> rss_peak_bytes;
  std::optional<int64_t> system_cpu_ns;
  std::optional<int64_t> minor_faults;
  std::optional<int64_t> major_faults;
  std::optional<int64_t> lanes_peak;
  std::vector<SectionFact> sections;
  std::vector<MemorySectionFact> memory_sections;
  std::vector<MetricFact> metrics;
  std::vector<CutFact> cuts;
  std::vector<ActivityFact> activities;
  std::vector<RequestFact> requests;
  std::vector<WaitFact> waits;
  std::optional<int64_t> unannounced_cpu_ns;  ///< as of a chunk, as the next
  std::optional<int64_t> children_cpu_ns;
  int64_t sections_dropped = 0;
};

/// Tasks of one name, or requests of a server and an operation, since the process began.
struct TaskModuleFact {
  std::string_view name;
  std::string_view operation;  ///< empty: of tasks
  int64_t count = 0;
  int64_t failed = 0;
  int64_t own_ns = 0;
  int64_t cpu_ns = 0;
  int64_t wait_ns = 0;
  int64_t max_ns = 0;
  int64_t union_ns = 0;  ///< at least one ran
  int64_t peak = 0;      ///< most at once
  int64_t queued = 0;    ///< calls that were marked as ready
  int64_t queue_ns = 0;
  int64_t queue_max_ns = 0;
  int64_t behind_ns = 0;  ///< of `queue_ns`, while another one ran
  int64_t stolen_ns = 0;
  int64_t critical_run_ns = 0;
  int64_t critical_queue_ns = 0;
};

/// Events of one dataset that ended since the process began. Both lists of parts add up to the latency.
struct EventSumFact {
  std::string_view dataset;
  int64_t count = 0;
  int64_t failed = 0;
  int64_t not_divided = 0;  ///< of `count`: their latency is in `rest_ns` and `critical_gap_ns`
  int64_t first_start_ns = 0;
  int64_t last_stop_ns = 0;
  int64_t latency_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t active_ns = 0;
  int64_t queued_ns = 0;
  int64_t external_ns = 0;
  int64_t rest_ns = 0;
  int64_t critical_run_ns = 0;
  int64_t critical_queue_ns = 0;
  int64_t critical_external_ns = 0;
  int64_t critical_gap_ns = 0;
  int64_t tasks = 0;
  int64_t work_ns = 0;
  std::vector<int64_t> sketch;  ///< of latencies in seconds, as of a metric; empty: not known
  int64_t sketch_shift = 0;
};

/// What one thread did for tasks, and between them; without a number, all that have ended.
struct TaskThreadFact {
  std::optional<int64_t> tid;
  int64_t threads = 1;
  int64_t tasks = 0;
  int64_t task_ns = 0;
  int64_t task_cpu_ns = 0;
  int64_t task_wait_ns = 0;
  int64_t between_ns = 0;
  int64_t between_cpu_ns = 0;
  int64_t between_wait_ns = 0;
};

/// Events that go from thread to thread (`TrackEvent`). The last row of each name counts.
struct TaskSumsFact {
  int64_t time_ns = 0;
  std::vector<EventSumFact> events;
  std::vector<TaskThreadFact> threads;
  std::vector<TaskModuleFact> modules;

  /// All datasets together: their number, their latency with its four parts, the first begin and the last end.
  EventSumFact AllEvents() const {
    EventSumFact all;
    for (const EventSumFact& row : events) {
      if (all.first_start_ns == 0 || row.first_start_ns < all.first_start_ns) all.first_start_ns = row.first_start_ns;
      all.last_stop_ns = std::max(all.last_stop_ns, row.last_stop_ns);
      for (const auto sum : {&EventSumFact::count, &EventSumFact::latency_ns, &EventSumFact::active_ns,
                             &EventSumFact::queued_ns, &EventSumFact::external_ns, &EventSumFact::rest_ns}) {
        if (__builtin_add_overflow(all.*sum, row.*sum, &(all.*sum))) all.*sum = INT64_MAX;  // only of a corrupt log
      }
    }
    return all;
  }
};

/// A task of a distributed engine, as its plug-in saw it end inside the worker.
struct TaskFact {
  std::string_view key;
  std::string_view prefix;
  std::string_view group;
  std::string_view span;
  std::optional<uint64_t> thread;
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  std::string_view outcome;
  int64_t attempt = 0;  ///< how often it was tried before, in this process
  std::string_view worker;
  std::string_view engine;
  std::optional<int64_t> queue_ns;      ///< between the engine's order and `start_ns`
  std::optional<int64_t> lane_stop_ns;  ///< it gave its thread of the worker back; nullopt: it kept it to its end
};

/// One activity of an engine in one unit: what it came to since the line before.
struct FineRowFact {
  std::string_view context;
  std::string_view span;      ///< empty: none
  std::string_view function;  ///< a task prefix; empty: none
  std::string_view activity;
  std::string_view unit;
  double value = 0;
};

/// An engine's own account of what a worker did.
struct FineFact {
  int64_t time_ns = 0;
  std::string_view worker;
  std::vector<FineRowFact> rows;
};

/// What an engine's scheduler's clock was ahead of the log's.
struct ClockFact {
  int64_t time_ns = 0;
  int64_t offset_ns = 0;
  int64_t uncertainty_ns = 0;
};

/// One reading of a process by its own sampler. `sections` are those outside chunks, summed since the process began.
struct SampleFact {
  int64_t time_ns = 0;
  std::optional<int64_t> realtime_offset_ns;  ///< how far the wall clock stepped since the process began
  std::optional<int64_t> rss_bytes;
  std::optional<int64_t> cpu_ns;
  std::optional<int64_t> threads;
  std::optional<int64_t> open_chunks;
  std::optional<int64_t> read_bytes;
  std::optional<int64_t> write_bytes;
  std::optional<int64_t> memory_limit_bytes;
  std::vector<SectionFact> sections;
  std::optional<int64_t> overhead_ns;  ///< what the instrumentation has cost so far
  ProcessCounts counts;
  std::string_view waits_reason;    ///< why it is not known what its threads wait for; empty: it is
  std::vector<MetricFact> metrics;  ///< of no chunk, since the process began
};

struct FileFact {
  std::string_view file;
  std::optional<int64_t> branches;
  std::optional<int64_t> bytes;
  std::optional<int64_t> compressed_bytes;
};

struct SpanFact {
  std::string_view name;
  std::string_view path;
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
};

/// The last line of a process that could say goodbye.
struct EndFact {
  int64_t time_ns = 0;
  std::optional<int64_t> realtime_offset_ns;
  std::optional<int64_t> chunks;
  std::optional<int64_t> failed;
  std::optional<int64_t> open;
  std::optional<int64_t> dropped;  ///< records that could not be written, and what guards were given and was not kept
  std::optional<int64_t> summed_chunks;   ///< of `chunks`, those that are in sums
  std::optional<int64_t> misused;         ///< of `dropped`, guards that were not used as they should be
  std::optional<int64_t> overhead_ns;     ///< what the instrumentation cost
  std::optional<int64_t> cpu_ns;          ///< CPU time of all threads
  std::vector<SectionFact> sections;      ///< those outside chunks
  std::optional<int64_t> unwritten;       ///< of `dropped`, lines that the disk did not take
  std::optional<int64_t> outside_chunks;  ///< of `dropped`, values and guards where no chunk was open
  std::optional<int64_t> tasks_left_out;  ///< tasks of an engine that have no line, for want of room on the disk
  std::optional<int64_t> lost_samples;    ///< samples of native stacks that have no line
  std::vector<MetricFact> metrics;        ///< of no chunk
  ProcessCounts counts;
  std::string_view waits_reason;  ///< as a sample's
};

enum class RecordType {
  kProcess,
  kBegin,
  kChunk,
  kSums,
  kTask,
  kSample,
  kFile,
  kSpan,
  kFine,
  kClock,
  kStacks,
  kEnd,
  kAllocations,
  kGpu,
  kTaskSums,
};

/// One parsed line: `type` names the member that holds it; the others hold nothing of use.
struct Record {
  RecordType type = RecordType::kProcess;
  ProcessFact process;
  BeginFact begin;
  ChunkFact chunk;
  SumsFact sums;
  TaskFact task;
  SampleFact sample;
  FileFact file;
  SpanFact span;
  FineFact fine;
  ClockFact clock;
  StacksFact stacks;
  EndFact end;
  AllocationsFact allocations;
  GpuFact gpu;
  TaskSumsFact task_sums;
};

/// One reading of a process, by its own sampler or by `crema run`.
struct ProcessSample {
  int64_t time_ns = 0;  ///< Unix time
  std::optional<int64_t> rss_bytes;
  std::optional<int64_t> cpu_ns;  ///< since the process began
  std::optional<int64_t> threads;
  std::optional<int64_t> open_chunks;
  std::optional<int64_t> memory_limit_bytes;
  std::optional<int64_t> anonymous_bytes;
  std::optional<int64_t> run_delay_ns;  ///< since the process began
};

/// What all writers know of a process: of one run, host, pid and start.
template <class Process>
auto NameOf(const Process& process) {
  return std::tie(process.run_id, process.host, process.pid, process.start_ns);
}

/// All that distinguishes a process from others. An empty boot id and a namespace that is not known are values of their
/// own: see `MayBeOneProcess`.
template <class Process>
auto IdentityOf(const Process& process) {
  return std::tuple_cat(NameOf(process), std::tie(process.boot_id, process.pid_namespace));
}

/// Whether two writers may mean the same process: what both know is equal. An engine's plug-in does not know all that
/// the SDK does.
template <class A, class B>
bool MayBeOneProcess(const A& a, const B& b) {
  return NameOf(a) == NameOf(b) && (a.boot_id.empty() || b.boot_id.empty() || a.boot_id == b.boot_id) &&
         (!a.pid_namespace.has_value() || !b.pid_namespace.has_value() || a.pid_namespace == b.pid_namespace);
}

}  // namespace crema
