#include "collector/measurement/recorded.h"

#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr Column kSectionColumns[] = {
    ColumnOf<&SectionRow::path>(
        "section", Kind::kText, 0,
        "names from the outermost section inwards; `(other)` is the owner's time outside every section")
        .At(1),
    FieldOf<&SectionRow::helper>(Kind::kFlag, "true: ran on helper threads; the owner's time does not include it"),
    ColumnOf<&SectionRow::count>("calls", Kind::kCount, 1, "calls").Compared(3).At(2),
    ColumnOf<&SectionRow::total>(Kind::kDuration, 2, "wall time with nested sections").Compared(2).At(5),
    ColumnOf<&SectionRow::self>("own time", Kind::kDuration, 0,
                                "wall time without nested sections; the owner rows' add up to the busy time")
        .Compared(1)
        .At(3),
    FieldOf<&SectionRow::min>(Kind::kDuration, "shortest call"),
    ColumnOf<&SectionRow::max>("max call", Kind::kDuration, 7, "longest call").At(9),
    ColumnOf<&SectionRow::mean>("per call", Kind::kDuration, 6, "per call").Compared().At(8),
    ColumnOf<&SectionRow::cpu>(Kind::kDuration, 4, "CPU time, where the section asked for it").Compared().At(12),
    ColumnOf<&SectionRow::failed>(Kind::kCount, 5, "calls left by an exception").At(13),
    ColumnOf<&SectionRow::chunks>(Kind::kCount, 5,
                                  "ended attempts in which it ran; null outside chunks, as the next five, and where "
                                  "chunks were summed, as the last")
        .At(7),
    ColumnOf<&SectionRow::p50>(Kind::kDuration, 8, "median of the total in one chunk, over chunks in which it ran")
        .At(10),
    ColumnOf<&SectionRow::p95>(Kind::kDuration, 6, "95 % quantile of the same").Compared().At(11),
    FieldOf<&SectionRow::p99>(Kind::kDuration, "99 % quantile of the same"),
    FieldOf<&SectionRow::mean_per_chunk>(Kind::kDuration, "over all ended attempts"),
    ColumnOf<&SectionRow::mean_when_run>("when run", Kind::kDuration, 3, "over those in which it ran").At(6),
    ColumnOf<&SectionRow::share>(
        Kind::kShare, 0,
        "self, of the time of all owners and helpers; an event that no thread holds has no owner beside its tasks. "
        "Null if sections also hold chunks of another copy of the SDK, and come to more")
        .Compared()
        .At(4),
    FieldOf<&SectionRow::self_in_workers>(
        Kind::kDuration,
        "outside chunks: the part of `self` that is in workers; other processes (a parent that waits) use no core"),
    ColumnOf<&SectionRow::allocations>(Kind::kCount, 7,
                                       "blocks that the section allocated itself, without the sections inside it; null "
                                       "where they were not counted (`crema run --allocations`), as the next four")
        .OptIn()
        .At(14),
    ColumnOf<&SectionRow::allocated_bytes>("allocated", Kind::kMemory, 2,
                                           "of these blocks, as malloc_usable_size counts them")
        .OptIn()
        .At(15),
    ColumnOf<&SectionRow::live_bytes>("live at the end", Kind::kMemory, 3,
                                      "of these, not freed by anyone when recording ended; sum over processes")
        .OptIn()
        .At(16),
    ColumnOf<&SectionRow::peak_live_bytes>("most live", Kind::kMemory, 3,
                                           "the most that was live at once, in one process")
        .OptIn()
        .At(17),
    FieldOf<&SectionRow::live_growth_bytes>(
        Kind::kMemory,
        "live bytes less those that were live when a quarter to half of its process's chunks had ended, the largest of "
        "one process; a cache that was filled before does not count. Null where no process had four chunks"),
    ColumnOf<&SectionRow::gpu_seconds>("GPU", Kind::kDuration, 2,
                                       "times of kernels that the section launched, without the sections inside it, on "
                                       "the devices, added up; null where they were not counted (`crema run --gpu`), "
                                       "as the next six. What helpers launched is in one row of its path")
        .OptIn()
        .At(18),
    ColumnOf<&SectionRow::gpu_launches>("kernels", Kind::kCount, 5, "these kernels").OptIn().At(19),
    ColumnOf<&SectionRow::gpu_copy_seconds>("GPU copies", Kind::kDuration, 4, "copies and fills on the devices")
        .OptIn()
        .At(20),
    FieldOf<&SectionRow::gpu_to_device_bytes>(Kind::kData, "copied from the host to the devices"),
    FieldOf<&SectionRow::gpu_from_device_bytes>(Kind::kData, "copied from the devices to the host"),
    ColumnOf<&SectionRow::gpu_wait_seconds>("waits for GPU", Kind::kDuration, 3,
                                            "of the thread, inside CUDA's synchronisations and copies")
        .OptIn()
        .At(21),
    FieldOf<&SectionRow::gpu_wait_cpu_seconds>(Kind::kDuration, "of this, CPU time: the thread spun"),
};

