// The `process` line, the first of a record log, and the `sample` and `end` lines.
#include <cstdio>

#include "chunk/chunk_line.h"
#include "chunk/thread_state.h"
#include "crema/internal/platform.h"
#include "crema/version.h"
#include "kernel/kernel_readings.h"
#include "kernel/proc_file.h"
#include "log/engine_identity.h"
#include "log/json_line.h"
#include "log/secret_filter.h"
#include "process/allocations.h"
#include "process/environment.h"
#include "process/gpu.h"
#include "storage/arena.h"
#include "storage/fixed_text.h"
#include "tasks/task_table.h"

namespace crema::internal {
namespace {

/// What the writer knows of the format (docs/record_log.md, "Minor numbers").
constexpr std::int64_t kRecordSchemaMinor = 25;
constexpr std::size_t kMostArguments = 1000;
constexpr std::size_t kMostArgumentBytes = std::size_t{1} << 17;

using HostName = FixedText<HOST_NAME_MAX>;

HostName Host() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return HostName("localhost");
  std::replace(std::begin(name), std::end(name), '/', '_');  // it becomes a part of the log's name
  return HostName(name);
}

/// Where a link leads to; empty where it cannot be read.
std::string_view ReadLink(const char* path, char* target, std::size_t bytes) {
  const ssize_t size = readlink(path, target, bytes);
  return {target, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::optional<std::int64_t> PidNamespace() {
  char target[64];
  const std::string_view link = ReadLink("/proc/self/ns/pid", target, sizeof target);  // pid:[4026531836]
  return LeadingInteger(link.substr(link.find('[') + 1));
}

void AppendExecutable(JsonLine* line) {
  const OwnArray<char> target = MakeOwnArray<char>(PATH_MAX);
  const std::string_view path = target == nullptr ? "" : ReadLink("/proc/self/exe", target.get(), PATH_MAX);
  line->FieldText("executable", path);
}

FixedText<64> BootId() {
  char text[64];
  const long size = ReadWholeFile("/proc/sys/kernel/random/boot_id", text, sizeof text);
  const std::string_view id(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  return FixedText<64>(id.substr(0, id.find_last_not_of(" \t\n\v\f\r") + 1));
}

/// Null where they are not asked for, or where there is no memory to read them into, which is counted.
void AppendArguments(Recorder* recorder, JsonLine* line) {
  line->Key("arguments");
  if (!recorder->settings.record_arguments) return line->Raw("null");
  const FileText text("/proc/self/cmdline", kMostArgumentBytes);
  if (!text.has_memory()) {
    recorder->dropped.fetch_add(1, std::memory_order_relaxed);
    line->Raw("null");
    return;
  }
  std::string_view rest = text.view();
  SecretFilter filter;
  line->Raw("[");
  for (std::size_t count = 0; !rest.empty() && count < kMostArguments; ++count) {
    const std::string_view argument = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(argument.size() + 1, rest.size()));
    const SecretFilter::Shown shown = filter.Next(argument);
    if (count != 0) line->Raw(",");
    line->Raw("\"");
    line->StringPart(CutOnCodePoint(shown.text, kMaxPathBytes), false);
    if (shown.hides_value) line->Raw("***");
    line->StringPart(CutOnCodePoint(shown.rest, kMaxPathBytes), false);
    line->Raw("\"");
  }
  line->Raw("]");
}

void AppendEngine(const EngineIdentity& engine, JsonLine* line) {
  if (engine.name.empty()) return line->Raw(",\"engine\":null");
  line->Raw(",\"engine\":{\"name\":");
  line->String(engine.name.view());
  line->FieldText("job", engine.job.view());
  line->FieldText("step", engine.step.view());
  line->Field("rank", engine.rank);
  line->FieldText("slot", engine.slot.view());
  line->Field("cpus", engine.cpus);
  line->Field("memory_bytes", engine.memory_bytes);
  line->Raw("}");
}

void AppendProcess(Recorder* recorder, const HostName& host, std::int64_t start_ns, int recorder_number) {
  const Settings& settings = recorder->settings;
  JsonLine* const line = &recorder->process_line;
  line->Raw("{\"type\":\"process\",\"schema\":\"crema.records/1\"");
  line->Field("schema_minor", kRecordSchemaMinor);
  line->FieldText("run_id", settings.run_id.view());
  line->FieldText("host", host.view());
  line->Field("pid", recorder->pid);
  line->Field("parent_pid", static_cast<std::int64_t>(getppid()));
  line->Field("pid_namespace", PidNamespace());
  line->Field("start_ns", start_ns);
  line->FieldText("boot_id", BootId().view());
  line->Field("recorder", static_cast<std::int64_t>(recorder_number));
  AppendExecutable(line);
  AppendArguments(recorder, line);
  line->FieldNumber("cores", AllowedCores());
  line->Field("threads", settings.threads.has_value() ? std::optional<std::int64_t>(*settings.threads) : std::nullopt);
  line->Field("memory_limit_bytes", MemoryLimitBytes());
  line->FieldText("clock", recorder->clock.counter_is_clock() ? "tsc" : "monotonic");
  line->FieldText("sdk", "crema-cpp " CREMA_VERSION_STRING);
  line->Raw(",\"attributes\":{");
  if (settings.total_events.has_value()) {
    line->Raw("\"total_events\":");
    line->Integer(*settings.total_events);
  }
  line->Raw("}");
  const WorkingDirectory directory;
  line->FieldText("working_directory", settings.record_arguments ? directory.path() : std::string_view());
  AppendEngine(FindEngine(directory.path()), line);
  line->Raw("}\n");
}

/// Occurrences of sections outside chunks.
struct OutsideSections {
  std::uint64_t merged = 0;
  std::uint64_t not_merged = 0;   ///< found no place in a tree
  std::uint64_t without_row = 0;  ///< of the merged ones
  std::uint64_t open = 0;         ///< that have not ended
};

/// Threads that have a section open outside chunks.
std::uint64_t OpenOutside(Recorder* recorder) {
  std::uint64_t open = 0;
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    const SectionNode* innermost = thread->OpenOutside();
    if (innermost != nullptr && innermost->parent != nullptr) ++open;
  }
  return open;
}

/// Needs no memory.
std::uint64_t OccurrencesOutside(Recorder* recorder) {
  std::uint64_t occurrences = recorder->ended_threads.Occurrences() + recorder->ended_threads.dropped();
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    occurrences += thread->outside.Occurrences() + thread->outside.dropped();
  }
  return occurrences;
}

constexpr std::string_view kNoSections = ",\"sections\":[]";

/// `"sections":[…]`: sections outside chunks, of all threads that are and were.
OutsideSections AppendOutsideSections(Recorder* recorder, JsonLine* line) {
  OutsideSections sections;
  const OwnPointer<SectionTree> all(MakeOwn<SectionTree>());
  // The lock keeps threads from ending, which would move their sections from one tree to the other meanwhile.
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  sections.open = OpenOutside(recorder);
  if (all == nullptr) {
    line->Raw(kNoSections);
    sections.not_merged = OccurrencesOutside(recorder);
    if (sections.not_merged + sections.open != 0) line->Break();
  } else {
    all->Merge(&recorder->ended_threads, nullptr);
    for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
      all->Merge(&thread->outside, nullptr, thread);
    }
    AppendSections(all->root(), SectionRows::kMerged, nullptr, recorder->clock.Rate(), line, &sections.without_row);
    sections.merged = all->Occurrences();
    sections.not_merged = all->dropped();
  }
  return sections;
}

