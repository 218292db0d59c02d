// The fields of each type of record line, in the order of the format (docs/record_log.md, "Types").
#pragma once

#include "collector/records/facts.h"
#include "collector/records/json_fields.h"

namespace crema::json {

/// Reads a list of lists of at least so many items; `read(row, at, item)` says whether one is as it should be.
template <size_t kLeast, class Row, class Read>
Complaint ReadRows(ondemand::value& value, Complaint bad_row, std::vector<Row>* rows, const Read& read) {
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  rows->clear();
  for (auto element : array) {
    ondemand::array items;
    if (element.get_array().get(items)) return bad_row;
    Row& row = rows->emplace_back();
    size_t at = 0;
    for (auto field : items) {
      ondemand::value item;
      if (field.get(item) || !read(row, at, item)) return bad_row;
      ++at;
    }
    if (at < kLeast) return bad_row;
  }
  return nullptr;
}

/// `[name, file, line]`; file and line may be null.
inline Complaint ReadFunctions(ondemand::value& value, StacksFact& out) {
  const auto read = [](FunctionFact& function, size_t at, ondemand::value& item) {
    if (at == 0) return !ReadValue(item, function.name);
    if (at > 2 || IsNull(item)) return true;
    return at == 1 ? !ReadValue(item, function.file) : !ReadValue(item, function.line) && *function.line >= 0;
  };
  return ReadRows<3>(value, "holds something that is not a list of a name, a file and a line", &out.functions, read);
}

/// `[samples, squares, function, …]`.
inline Complaint ReadStacks(ondemand::value& value, StacksFact& out) {
  const auto read = [](StackFact& stack, size_t at, ondemand::value& item) {
    int64_t& number = at == 0 ? stack.samples : at == 1 ? stack.squares : stack.functions.emplace_back();
    return !ReadValue(item, number) && number >= 0;
  };
  return ReadRows<3>(value, "holds something that is not a list of samples, squares and functions", &out.stacks, read);
}

/// `[name, path, build id]`; the last may be null.
inline Complaint ReadModules(ondemand::value& value, StacksFact& out) {
  const auto read = [](ModuleFact& module, size_t at, ondemand::value& item) {
    if (at > 2 || (at == 2 && IsNull(item))) return true;
    return !ReadValue(item, at == 0 ? module.name : at == 1 ? module.path : module.build_id);
  };
  return ReadRows<3>(value, "holds something that is not a list of a name, a path and a build id", &out.modules, read);
}

inline constexpr auto kStacksFields = Joined<Field<StacksFact>>(
    Skip<StacksFact>("type"), Required(Counts<&StacksFact::time_ns>()), Fields<&StacksFact::dataset>(),
    Required(Fields<&StacksFact::section>()), Required(Counts<&StacksFact::hertz>()), SlowPath("modules", &ReadModules),
    Required(std::array{SlowPath("functions", &ReadFunctions), SlowPath("stacks", &ReadStacks)}),
    Fields<&StacksFact::refused>());

inline constexpr auto kGpuRowFields = Joined<Field<GpuRowFact>>(
    Counts<&GpuRowFact::chunk>(), Fields<&GpuRowFact::dataset>(), Required(Fields<&GpuRowFact::section>()),
    Required(CountsIn<&GpuRowFact::work, &GpuWork::launches, &GpuWork::kernel_ns, &GpuWork::copies, &GpuWork::copy_ns,
                      &GpuWork::to_device_bytes, &GpuWork::from_device_bytes, &GpuWork::on_device_bytes,
                      &GpuWork::wait_ns>()),
    CountsIn<&GpuRowFact::work, &GpuWork::wait_cpu_ns>());

inline constexpr auto kGpuKernelFields = Joined<Field<GpuKernelFact>>(
    Required(Fields<&GpuKernelFact::name>()), Fields<&GpuKernelFact::dataset>(),
    Required(Fields<&GpuKernelFact::section>()),
    Required(Counts<&GpuKernelFact::count, &GpuKernelFact::total_ns, &GpuKernelFact::max_ns>()));

inline constexpr auto kGpuFields = Joined<Field<GpuFact>>(
    Skip<GpuFact>("type"), Required(Counts<&GpuFact::time_ns>()), Fields<&GpuFact::reason>(),
    Counts<&GpuFact::until_ns>(), Skip<GpuFact>("cupti_version"), Counts<&GpuFact::busy_ns, &GpuFact::lost>(),
    Objects<&GpuFact::rows, kGpuRowFields>("work"), Objects<&GpuFact::kernels, kGpuKernelFields>("kernels"),
    Any<&GpuFact::is_last>("last", kRequired));

inline constexpr auto kAllocationSiteFields = Joined<Field<AllocationSiteFact>>(
    Required(Fields<&AllocationSiteFact::path, &AllocationSiteFact::of>()),
    Required(CountsIn<&AllocationSiteFact::sums, &AllocationSums::allocations, &AllocationSums::allocated_bytes>()),
    CountsIn<&AllocationSiteFact::sums, &AllocationSums::live_bytes, &AllocationSums::peak_live_bytes>(),
    FieldsIn<&AllocationSiteFact::sums, &AllocationSums::live_growth_bytes>());

inline constexpr auto kAllocationsFields = Joined<Field<AllocationsFact>>(
    Skip<AllocationsFact>("type"), Required(Counts<&AllocationsFact::time_ns>()),
    Any<&AllocationsFact::is_last>("last", kRequired), Fields<&AllocationsFact::reason>(),
    Counts<&AllocationsFact::allocations, &AllocationsFact::allocated_bytes, &AllocationsFact::live_bytes,
           &AllocationsFact::peak_live_bytes, &AllocationsFact::cost_ns>(),
    Objects<&AllocationsFact::sites, kAllocationSiteFields>("sites"));

inline constexpr auto kSectionFields = Joined<Field<SectionFact>>(
    Required(Fields<&SectionFact::path>()), Fields<&SectionFact::helper>(),
    Required(Counts<&SectionFact::count, &SectionFact::total_ns, &SectionFact::self_ns>()),
    Counts<&SectionFact::min_ns, &SectionFact::max_ns, &SectionFact::cpu_ns, &SectionFact::failed>());

inline constexpr auto kMemorySectionFields = Joined<Field<MemorySectionFact>>(
    Required(Fields<&MemorySectionFact::path>()), Required(Counts<&MemorySectionFact::count>()),
    Required(Fields<&MemorySectionFact::delta_bytes>()),
    Fields<&MemorySectionFact::min_bytes, &MemorySectionFact::max_bytes>(),
    Counts<&MemorySectionFact::rss_start_bytes, &MemorySectionFact::rss_stop_bytes, &MemorySectionFact::peak_bytes>());

inline constexpr auto kMetricFields = Joined<Field<MetricFact>>(
    Required(Fields<&MetricFact::name>()), Fields<&MetricFact::unit>(), Required(Counts<&MetricFact::count>()),
    Fields<&MetricFact::sum, &MetricFact::min, &MetricFact::max>(), Counts<&MetricFact::invalid>(),
    Values<&MetricFact::sketch>("sketch"), Counts<&MetricFact::sketch_shift>());

inline constexpr auto kCutFields = Joined<Field<CutFact>>(
    Required(Fields<&CutFact::name>()), Required(Counts<&CutFact::events>()), Fields<&CutFact::weights>(),
    Counts<&CutFact::seen>(), Fields<&CutFact::path, &CutFact::flow>());

inline constexpr auto kActivityFields = Joined<Field<ActivityFact>>(
    Required(Fields<&ActivityFact::label>()), Fields<&ActivityFact::unit, &ActivityFact::value>());

inline constexpr auto kRequestFields = Joined<Field<RequestFact>>(
    Required(Fields<&RequestFact::server, &RequestFact::operation>()), Required(Counts<&RequestFact::count>()),
    Counts<&RequestFact::bytes>(), Required(Counts<&RequestFact::total_ns>()),
    Counts<&RequestFact::max_ns, &RequestFact::errors>());

inline constexpr auto kWaitFields =
    Joined<Field<WaitFact>>(Required(Fields<&WaitFact::path, &WaitFact::kind>()),
                            Fields<&WaitFact::object, &WaitFact::stack>(), Required(Counts<&WaitFact::samples>()));

inline constexpr auto kAttributeFields = Joined<Field<ProcessFact>>(Counts<&ProcessFact::total_events>());

inline Complaint ReadProcessAttributes(ondemand::value& value, ProcessFact& out) {
  ondemand::object attributes;
  if (value.get_object().get(attributes)) return "is not an object";
  // Attributes are the user's: one that happens to bear a known name with another type is not a fault.
  if (ReadObject(attributes, kAttributeFields, out)) out.total_events.reset();
  return nullptr;
}

inline constexpr auto kProcessEngineFields = Joined<Field<ProcessEngineFact>>(
    Required(Fields<&ProcessEngineFact::name>()), Fields<&ProcessEngineFact::job, &ProcessEngineFact::step>(),
    Counts<&ProcessEngineFact::rank>(), Fields<&ProcessEngineFact::slot>(),
    Counts<&ProcessEngineFact::cpus, &ProcessEngineFact::memory_bytes>());

inline Complaint ReadProcessEngine(ondemand::value& value, ProcessFact& out) {
  ondemand::object engine;
  if (value.get_object().get(engine)) return "is not an object";
  return ReadObject(engine, kProcessEngineFields, out.engine) ? "is not an engine" : nullptr;
}

inline constexpr auto kProcessFields = Joined<Field<ProcessFact>>(
    Skip<ProcessFact>("type"), Skip<ProcessFact>("schema"), Skip<ProcessFact>("schema_minor"),
    Fields<&ProcessFact::run_id>(), Required(Fields<&ProcessFact::host>()), Required(Counts<&ProcessFact::pid>()),
    Counts<&ProcessFact::parent_pid, &ProcessFact::pid_namespace>(), Required(Counts<&ProcessFact::start_ns>()),
    Fields<&ProcessFact::boot_id>(), Counts<&ProcessFact::recorder, &ProcessFact::first_recorder>(),
    Fields<&ProcessFact::executable>(), Values<&ProcessFact::arguments>("arguments"),
    Counts<&ProcessFact::cores, &ProcessFact::threads, &ProcessFact::memory_limit_bytes>(), Fields<&ProcessFact::sdk>(),
    SlowPath("attributes", &ReadProcessAttributes), Counts<&ProcessFact::total_events>(),
    Fields<&ProcessFact::working_directory>(), SlowPath("engine", &ReadProcessEngine));

inline constexpr char kBeginType[] = "begin";
inline constexpr char kChunkType[] = "chunk";

inline constexpr auto kBeginFields = Joined<Field<BeginFact>>(
    Type<BeginFact, kBeginType>(), NotNegative<&BeginFact::number>("chunk", kRequired),
    Required(Counts<&BeginFact::time_ns>()), Fields<&BeginFact::thread>(), Counts<&BeginFact::tid>(),
    FieldsIn<&BeginFact::input, &ChunkInput::dataset, &ChunkInput::file, &ChunkInput::tree, &ChunkInput::entry_start,
             &ChunkInput::entry_stop, &ChunkInput::pass>(),
    Skip<BeginFact>("span"), Counts<&BeginFact::suspended, &BeginFact::inside>(),
    Any<&BeginFact::is_detached>("detached"), Counts<&BeginFact::process_cpu_ns>(),
    Notes<&BeginFact::attributes>("attributes"));

template <class Fact>
Complaint ReadStatus(ondemand::value& value, Fact& out) {
  std::string_view status;
  if (value.get_string().get(status)) return kNotAString;
  out.failed = status == "failed";
  return out.failed || status == "ok" ? nullptr : "is neither ok nor failed";
}

template <class Fact>
Remaining ParseStatus(FastJsonReader line, Fact& out) {
  out.failed = !line.Match("\"ok\"");
  return line.RemainingIf(!out.failed || line.Match("\"failed\""));
}
template <class Fact>
constexpr Field<Fact> Status(std::string_view key, bool required) {
  return {key, required, &ReadStatus<Fact>, &ParseStatus<Fact>, &ClearMember<&Fact::failed>};
}

inline constexpr auto kTracedTaskFields = Joined<Field<TracedTaskFact>>(
    Required(Fields<&TracedTaskFact::name>()), Fields<&TracedTaskFact::operation>(), Counts<&TracedTaskFact::tid>(),
    Required(Counts<&TracedTaskFact::start_ns, &TracedTaskFact::duration_ns>()),
    Counts<&TracedTaskFact::ready_ns, &TracedTaskFact::by>());

/// `[section, start_ns, duration_ns, tid]`, all of them never negative.
inline Complaint ReadTrace(ondemand::value& value, ChunkFact& out) {
  const auto read = [](TraceFact& fact, size_t at, ondemand::value& item) {
    int64_t* const members[] = {&fact.section, &fact.start_ns, &fact.duration_ns, &fact.tid};
    return at >= std::size(members) || (!ReadValue(item, *members[at]) && *members[at] >= 0);
  };
  return ReadRows<4>(value, "holds something that is not a list of four numbers", &out.trace, read);
}

inline constexpr auto kChunkFields = Joined<Field<ChunkFact>>(
    Type<ChunkFact, kChunkType>(), NotNegative<&ChunkFact::number>("chunk", kRequired),
    Required(Counts<&ChunkFact::start_ns, &ChunkFact::stop_ns>()), Status<ChunkFact>("status", kRequired),
    Counts<&ChunkFact::events, &ChunkFact::bytes_read, &ChunkFact::bytes_uncompressed, &ChunkFact::cpu_ns,
           &ChunkFact::helper_cpu_ns, &ChunkFact::cpu_wait_ns, &ChunkFact::helper_wait_ns, &ChunkFact::helper_scope_ns,
           &ChunkFact::helper_union_ns, &ChunkFact::rss_start_bytes, &ChunkFact::rss_stop_bytes,
           &ChunkFact::rss_peak_bytes, &ChunkFact::io_read_bytes, &ChunkFact::open_chunks, &ChunkFact::lanes_peak,
           &ChunkFact::system_cpu_ns, &ChunkFact::minor_faults, &ChunkFact::major_faults,
           &ChunkFact::unannounced_cpu_ns, &ChunkFact::children_cpu_ns>(),
    Fields<&ChunkFact::thread>(), Counts<&ChunkFact::tid>(),
    FieldsIn<&ChunkFact::input, &ChunkInput::dataset, &ChunkInput::file, &ChunkInput::tree, &ChunkInput::entry_start,
             &ChunkInput::entry_stop, &ChunkInput::pass>(),
    Fields<&ChunkFact::span, &ChunkFact::error>(), Values<&ChunkFact::columns>("columns"),
    Objects<&ChunkFact::sections, kSectionFields>("sections"),
    Objects<&ChunkFact::memory_sections, kMemorySectionFields>("memory_sections"),
    Objects<&ChunkFact::metrics, kMetricFields>("metrics"), Objects<&ChunkFact::cuts, kCutFields>("cuts"),
    Objects<&ChunkFact::activities, kActivityFields>("activities"),
    Objects<&ChunkFact::requests, kRequestFields>("requests"), Objects<&ChunkFact::waits, kWaitFields>("waits"),
    Counts<&ChunkFact::sections_dropped, &ChunkFact::suspended_ns>(), Any<&ChunkFact::is_detached>("detached"),
    Counts<&ChunkFact::inner_ns, &ChunkFact::allocations, &ChunkFact::allocated_bytes>(),
    Notes<&ChunkFact::attributes>("attributes"), SlowPath("trace", &ReadTrace, &ClearMember<&ChunkFact::trace>),
    Objects<&ChunkFact::tasks, kTracedTaskFields>("tasks"), Counts<&ChunkFact::trace_dropped>());

inline Complaint ReadBegun(ondemand::value& value, SumsFact& out) {
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  out.begun.clear();
  for (auto element : array) {
    if (element.get_int64().get(out.begun.emplace_back()) || out.begun.back() < 0) {
      return "holds something that is not a chunk's number";
    }
  }
  return nullptr;
}

inline constexpr auto kSumsFields = Joined<Field<SumsFact>>(
    Skip<SumsFact>("type"), Required(Counts<&SumsFact::time_ns>()), Fields<&SumsFact::reason>(),
    FieldsIn<&SumsFact::input, &ChunkInput::dataset, &ChunkInput::file, &ChunkInput::pass>(),
    Status<SumsFact>("status", kRequired), Required(Counts<&SumsFact::chunks>()), SlowPath("begun", &ReadBegun),
    Required(Counts<&SumsFact::first_start_ns, &SumsFact::last_stop_ns, &SumsFact::duration_ns>()),
    Counts<&SumsFact::min_duration_ns, &SumsFact::max_duration_ns, &SumsFact::chunks_with_events, &SumsFact::events,
           &SumsFact::bytes_read, &SumsFact::bytes_uncompressed, &SumsFact::cpu_ns, &SumsFact::helper_cpu_ns,
           &SumsFact::cpu_wait_ns, &SumsFact::helper_wait_ns, &SumsFact::helper_scope_ns, &SumsFact::helper_union_ns,
           &SumsFact::helper_joined_ns, &SumsFact::rss_peak_bytes>(),
    Skip<SumsFact>("io_read_bytes"),
    Counts<&SumsFact::lanes_peak, &SumsFact::system_cpu_ns, &SumsFact::minor_faults, &SumsFact::major_faults,
           &SumsFact::unannounced_cpu_ns, &SumsFact::children_cpu_ns>(),
    Objects<&SumsFact::sections, kSectionFields>("sections"),
    Objects<&SumsFact::memory_sections, kMemorySectionFields>("memory_sections"),
    Objects<&SumsFact::metrics, kMetricFields>("metrics"), Objects<&SumsFact::cuts, kCutFields>("cuts"),
    Objects<&SumsFact::activities, kActivityFields>("activities"),
    Objects<&SumsFact::requests, kRequestFields>("requests"), Objects<&SumsFact::waits, kWaitFields>("waits"),
    Counts<&SumsFact::sections_dropped>(), Skip<SumsFact>("suspended_ns"));

inline constexpr auto kTaskFields = Joined<Field<TaskFact>>(
    Skip<TaskFact>("type"),
    Fields<&TaskFact::key, &TaskFact::prefix, &TaskFact::group, &TaskFact::span, &TaskFact::thread>(),
    Required(Counts<&TaskFact::start_ns, &TaskFact::stop_ns>()), Fields<&TaskFact::outcome>(),
    Counts<&TaskFact::attempt>(), Fields<&TaskFact::worker, &TaskFact::engine>(),
    Counts<&TaskFact::queue_ns, &TaskFact::lane_stop_ns>());

inline constexpr auto kTaskModuleFields = Joined<Field<TaskModuleFact>>(
    Required(Fields<&TaskModuleFact::name>()), Fields<&TaskModuleFact::operation>(),
    Counts<&TaskModuleFact::count, &TaskModuleFact::own_ns, &TaskModuleFact::union_ns, &TaskModuleFact::peak,
           &TaskModuleFact::cpu_ns, &TaskModuleFact::wait_ns, &TaskModuleFact::max_ns, &TaskModuleFact::queued,
           &TaskModuleFact::queue_ns, &TaskModuleFact::queue_max_ns, &TaskModuleFact::behind_ns,
           &TaskModuleFact::stolen_ns, &TaskModuleFact::critical_run_ns, &TaskModuleFact::critical_queue_ns,
           &TaskModuleFact::failed>());

inline constexpr auto kEventSumFields = Joined<Field<EventSumFact>>(
    Fields<&EventSumFact::dataset>(),
    Counts<&EventSumFact::count, &EventSumFact::failed, &EventSumFact::not_divided, &EventSumFact::first_start_ns,
           &EventSumFact::last_stop_ns, &EventSumFact::latency_ns, &EventSumFact::min_ns, &EventSumFact::max_ns,
           &EventSumFact::active_ns, &EventSumFact::queued_ns, &EventSumFact::external_ns, &EventSumFact::rest_ns,
           &EventSumFact::critical_run_ns, &EventSumFact::critical_queue_ns, &EventSumFact::critical_external_ns,
           &EventSumFact::critical_gap_ns, &EventSumFact::tasks, &EventSumFact::work_ns>(),
    Values<&EventSumFact::sketch>("sketch"), Counts<&EventSumFact::sketch_shift>());

inline constexpr auto kTaskThreadFields = Joined<Field<TaskThreadFact>>(
    Counts<&TaskThreadFact::tid, &TaskThreadFact::threads, &TaskThreadFact::tasks, &TaskThreadFact::task_ns,
           &TaskThreadFact::task_cpu_ns, &TaskThreadFact::task_wait_ns, &TaskThreadFact::between_ns,
           &TaskThreadFact::between_cpu_ns, &TaskThreadFact::between_wait_ns>());

inline constexpr auto kTaskSumsFields = Joined<Field<TaskSumsFact>>(
    Skip<TaskSumsFact>("type"), Required(Counts<&TaskSumsFact::time_ns>()), Skip<TaskSumsFact>("peak"),
    Skip<TaskSumsFact>("open"), Objects<&TaskSumsFact::events, kEventSumFields>("latencies"),
    Objects<&TaskSumsFact::threads, kTaskThreadFields>("task_threads"),
    Objects<&TaskSumsFact::modules, kTaskModuleFields>("task_modules"));

/// `[context, span, function, activity, unit, value]`; span and function may be null.
inline Complaint ReadFineRows(ondemand::value& value, FineFact& out) {
  const auto read = [](FineRowFact& row, size_t at, ondemand::value& item) {
    std::string_view* const texts[] = {&row.context, &row.span, &row.function, &row.activity, &row.unit};
    if (at < std::size(texts)) return IsNull(item) || !ReadValue(item, *texts[at]);
    return at > std::size(texts) || !ReadValue(item, row.value);
  };
  return ReadRows<6>(value, "holds something that is not a list of five texts and a number", &out.rows, read);
}

inline constexpr auto kFineFields =
    Joined<Field<FineFact>>(Skip<FineFact>("type"), Required(Counts<&FineFact::time_ns>()), Fields<&FineFact::worker>(),
                            Skip<FineFact>("engine"), Required(std::array{SlowPath("rows", &ReadFineRows)}));

inline constexpr auto kClockFields = Joined<Field<ClockFact>>(
    Skip<ClockFact>("type"), Required(Counts<&ClockFact::time_ns>()), Skip<ClockFact>("reference"),
    Required(Fields<&ClockFact::offset_ns>()), Required(Counts<&ClockFact::uncertainty_ns>()));

inline constexpr auto kSampleFields = Joined<Field<SampleFact>>(
    Skip<SampleFact>("type"), Required(Counts<&SampleFact::time_ns>()), Fields<&SampleFact::realtime_offset_ns>(),
    Counts<&SampleFact::rss_bytes, &SampleFact::cpu_ns, &SampleFact::threads, &SampleFact::open_chunks,
           &SampleFact::read_bytes, &SampleFact::write_bytes, &SampleFact::memory_limit_bytes>(),
    Objects<&SampleFact::sections, kSectionFields>("sections"), Counts<&SampleFact::overhead_ns>(),
    CountsInList<&SampleFact::counts>(MembersOfProcessCounts()), Fields<&SampleFact::waits_reason>(),
    Objects<&SampleFact::metrics, kMetricFields>("metrics"));

inline constexpr auto kFileFields =
    Joined<Field<FileFact>>(Skip<FileFact>("type"), Required(Fields<&FileFact::file>()),
                            Counts<&FileFact::branches, &FileFact::bytes, &FileFact::compressed_bytes>());

inline constexpr auto kSpanFields =
    Joined<Field<SpanFact>>(Skip<SpanFact>("type"), Required(Fields<&SpanFact::name>()), Fields<&SpanFact::path>(),
                            Required(Counts<&SpanFact::start_ns, &SpanFact::stop_ns>()));

inline constexpr auto kEndFields = Joined<Field<EndFact>>(
    Skip<EndFact>("type"), Required(Counts<&EndFact::time_ns>()), Fields<&EndFact::realtime_offset_ns>(),
    Counts<&EndFact::chunks, &EndFact::failed, &EndFact::open, &EndFact::dropped, &EndFact::summed_chunks,
           &EndFact::misused, &EndFact::unwritten, &EndFact::outside_chunks, &EndFact::tasks_left_out,
           &EndFact::lost_samples, &EndFact::overhead_ns, &EndFact::cpu_ns>(),
    CountsInList<&EndFact::counts>(MembersOfProcessCounts()), Fields<&EndFact::waits_reason>(),
    Objects<&EndFact::sections, kSectionFields>("sections"), Objects<&EndFact::metrics, kMetricFields>("metrics"));

}  // namespace crema::json