constexpr Column kMemorySectionColumns[] = {
    ColumnOf<&MemorySectionRow::path>("section", Kind::kText, 0, "names from the outermost section inwards"),
    ColumnOf<&MemorySectionRow::count>("calls", Kind::kCount, 1, "calls"),
    ColumnOf<&MemorySectionRow::delta_bytes>("sum", Kind::kMemory, 0,
                                             "sum of the changes of resident memory; null beyond 64 bits"),
    ColumnOf<&MemorySectionRow::min_bytes>("least", Kind::kMemory, 2, "least change in one call"),
    ColumnOf<&MemorySectionRow::max_bytes>("largest", Kind::kMemory, 0, "largest change in one call"),
    ColumnOf<&MemorySectionRow::rss_start_bytes>("RSS before it", Kind::kMemory, 3,
                                                 "resident memory before the largest change"),
    ColumnOf<&MemorySectionRow::rss_stop_bytes>("RSS after it", Kind::kMemory, 3, "resident memory after it"),
    ColumnOf<&MemorySectionRow::peak_bytes>("peak", Kind::kMemory, 1, "largest resident memory seen at a begin or end"),
};

/// By dataset, too, where tables do not show them.
template <class Row>
constexpr Column kFigureColumns[] = {
    ColumnOf<&Row::count, Row>(Kind::kCount, 2, "finite values, of `ok` attempts").At(3),
    ColumnOf<&Row::sum, Row>(Kind::kNumber, 0, "sum of the values").In("its unit").At(4),
    ColumnOf<&Row::mean, Row>(Kind::kNumber, 0, "sum / count").In("its unit").At(5),
    ColumnOf<&Row::min, Row>(Kind::kNumber, 3, "least value").In("its unit").At(6),
    ColumnOf<&Row::max, Row>(Kind::kNumber, 3, "largest value").In("its unit").At(9),
    ColumnOf<&Row::p50, Row>(Kind::kNumber, 4, "median of the values; those of summed chunks are not among them")
        .In("its unit")
        .At(7),
    ColumnOf<&Row::p95, Row>(Kind::kNumber, 4, "95 % quantile of the same").In("its unit").At(8),
    FieldOf<&Row::quantiles_of, Row>(Kind::kText,
                                     "`values`; or `chunk means`, if a chunk with several values has no sketch of "
                                     "them: then their mean stands for each of them")
        .CsvLast(),
    ColumnOf<&Row::invalid, Row>(Kind::kCount, 5, "values that were not finite: counted, not summed").At(10),
    ColumnOf<&Row::failed_count, Row>("of failed chunks", Kind::kCount, 6,
                                      "finite values of failed attempts, which no other field holds")
        .At(11),
    FieldOf<&Row::failed_sum, Row>(Kind::kNumber, "their sum").In("its unit"),
};

constexpr Column kMetricNames[] = {
    ColumnOf<&CustomMetricRow::name>("metric", Kind::kText, 0, "as recorded").At(1),
    ColumnOf<&CustomMetricRow::unit>(Kind::kText, 1, "as recorded; may be empty").At(2),
};