/// `"metrics":[…]`, those of the process; nothing where there is none. How many rows the line has no room for.
std::uint64_t AppendProcessMetrics(Recorder* recorder, JsonLine* line) {
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  ChunkData& values = recorder->process_values;
  if (values.num_metrics() == 0) return 0;
  const std::uint64_t dropped = values.dropped();
  values.AppendMetrics(line);
  return values.dropped() - dropped;
}

/// Run delay of a thread until now, or until it read it last if the kernel does not say more.
std::int64_t RunDelayOf(const ThreadState& thread) {
  char path[48];
  snprintf(path, sizeof path, "/proc/self/task/%lld/schedstat", static_cast<long long>(thread.tid));
  const FileText schedstat(path, 96);
  const std::string_view text = schedstat.view();
  const MaybeInteger now_ns = LeadingInteger(text.substr(std::min(text.find(' '), text.size())));
  return std::max(thread.run_delay_ns.load(std::memory_order_relaxed), now_ns.value_or(0));
}

/// Run delay of all threads that record or have recorded. Of more than 32, it takes what they read last.
std::int64_t RunDelayOfThreads(const Recorder& recorder) {
  constexpr int kMostRead = 32;
  int read = 0;
  std::int64_t sum = recorder.ended_run_delay_ns.load(std::memory_order_relaxed);
  for (const ThreadState* thread = recorder.first_thread(); thread != nullptr; thread = thread->next) {
    const std::int64_t last_ns = thread->run_delay_ns.load(std::memory_order_relaxed);
    const bool is_there = thread->in_use.load(std::memory_order_relaxed) && thread->tid > 0;
    // 0: the thread has read none yet, or has ended and is in the sum of those
    sum += is_there && last_ns > 0 && read++ < kMostRead ? RunDelayOf(*thread) : last_ns;
  }
  return sum;
}

/// What both lines have of the process: peaks, faults, its calls, and the CPU time of threads without guards.
void AppendProcessTotals(Recorder* recorder, std::string_view status, JsonLine* line) {
  const auto bytes = [&](std::string_view key) -> MaybeInteger {
    const MaybeInteger kilobytes = IntegerAfter(status, key);
    return kilobytes.has_value() ? MaybeInteger(*kilobytes * 1024) : std::nullopt;
  };
  MaybeInteger file_bytes = bytes("RssFile:");
  AddTo(&file_bytes, bytes("RssShmem:"));
  line->Field("rss_peak_bytes", bytes("VmHWM:"));
  line->Field("anonymous_bytes", bytes("RssAnon:"));
  line->Field("file_bytes", file_bytes);
  AppendUsage(UsageOfProcess(), line);
  const FileText io("/proc/self/io", 4096);
  line->Field("read_calls", IntegerAfter(io.view(), "syscr:"));
  line->Field("read_call_bytes", IntegerAfter(io.view(), "rchar:"));
  line->Field("run_delay_ns", RunDelayOfThreads(*recorder));
  line->Field("throttled_ns", Difference(ThrottledNanoseconds(), recorder->throttled_start_ns));
  const UnannouncedTime alone = recorder->unannounced.Time(OpenThen::kOneChunk);
  const UnannouncedTime shared = recorder->unannounced.Time(OpenThen::kSeveral);
  const UnannouncedTime outside = recorder->unannounced.Time(OpenThen::kNothing);
  line->Field("alone_cpu_ns", alone.cpu_ns);
  line->Field("alone_ns", alone.wall_ns);
  line->Field("shared_cpu_ns", shared.cpu_ns);
  line->Field("shared_ns", shared.wall_ns);
  line->Field("outside_cpu_ns", outside.cpu_ns);
  line->Field("outside_ns", outside.wall_ns);
  line->FieldUnsigned("wait_samples", recorder->waits.looks());
  // docs/record_log.md says what "switched off" means to readers.
  line->FieldText("waits_reason", recorder->waits.hertz() > 0 ? recorder->waits.refusal() : "switched off");
}