constexpr Column kMetricDetails[] = {
    FieldOf<&CustomMetricRow::by_dataset, CustomMetricRow>(Kind::kText,
                                                           "the fields from `count` to `failed_sum`, for each dataset"),
    FieldOf<&CustomMetricRow::histogram, CustomMetricRow>(
        Kind::kText, "`edges` and `counts` of at most 40 bins; null where not all values are known"),
};

constexpr Column kCutColumns[] = {
    ColumnOf<&CutRow::name>("cut", Kind::kText, 0, "as recorded"),
    ColumnOf<&CutRow::events>(Kind::kExactCount, 0, "events that passed, summed over results"),
    ColumnOf<&CutRow::weights>("sum of weights", Kind::kNumber, 2, "sum of weights; null where a result gave none"),
    ColumnOf<&CutRow::step_efficiency>(
        "of its input", Kind::kShare, 1,
        "events / `seen`; if that is null, events / events of the cut before: the parent, or in a list the row before; "
        "1 for the first. Null where the cut before left fewer events, so that these are not some of them"),
    ColumnOf<&CutRow::total_efficiency>(
        "of all", Kind::kShare, 0,
        "events / events of the first cut of its flow or list; null as `step_efficiency` is"),
    ColumnOf<&CutRow::seen>("input", Kind::kExactCount, 2,
                            "events that the cut was asked about; null where a result did not record it")
        .OptIn(),
    ColumnOf<&CutRow::path>(Kind::kText, 2,
                            "the cuts before it in its flow, and its own name, with `/` between them; null: the cut is "
                            "one of a list, and it is not known which events it was asked about")
        .OptIn(),
    ColumnOf<&CutRow::flow>(Kind::kText, 2,
                            "the cut flow, as recorded; of ROOT a dataset, with the frame and the loop if there are "
                            "several; null: none was named")
        .OptIn(),
};

constexpr Column kAttributeColumns[] = {
    ColumnOf<&AttributeRow::name>(
        "attribute", Kind::kText, 0,
        "as recorded; `perf_counters` and `reading` are the SDK's: why counters or figures of reading are missing"),
    ColumnOf<&AttributeRow::value>(
        Kind::kText, 0, "as recorded; `(other)`: all further values of the attribute, also one that is called so"),
    ColumnOf<&AttributeRow::chunks>(
        Kind::kCount, 0,
        "attempts that ended with it, failed ones too, but none that were summed; null in "
        "the row `(other)` of all attributes beyond 100, of which an attempt may have several"),
};

constexpr Column kRequestSumColumns[] = {
    ColumnOf<&RequestSumRow::server>(Kind::kText, 0, "the server or mount, as recorded"),
    ColumnOf<&RequestSumRow::operation>(Kind::kText, 0, "as recorded: read, readv, open and others"),
    ColumnOf<&RequestSumRow::calls>(Kind::kCount, 0, "requests that ended, of ended attempts"),
    ColumnOf<&RequestSumRow::bytes>(Kind::kData, 1,
                                    "that they moved, where their callers recorded it; null beyond 64 bits"),
    ColumnOf<&RequestSumRow::seconds>("time", Kind::kDuration, 0,
                                      "wall time of all of them; those that overlapped count each"),
    ColumnOf<&RequestSumRow::max_seconds>("slowest", Kind::kDuration, 1, "the slowest"),
    ColumnOf<&RequestSumRow::errors>(Kind::kCount, 2, "those that failed"),
};