/// Returns the CPU time among them.
MaybeInteger AppendProcessReadings(Recorder* recorder, JsonLine* line) {
  KernelReadings readings;
  line->Field("rss_bytes", readings.RssBytes(&recorder->descriptors));
  readings.Close(&recorder->descriptors);
  const MaybeInteger cpu_ns = ProcessCpuNanoseconds();
  line->Field("cpu_ns", cpu_ns);
  const FileText status("/proc/self/status", 4096);
  line->Field("threads", IntegerAfter(status.view(), "Threads:"));
  line->Field("open_chunks", recorder->open_chunks.load() + recorder->open_events.load());
  const FileText io("/proc/self/io", 4096);
  line->Field("read_bytes", IntegerAfter(io.view(), "read_bytes:"));
  line->Field("write_bytes", IntegerAfter(io.view(), "write_bytes:"));
  line->Field("memory_limit_bytes", MemoryLimitBytes());
  AppendProcessTotals(recorder, status.view(), line);
  return cpu_ns;
}

void AppendTime(Recorder* recorder, JsonLine* line) {
  const std::int64_t now_ns = MonotonicNanoseconds();
  line->Field("time_ns", recorder->clock.UnixNanoseconds(now_ns));
  line->Field("realtime_offset_ns", recorder->clock.RealtimeStep());
}

/// Most costs are estimates: recording cannot have cost more than the CPU time of the process.
std::int64_t OverheadNanoseconds(const Recorder& recorder, const OutsideSections& outside, MaybeInteger cpu_ns) {
  const std::int64_t overhead_ns =
      recorder.overhead_ns.load() + AllocationCostNanoseconds(recorder) +
      static_cast<std::int64_t>(outside.merged + outside.not_merged) * recorder.section_cost_ns;
  return std::min(overhead_ns, cpu_ns.value_or(INT64_MAX));
}

/// The last line of a log. What belongs to no chunk is in the first one, and so is the cost of recording.
bool WriteEndLine(Recorder* recorder, ChunkLog* log, const OutsideSections& sections, std::uint64_t rows_dropped,
                  std::string_view last) {
  const bool is_first = log == recorder;
  JsonLine& line = recorder->end_line;
  line.Clear();
  line.Raw("{\"type\":\"end\"");
  AppendTime(recorder, &line);
  line.FieldUnsigned("chunks", log->chunks.load());
  line.FieldUnsigned("failed", log->failed.load());
  line.Field("open", recorder->open_chunks.load() + recorder->open_events.load());
  line.FieldUnsigned("dropped",
                     log->log.dropped() + log->sums.lost() + (is_first ? recorder->dropped.load() + rows_dropped : 0));
  line.FieldUnsigned("summed_chunks", log->sums.chunks());
  line.FieldUnsigned("misused", is_first ? recorder->misused.load() : 0);
  line.FieldUnsigned("unwritten", log->log.unwritten() + log->sums.unwritten());
  line.FieldUnsigned("outside_chunks", is_first ? recorder->outside.load() : 0);
  const MaybeInteger cpu_ns = ProcessCpuNanoseconds();
  line.Field("overhead_ns", is_first ? OverheadNanoseconds(*recorder, sections, cpu_ns) : 0);
  line.Field("cpu_ns", cpu_ns);
  AppendProcessTotals(recorder, FileText("/proc/self/status", 4096).view(), &line);
  if (is_first && recorder->stacks.hertz() > 0) line.FieldUnsigned("lost_samples", recorder->stacks.lost_samples());
  line.Raw(last);
  line.Raw("}\n");
  return !line.broken() && log->log.WriteLast(line.text());
}

}  // namespace

bool OpenLog(Recorder* recorder) noexcept {
  const HostName host = Host();
  const std::int64_t now = recorder->clock.UnixNanoseconds(recorder->clock.Now().monotonic_ns);
  const char* const directory = recorder->settings.directory.c_str();
  const std::int64_t start_ns =
      LogFile::StartAsLogged(directory, host.c_str(), recorder->pid, ProcessStartUnixNanoseconds(recorder->clock, now));
  if (!recorder->end_line.Reserve(kBytesForLastLine)) {
    errno = ENOMEM;
    return false;
  }
  const int number = recorder->log.Open(directory, host.c_str(), recorder->pid, start_ns, recorder->number);
  if (number < 0) return false;
  AppendProcess(recorder, host, start_ns, number);
  if (recorder->process_line.broken()) {
    recorder->log.Remove(&recorder->descriptors);
    errno = ENOMEM;
    return false;
  }
  recorder->log.KeepRoom(directory, recorder->settings.max_log_bytes, &recorder->descriptors);
  recorder->log.Begin(recorder->process_line.text());
  return true;
}

bool OpenLogBeside(Recorder* recorder, ChunkLog* more) noexcept {
  constexpr std::string_view kKey = ",\"recorder\":";
  const std::string_view first = recorder->process_line.text();
  const std::size_t number_at = first.find(kKey) + kKey.size();
  const std::int64_t first_number = LeadingInteger(first.substr(number_at)).value_or(0);
  const int number = more->log.OpenBeside(&recorder->log, static_cast<int>(first_number) + 1);
  if (number < 0) return false;
  JsonLine* const line = &more->process_line;
  line->Raw(first.substr(0, number_at));
  line->Integer(number);
  line->Field("first_recorder", first_number);
  line->Raw(first.substr(first.find(',', number_at)));
  if (!line->broken() && more->log.Begin(line->text())) return true;
  more->log.Remove(&recorder->descriptors);
  return false;
}

void WriteSample(Recorder* recorder) noexcept {
  const MaybeInteger begin_ns = ThreadCpu();
  JsonLine line;
  line.Raw("{\"type\":\"sample\"");
  AppendTime(recorder, &line);
  const MaybeInteger cpu_ns = AppendProcessReadings(recorder, &line);
  const OutsideSections sections = AppendOutsideSections(recorder, &line);
  line.FieldNumber("cpu_pressure_percent", CpuPressurePercent());
  line.Field("overhead_ns", OverheadNanoseconds(*recorder, sections, cpu_ns));
  AppendProcessMetrics(recorder, &line);
  line.Raw("}\n");
  recorder->log.Write(line);
  recorder->overhead_ns.fetch_add(Difference(ThreadCpu(), begin_ns).value_or(0), std::memory_order_relaxed);
}

void WriteEnd(Recorder* recorder) noexcept {
  for (ChunkLog* log = recorder; log != nullptr; log = log->next.load()) log->log.ExpectLast();
  recorder->unannounced.Settle(recorder, nullptr);
  for (ChunkLog* log = recorder; log != nullptr; log = log->next.load()) log->sums.WriteLast(recorder, &log->log);
  if (TaskTable* const tasks = recorder->tasks.load()) tasks->Write(recorder, true);
  WriteAllocations(recorder, true);
  WriteGpu(recorder, true);
  for (ChunkLog* log = recorder->next.load(); log != nullptr; log = log->next.load()) {
    if (log->log.is_open()) WriteEndLine(recorder, log, {}, 0, kNoSections);
  }
  JsonLine last_fields;
  const OutsideSections sections = AppendOutsideSections(recorder, &last_fields);
  const std::uint64_t metrics_without_room = AppendProcessMetrics(recorder, &last_fields);
  const std::uint64_t lost = sections.not_merged + sections.without_row + metrics_without_room;
  if (!last_fields.broken() && WriteEndLine(recorder, recorder, sections, lost, last_fields.text())) return;
  // Where disk or memory are all but full there is still room for the counts.
  const std::uint64_t all =
      sections.not_merged + sections.merged + sections.open + recorder->process_values.num_metrics();
  const bool ended = WriteEndLine(recorder, recorder, sections, all, kNoSections);
  if (!ended && recorder->log.is_missed()) WarnOnce({"the record log ", recorder->log.path(), " was removed"});
}

}  // namespace crema::internal