constexpr Column kEventLatencyColumns[] = {
    ColumnOf<&EventLatencyRow::dataset>(Kind::kText, 0, "of the events; null where they have none"),
    ColumnOf<&EventLatencyRow::events>(Kind::kCount, 0,
                                       "that ended, as the program began and ended them (`TrackEvent`)"),
    ColumnOf<&EventLatencyRow::failed>(Kind::kCount, 2, "of them"),
    ColumnOf<&EventLatencyRow::events_per_second>("events/s", Kind::kRate, 0,
                                                  "events / (last end - first begin); of several processes the sum"),
    ColumnOf<&EventLatencyRow::in_flight>("in flight", Kind::kNumber, 1,
                                          "mean number of events that were open: latency_seconds / (last end - first "
                                          "begin); of several processes the sum"),
    ColumnOf<&EventLatencyRow::latency_seconds>(
        "latency, sum", Kind::kDuration, 2,
        "from begin to end, of all events. The next four parts that end in `_seconds` (active, queued, external, rest) "
        "add up to it, and so do the four that begin with `critical_`"),
    ColumnOf<&EventLatencyRow::p50_seconds>("median", Kind::kDuration, 0,
                                            "of the latencies, within 1 %; null where it is not known"),
    ColumnOf<&EventLatencyRow::p95_seconds>("95 %", Kind::kDuration, 0, "the same of 95 % of the events"),
    ColumnOf<&EventLatencyRow::max_seconds>("longest", Kind::kDuration, 1, "the longest latency"),
    ColumnOf<&EventLatencyRow::active_seconds>("at work", Kind::kDuration, 0, "at least one task of the event ran"),
    ColumnOf<&EventLatencyRow::queued_seconds>("queued", Kind::kDuration, 0,
                                               "no task ran, and one was marked as ready (`MarkReady`)"),
    ColumnOf<&EventLatencyRow::external_seconds>("external", Kind::kDuration, 0,
                                                 "neither, and a request of the event was open (`TrackRequest`)"),
    ColumnOf<&EventLatencyRow::rest_seconds>("nothing ready", Kind::kDuration, 0,
                                             "none of these: the event waited for something that nobody marked"),
    ColumnOf<&EventLatencyRow::critical_run_seconds>("critical: at work", Kind::kDuration, 3,
                                                     "tasks on the critical path: what of an event ended last, what "
                                                     "had ended last when that became ready, and so on"),
    ColumnOf<&EventLatencyRow::critical_queue_seconds>(
        "critical: queued", Kind::kDuration, 3,
        "between the time when a task of the path was marked as ready, and its begin"),
    ColumnOf<&EventLatencyRow::critical_external_seconds>("critical: external", Kind::kDuration, 3,
                                                          "requests on the path"),
    ColumnOf<&EventLatencyRow::critical_gap_seconds>("critical: gaps", Kind::kDuration, 3, "between one and the next"),
    ColumnOf<&EventLatencyRow::tasks>(Kind::kCount, 2, "that ended"),
    ColumnOf<&EventLatencyRow::work_seconds>(
        "work", Kind::kDuration, 2, "time of threads in tasks of the events, without the tasks of others inside"),
    ColumnOf<&EventLatencyRow::parallel>("at once", Kind::kNumber, 1,
                                         "work_seconds / active_seconds: tasks at once while the event was at work"),
    ColumnOf<&EventLatencyRow::not_divided>(
        "not divided", Kind::kCount, 4,
        "events with more than 8,192 tasks and requests, whose latency is in rest_seconds and critical_gap_seconds"),
    FieldOf<&EventLatencyRow::histogram>(Kind::kText,
                                         "of the latencies in seconds: `edges`, the same for all datasets, and "
                                         "`counts` of at most 40 bins; null where p50_seconds is"),
};

constexpr Column kModuleColumns[] = {
    ColumnOf<&ModuleRow::module>(Kind::kText, 0,
                                 "name of the tasks; of requests the server; `(other)` beyond 4,096 names"),
    ColumnOf<&ModuleRow::operation>(Kind::kText, 1, "of requests; null for tasks"),
    ColumnOf<&ModuleRow::calls>(Kind::kCount, 0, "that ended"),
    ColumnOf<&ModuleRow::failed>(Kind::kCount, 3, "left by an exception, or recorded as failed"),
    ColumnOf<&ModuleRow::own_seconds>(
        "own time", Kind::kDuration, 0,
        "time of threads in its tasks, without the tasks inside; of requests from begin to end"),
    ColumnOf<&ModuleRow::share>(Kind::kShare, 0, "own_seconds / that of all tasks; null for requests"),
    ColumnOf<&ModuleRow::cpu_seconds>("CPU", Kind::kDuration, 0, "CPU time in own_seconds"),
    ColumnOf<&ModuleRow::cpu_wait_seconds>("CPU wait", Kind::kDuration, 2,
                                           "time in own_seconds that was ready to run and had no CPU. It is looked at "
                                           "where a thread did not run for more than 20 µs"),
    ColumnOf<&ModuleRow::blocked_seconds>("blocked", Kind::kDuration, 2,
                                          "own_seconds - cpu_seconds - cpu_wait_seconds"),
    ColumnOf<&ModuleRow::max_seconds>("longest", Kind::kDuration, 2, "the longest own time of one call"),
    ColumnOf<&ModuleRow::queued_calls>("marked ready", Kind::kCount, 4,
                                       "calls that were marked as ready before they began"),
    ColumnOf<&ModuleRow::queue_seconds>("queue", Kind::kDuration, 0,
                                        "from there to their begin; null where no call was marked"),
    ColumnOf<&ModuleRow::queue_max_seconds>("longest queue", Kind::kDuration, 3, "the longest of these times"),
    ColumnOf<&ModuleRow::behind_seconds>(
        "behind itself", Kind::kDuration, 2,
        "the part of queue_seconds in which another call of the module ran; null where at_once is not 1"),
    ColumnOf<&ModuleRow::stolen_seconds>("stolen", Kind::kDuration, 1,
                                         "time in which a thread ran tasks of other events or modules inside a call"),
    ColumnOf<&ModuleRow::at_once>("at once", Kind::kCount, 0, "the most calls that ran at the same time in a process"),
    ColumnOf<&ModuleRow::union_seconds>("running", Kind::kDuration, 2,
                                        "time in which a call ran, summed over processes; null where at_once is not 1"),
    ColumnOf<&ModuleRow::ceiling>("at most", Kind::kRate, 0,
                                  "calls / union_seconds where at_once is 1: calls a second that more cores do not "
                                  "raise; of several processes the sum"),
    ColumnOf<&ModuleRow::critical_run_seconds>("critical: at work", Kind::kDuration, 3,
                                               "time on the critical paths of events"),
    ColumnOf<&ModuleRow::critical_queue_seconds>("critical: queued", Kind::kDuration, 3, "time ready on these paths"),
    ColumnOf<&ModuleRow::latency_share>("of latency", Kind::kShare, 0, "both / the latency of all events"),
};

constexpr Column kTaskThreadColumns[] = {
    ColumnOf<&TaskThreadRow::worker>(Kind::kText, 1, "the process"),
    ColumnOf<&TaskThreadRow::tid>("thread", Kind::kExactCount, 0,
                                  "number of the thread; null: all threads that have ended")
        .In(""),
    ColumnOf<&TaskThreadRow::threads>(Kind::kCount, 3, "1, or the number of threads that have ended"),
    ColumnOf<&TaskThreadRow::tasks>(Kind::kCount, 0, "that ended on it"),
    ColumnOf<&TaskThreadRow::task_seconds>(
        "in tasks", Kind::kDuration, 0,
        "time in tasks; the sum over threads is that of own_seconds in `modules`, of tasks that ended"),
    ColumnOf<&TaskThreadRow::task_cpu_seconds>("CPU", Kind::kDuration, 0, "CPU time of it"),
    ColumnOf<&TaskThreadRow::task_cpu_wait_seconds>("CPU wait", Kind::kDuration, 1, "ready to run, without a CPU"),
    ColumnOf<&TaskThreadRow::between_seconds>("between", Kind::kDuration, 0, "between tasks: the scheduler, and idle"),
    ColumnOf<&TaskThreadRow::between_cpu_seconds>("CPU between", Kind::kDuration, 0, "CPU time of it: the scheduler"),
};

constexpr Column kWaitSumColumns[] = {
    ColumnOf<&WaitSumRow::dataset>(Kind::kText, 2, "of the chunk; null where it has none"),
    ColumnOf<&WaitSumRow::section>(Kind::kText, 0, "path of the section that was open; empty outside every section"),
    ColumnOf<&WaitSumRow::kind>("waiting for", Kind::kText, 0,
                                "lock or condition, lock, condition or queue, interpreter lock, read, write, sync, "
                                "network, poll, sleep, child process, page fault, device, other, not known"),
    ColumnOf<&WaitSumRow::object>(
        Kind::kPath, 0,
        "the file, pipe, server, holder of a lock, function of a device or system call; null where it is not known"),
    ColumnOf<&WaitSumRow::function>("in function", Kind::kText, 0,
                                    "the innermost one outside the system's libraries; null where it is not known, and "
                                    "without `crema run --waits`"),
    ColumnOf<&WaitSumRow::seconds>("time", Kind::kDuration, 0, "the part of the blocked time that the samples give it"),
    ColumnOf<&WaitSumRow::share>(Kind::kShare, 0, "of the blocked time of its dataset"),
    ColumnOf<&WaitSumRow::low>(
        "at least", Kind::kShare, 1,
        "lower end of the 95 % range of `share`: of the number of samples, and of how far the share of samples that "
        "were blocked is from the blocked time; null where nothing was seen"),
    ColumnOf<&WaitSumRow::high>("at most", Kind::kShare, 1, "its upper end"),
    ColumnOf<&WaitSumRow::samples>(Kind::kCount, 1, "how often a thread was seen so"),
    ColumnOf<&WaitSumRow::coarse>(
        Kind::kFlag, 3,
        "threads also waited for CPUs for more than a fifth of the time: short waits may be off by 20 points then"),
};

constexpr Column kGpuKernelColumns[] = {
    ColumnOf<&GpuKernelRow::section>(Kind::kText, 0,
                                     "path of the section that launched it; empty outside every section"),
    ColumnOf<&GpuKernelRow::dataset>(Kind::kText, 2, "of the chunk; null where it has none, and outside chunks"),
    ColumnOf<&GpuKernelRow::kernel>(Kind::kFunction, 0, "its name, as the source has it"),
    ColumnOf<&GpuKernelRow::launches>(Kind::kCount, 1, "how often it ran"),
    ColumnOf<&GpuKernelRow::seconds>("time", Kind::kDuration, 0, "on the devices, added up"),
    ColumnOf<&GpuKernelRow::max_seconds>("longest", Kind::kDuration, 1, "the longest"),
};

constexpr Column kFunctionColumns[] = {
    ColumnOf<&FunctionRow::section>(Kind::kText, 0, "path of the section that was open; empty outside every section"),
    ColumnOf<&FunctionRow::dataset>(Kind::kText, 2, "of the chunk; null where it has none"),
    ColumnOf<&FunctionRow::function>(Kind::kFunction, 0,
                                     "the innermost function of the stack, as its language names it; of native code "
                                     "without a symbol `file+0xaddress`"),
    ColumnOf<&FunctionRow::file>(Kind::kPath, 4,
                                 "the source that defines it; of native code without debug information the program or "
                                 "library that has it; null where that is not known"),
    ColumnOf<&FunctionRow::line>(Kind::kExactCount, 4, "the line of its definition; null where that is not known")
        .In(""),
    ColumnOf<&FunctionRow::samples>(
        Kind::kCount, 3,
        "how often it was seen on a CPU, weighed by the CPU time since the thread was looked at before"),
    ColumnOf<&FunctionRow::share>(Kind::kShare, 0,
                                  "of the samples of this section and dataset; null where some of them found no room"),
    ColumnOf<&FunctionRow::share_error>(
        "error", Kind::kShare, 1,
        "the true share is within share +- share_error in 95 of 100 runs; by the number of sightings"),
};

constexpr Column kFineColumns[] = {
    ColumnOf<&FineRow::context>(
        Kind::kText, 0,
        "the engine's: execute, get-data, gather-dep and others; `native`: recorded by the SDK's activities"),
    ColumnOf<&FineRow::span>(Kind::kText, 3, "the engine's span (its id), or the chunk's; null: none"),
    ColumnOf<&FineRow::worker>(Kind::kText, 2, "the engine's name for it, else `<host>:<pid>`"),
    ColumnOf<&FineRow::function>(Kind::kText, 1, "prefix of the task; null where there is none"),
    ColumnOf<&FineRow::activity>(Kind::kText, 0, "as recorded"),
    ColumnOf<&FineRow::unit>(Kind::kText, 0, "as recorded"),
    ColumnOf<&FineRow::value>(Kind::kNumber, 0, "sum over ended attempts, or over tasks").In("its unit"),
};

}  // namespace

absl::Span<const Column> SectionRow::Columns() { return kSectionColumns; }
absl::Span<const Column> MemorySectionRow::Columns() { return kMemorySectionColumns; }
absl::Span<const Column> CustomMetricFigures::Columns() { return kFigureColumns<CustomMetricFigures>; }
absl::Span<const Column> CustomMetricRow::Columns() {
  static constexpr auto kColumns = Joined<Column>(kMetricNames, kFigureColumns<CustomMetricRow>, kMetricDetails);
  return kColumns;
}
absl::Span<const Column> CutRow::Columns() { return kCutColumns; }
bool CutRow::AreList(const std::vector<CutRow>& cuts) {
  return std::none_of(cuts.begin(), cuts.end(), [](const CutRow& cut) { return cut.path.has_value(); });
}
size_t CutRow::Depth() const { return static_cast<size_t>(std::count(path.str().begin(), path.str().end(), '/')); }
std::string CutRow::Shown() const {
  return flow.has_value() && Depth() == 0 ? flow.str() + ": " + name.str() : name.str();
}
std::string CutRow::Label() const {
  const std::string in_flow = path.has_value() ? path.str() : name.str();
  return flow.has_value() ? flow.str() + ": " + in_flow : in_flow;
}
absl::Span<const Column> AttributeRow::Columns() { return kAttributeColumns; }
absl::Span<const Column> RequestSumRow::Columns() { return kRequestSumColumns; }
absl::Span<const Column> EventLatencyRow::Columns() { return kEventLatencyColumns; }
absl::Span<const Column> ModuleRow::Columns() { return kModuleColumns; }
absl::Span<const Column> TaskThreadRow::Columns() { return kTaskThreadColumns; }
absl::Span<const Column> WaitSumRow::Columns() { return kWaitSumColumns; }
absl::Span<const Column> FunctionRow::Columns() { return kFunctionColumns; }
absl::Span<const Column> GpuKernelRow::Columns() { return kGpuKernelColumns; }
absl::Span<const Column> FineRow::Columns() { return kFineColumns; }

void WriteValue(const std::optional<ValueHistogram>& member, Json* value) {
  if (member.has_value()) *value = {{"edges", member->edges}, {"counts", member->counts}};
}

void ReadValue(const Json& value, std::optional<ValueHistogram>* member) {
  member->reset();
  if (!value.is_object()) return;
  ValueHistogram& histogram = member->emplace();
  const auto numbers = [&value](const char* key, const auto& add) {
    const auto found = value.find(key);
    for (size_t i = 0; found != value.end() && i < internal::SizeOf(*found); ++i) {
      if ((*found)[i].is_number()) add((*found)[i]);
    }
  };
  numbers("edges", [&](const Json& edge) { histogram.edges.push_back(edge.get<double>()); });
  numbers("counts", [&](const Json& count) {
    if (count.is_number_unsigned()) histogram.counts.push_back(count.get<uint64_t>());
  });
  if (histogram.counts.empty() || histogram.edges.size() != histogram.counts.size() + 1) member->reset();
}

void WriteValue(const FiguresByDataset& member, Json* value) {
  *value = Json::object();
  for (const auto& [dataset, figures] : member) WriteRow(CustomMetricFigures::Columns(), &figures, &(*value)[dataset]);
}

void ReadValue(const Json& value, FiguresByDataset* member) {
  member->clear();
  if (!value.is_object()) return;
  for (const auto& [dataset, figures] : value.items()) {
    ReadRow(CustomMetricFigures::Columns(), figures, &member->emplace_back(dataset, CustomMetricFigures()).second);
  }
}

}  // namespace crema
