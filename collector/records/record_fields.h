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

inline constexpr Field<StacksFact> kStacksFields[] = {
    Skip<StacksFact>("type"),
    NotNegative<&StacksFact::time_ns>("time_ns", kRequired),
    Any<&StacksFact::dataset>("dataset"),
    Any<&StacksFact::section>("section", kRequired),
    NotNegative<&StacksFact::hertz>("hertz", kRequired),
    {"modules", false, &ReadModules, &TakeNothing<StacksFact>, &ClearNothing<StacksFact>},
    {"functions", kRequired, &ReadFunctions, &TakeNothing<StacksFact>, &ClearNothing<StacksFact>},
    {"stacks", kRequired, &ReadStacks, &TakeNothing<StacksFact>, &ClearNothing<StacksFact>},
    Any<&StacksFact::refused>("refused"),
};

inline constexpr Field<GpuRowFact> kGpuRowFields[] = {
    NotNegative<&GpuRowFact::chunk>("chunk"),
    Any<&GpuRowFact::dataset>("dataset"),
    Any<&GpuRowFact::section>("section", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::launches>("launches", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::kernel_ns>("kernel_ns", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::copies>("copies", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::copy_ns>("copy_ns", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::to_device_bytes>("to_device_bytes", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::from_device_bytes>("from_device_bytes", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::on_device_bytes>("on_device_bytes", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::wait_ns>("wait_ns", kRequired),
    NotNegative<&GpuRowFact::work, &GpuWork::wait_cpu_ns>("wait_cpu_ns"),
};

inline constexpr Field<GpuKernelFact> kGpuKernelFields[] = {
    Any<&GpuKernelFact::name>("name", kRequired),
    Any<&GpuKernelFact::dataset>("dataset"),
    Any<&GpuKernelFact::section>("section", kRequired),
    NotNegative<&GpuKernelFact::count>("count", kRequired),
    NotNegative<&GpuKernelFact::total_ns>("total_ns", kRequired),
    NotNegative<&GpuKernelFact::max_ns>("max_ns", kRequired),
};

inline constexpr Field<GpuFact> kGpuFields[] = {
    Skip<GpuFact>("type"),
    NotNegative<&GpuFact::time_ns>("time_ns", kRequired),
    Any<&GpuFact::reason>("reason"),
    NotNegative<&GpuFact::until_ns>("until_ns"),
    Skip<GpuFact>("cupti_version"),
    NotNegative<&GpuFact::busy_ns>("busy_ns"),
    NotNegative<&GpuFact::lost>("lost"),
    Objects<&GpuFact::rows, kGpuRowFields>("work"),
    Objects<&GpuFact::kernels, kGpuKernelFields>("kernels"),
    Any<&GpuFact::is_last>("last", kRequired),
};

inline constexpr Field<AllocationSiteFact> kAllocationSiteFields[] = {
    Any<&AllocationSiteFact::path>("path", kRequired),
    Any<&AllocationSiteFact::of>("of", kRequired),
    NotNegative<&AllocationSiteFact::sums, &AllocationSums::allocations>("allocations", kRequired),
    NotNegative<&AllocationSiteFact::sums, &AllocationSums::allocated_bytes>("allocated_bytes", kRequired),
    NotNegative<&AllocationSiteFact::sums, &AllocationSums::live_bytes>("live_bytes"),
    NotNegative<&AllocationSiteFact::sums, &AllocationSums::peak_live_bytes>("peak_live_bytes"),
    Any<&AllocationSiteFact::sums, &AllocationSums::live_growth_bytes>("live_growth_bytes"),
};

inline constexpr Field<AllocationsFact> kAllocationsFields[] = {
    Skip<AllocationsFact>("type"),
    NotNegative<&AllocationsFact::time_ns>("time_ns", kRequired),
    Any<&AllocationsFact::is_last>("last", kRequired),
    Any<&AllocationsFact::reason>("reason"),
    NotNegative<&AllocationsFact::allocations>("allocations"),
    NotNegative<&AllocationsFact::allocated_bytes>("allocated_bytes"),
    NotNegative<&AllocationsFact::live_bytes>("live_bytes"),
    NotNegative<&AllocationsFact::peak_live_bytes>("peak_live_bytes"),
    NotNegative<&AllocationsFact::cost_ns>("cost_ns"),
    Objects<&AllocationsFact::sites, kAllocationSiteFields>("sites"),
};

inline constexpr Field<SectionFact> kSectionFields[] = {
    Any<&SectionFact::path>("path", kRequired),
    Any<&SectionFact::helper>("helper"),
    NotNegative<&SectionFact::count>("count", kRequired),
    NotNegative<&SectionFact::total_ns>("total_ns", kRequired),
    NotNegative<&SectionFact::self_ns>("self_ns", kRequired),
    NotNegative<&SectionFact::min_ns>("min_ns"),
    NotNegative<&SectionFact::max_ns>("max_ns"),
    NotNegative<&SectionFact::cpu_ns>("cpu_ns"),
    NotNegative<&SectionFact::failed>("failed"),
};

inline constexpr Field<MemorySectionFact> kMemorySectionFields[] = {
    Any<&MemorySectionFact::path>("path", kRequired),
    NotNegative<&MemorySectionFact::count>("count", kRequired),
    Any<&MemorySectionFact::delta_bytes>("delta_bytes", kRequired),
    Any<&MemorySectionFact::min_bytes>("min_bytes"),
    Any<&MemorySectionFact::max_bytes>("max_bytes"),
    NotNegative<&MemorySectionFact::rss_start_bytes>("rss_start_bytes"),
    NotNegative<&MemorySectionFact::rss_stop_bytes>("rss_stop_bytes"),
    NotNegative<&MemorySectionFact::peak_bytes>("peak_bytes"),
};

inline constexpr Field<MetricFact> kMetricFields[] = {
    Any<&MetricFact::name>("name", kRequired),
    Any<&MetricFact::unit>("unit"),
    NotNegative<&MetricFact::count>("count", kRequired),
    Any<&MetricFact::sum>("sum"),
    Any<&MetricFact::min>("min"),
    Any<&MetricFact::max>("max"),
    NotNegative<&MetricFact::invalid>("invalid"),
    Values<&MetricFact::sketch>("sketch"),
    NotNegative<&MetricFact::sketch_shift>("sketch_shift"),
};

inline constexpr Field<CutFact> kCutFields[] = {
    Any<&CutFact::name>("name", kRequired),
    NotNegative<&CutFact::events>("events", kRequired),
    Any<&CutFact::weights>("weights"),
    NotNegative<&CutFact::seen>("seen"),
    Any<&CutFact::path>("path"),
    Any<&CutFact::flow>("flow"),
};

inline constexpr Field<ActivityFact> kActivityFields[] = {
    Any<&ActivityFact::label>("label", kRequired),
    Any<&ActivityFact::unit>("unit"),
    Any<&ActivityFact::value>("value"),
};

inline constexpr Field<RequestFact> kRequestFields[] = {
    Any<&RequestFact::server>("server", kRequired),
    Any<&RequestFact::operation>("operation", kRequired),
    NotNegative<&RequestFact::count>("count", kRequired),
    NotNegative<&RequestFact::bytes>("bytes"),
    NotNegative<&RequestFact::total_ns>("total_ns", kRequired),
    NotNegative<&RequestFact::max_ns>("max_ns"),
    NotNegative<&RequestFact::errors>("errors"),
};

inline constexpr Field<WaitFact> kWaitFields[] = {
    Any<&WaitFact::path>("path", kRequired),
    Any<&WaitFact::kind>("kind", kRequired),
    Any<&WaitFact::object>("object"),
    Any<&WaitFact::stack>("stack"),
    NotNegative<&WaitFact::samples>("samples", kRequired),
};

inline constexpr Field<ProcessFact> kAttributeFields[] = {
    NotNegative<&ProcessFact::total_events>("total_events"),
};

inline Complaint ReadProcessAttributes(ondemand::value& value, ProcessFact& out) {
  ondemand::object attributes;
  if (value.get_object().get(attributes)) return "is not an object";
  // Attributes are the user's: one that happens to bear a known name with another type is no fault.
  if (ReadObject(attributes, kAttributeFields, out)) out.total_events.reset();
  return nullptr;
}

inline constexpr Field<ProcessEngineFact> kProcessEngineFields[] = {
    Any<&ProcessEngineFact::name>("name", kRequired),
    Any<&ProcessEngineFact::job>("job"),
    Any<&ProcessEngineFact::step>("step"),
    NotNegative<&ProcessEngineFact::rank>("rank"),
    Any<&ProcessEngineFact::slot>("slot"),
    NotNegative<&ProcessEngineFact::cpus>("cpus"),
    NotNegative<&ProcessEngineFact::memory_bytes>("memory_bytes"),
};

inline Complaint ReadProcessEngine(ondemand::value& value, ProcessFact& out) {
  ondemand::object engine;
  if (value.get_object().get(engine)) return "is not an object";
  return ReadObject(engine, kProcessEngineFields, out.engine) ? "is not an engine" : nullptr;
}

inline constexpr Field<ProcessFact> kProcessFields[] = {
    Skip<ProcessFact>("type"),
    Skip<ProcessFact>("schema"),
    Skip<ProcessFact>("schema_minor"),
    Any<&ProcessFact::run_id>("run_id"),
    Any<&ProcessFact::host>("host", kRequired),
    NotNegative<&ProcessFact::pid>("pid", kRequired),
    NotNegative<&ProcessFact::parent_pid>("parent_pid"),
    NotNegative<&ProcessFact::pid_namespace>("pid_namespace"),
    NotNegative<&ProcessFact::start_ns>("start_ns", kRequired),
    Any<&ProcessFact::boot_id>("boot_id"),
    NotNegative<&ProcessFact::recorder>("recorder"),
    NotNegative<&ProcessFact::first_recorder>("first_recorder"),
    Any<&ProcessFact::executable>("executable"),
    Values<&ProcessFact::arguments>("arguments"),
    NotNegative<&ProcessFact::cores>("cores"),
    NotNegative<&ProcessFact::threads>("threads"),
    NotNegative<&ProcessFact::memory_limit_bytes>("memory_limit_bytes"),
    Any<&ProcessFact::sdk>("sdk"),
    Rare("attributes", &ReadProcessAttributes),
    NotNegative<&ProcessFact::total_events>("total_events"),
    Any<&ProcessFact::working_directory>("working_directory"),
    Rare("engine", &ReadProcessEngine),
};

inline constexpr char kBeginType[] = "begin";
inline constexpr char kChunkType[] = "chunk";

inline constexpr Field<BeginFact> kBeginFields[] = {
    Type<BeginFact, kBeginType>(),
    NotNegative<&BeginFact::number>("chunk", kRequired),
    NotNegative<&BeginFact::time_ns>("time_ns", kRequired),
    Any<&BeginFact::thread>("thread"),
    NotNegative<&BeginFact::tid>("tid"),
    Any<&BeginFact::input, &ChunkInput::dataset>("dataset"),
    Any<&BeginFact::input, &ChunkInput::file>("file"),
    Any<&BeginFact::input, &ChunkInput::tree>("tree"),
    Any<&BeginFact::input, &ChunkInput::entry_start>("entry_start"),
    Any<&BeginFact::input, &ChunkInput::entry_stop>("entry_stop"),
    Any<&BeginFact::input, &ChunkInput::pass>("pass"),
    Skip<BeginFact>("span"),
    NotNegative<&BeginFact::suspended>("suspended"),
    NotNegative<&BeginFact::inside>("inside"),
    Any<&BeginFact::is_detached>("detached"),
    NotNegative<&BeginFact::process_cpu_ns>("process_cpu_ns"),
    Skip<BeginFact>("attributes"),
};

template <class Fact>
Complaint ReadStatus(ondemand::value& value, Fact& out) {
  std::string_view status;
  if (value.get_string().get(status)) return kNotAString;
  out.failed = status == "failed";
  return out.failed || status == "ok" ? nullptr : "is neither ok nor failed";
}

template <class Fact>
Rest TakeStatus(PlainCursor line, Fact& out) {
  out.failed = !line.Take("\"ok\"");
  return line.RestIf(!out.failed || line.Take("\"failed\""));
}
template <class Fact>
constexpr Field<Fact> Status(std::string_view key, bool required) {
  return {key, required, &ReadStatus<Fact>, &TakeStatus<Fact>, &ClearMember<&Fact::failed>};
}

inline constexpr Field<TracedTaskFact> kTracedTaskFields[] = {
    Any<&TracedTaskFact::name>("name", kRequired),
    Any<&TracedTaskFact::operation>("operation"),
    NotNegative<&TracedTaskFact::tid>("tid"),
    NotNegative<&TracedTaskFact::start_ns>("start_ns", kRequired),
    NotNegative<&TracedTaskFact::duration_ns>("duration_ns", kRequired),
    NotNegative<&TracedTaskFact::ready_ns>("ready_ns"),
    NotNegative<&TracedTaskFact::by>("by"),
};

/// `[section, start_ns, duration_ns, tid]`, all of them never negative.
inline Complaint ReadTrace(ondemand::value& value, ChunkFact& out) {
  const auto read = [](TraceFact& fact, size_t at, ondemand::value& item) {
    int64_t* const members[] = {&fact.section, &fact.start_ns, &fact.duration_ns, &fact.tid};
    return at >= std::size(members) || (!ReadValue(item, *members[at]) && *members[at] >= 0);
  };
  return ReadRows<4>(value, "holds something that is not a list of four numbers", &out.trace, read);
}

inline constexpr Field<ChunkFact> kChunkFields[] = {
    Type<ChunkFact, kChunkType>(),
    NotNegative<&ChunkFact::number>("chunk", kRequired),
    NotNegative<&ChunkFact::start_ns>("start_ns", kRequired),
    NotNegative<&ChunkFact::stop_ns>("stop_ns", kRequired),
    Status<ChunkFact>("status", kRequired),
    NotNegative<&ChunkFact::events>("events"),
    NotNegative<&ChunkFact::bytes_read>("bytes_read"),
    NotNegative<&ChunkFact::bytes_uncompressed>("bytes_uncompressed"),
    NotNegative<&ChunkFact::cpu_ns>("cpu_ns"),
    NotNegative<&ChunkFact::helper_cpu_ns>("helper_cpu_ns"),
    NotNegative<&ChunkFact::cpu_wait_ns>("cpu_wait_ns"),
    NotNegative<&ChunkFact::helper_wait_ns>("helper_wait_ns"),
    NotNegative<&ChunkFact::helper_scope_ns>("helper_scope_ns"),
    NotNegative<&ChunkFact::helper_union_ns>("helper_union_ns"),
    NotNegative<&ChunkFact::rss_start_bytes>("rss_start_bytes"),
    NotNegative<&ChunkFact::rss_stop_bytes>("rss_stop_bytes"),
    NotNegative<&ChunkFact::rss_peak_bytes>("rss_peak_bytes"),
    NotNegative<&ChunkFact::io_read_bytes>("io_read_bytes"),
    NotNegative<&ChunkFact::open_chunks>("open_chunks"),
    NotNegative<&ChunkFact::lanes_peak>("lanes_peak"),
    NotNegative<&ChunkFact::system_cpu_ns>("system_cpu_ns"),
    NotNegative<&ChunkFact::minor_faults>("minor_faults"),
    NotNegative<&ChunkFact::major_faults>("major_faults"),
    NotNegative<&ChunkFact::unannounced_cpu_ns>("unannounced_cpu_ns"),
    NotNegative<&ChunkFact::children_cpu_ns>("children_cpu_ns"),
    Any<&ChunkFact::thread>("thread"),
    NotNegative<&ChunkFact::tid>("tid"),
    Any<&ChunkFact::input, &ChunkInput::dataset>("dataset"),
    Any<&ChunkFact::input, &ChunkInput::file>("file"),
    Any<&ChunkFact::input, &ChunkInput::tree>("tree"),
    Any<&ChunkFact::input, &ChunkInput::entry_start>("entry_start"),
    Any<&ChunkFact::input, &ChunkInput::entry_stop>("entry_stop"),
    Any<&ChunkFact::input, &ChunkInput::pass>("pass"),
    Any<&ChunkFact::span>("span"),
    Any<&ChunkFact::error>("error"),
    Values<&ChunkFact::columns>("columns"),
    Objects<&ChunkFact::sections, kSectionFields>("sections"),
    Objects<&ChunkFact::memory_sections, kMemorySectionFields>("memory_sections"),
    Objects<&ChunkFact::metrics, kMetricFields>("metrics"),
    Objects<&ChunkFact::cuts, kCutFields>("cuts"),
    Objects<&ChunkFact::activities, kActivityFields>("activities"),
    Objects<&ChunkFact::requests, kRequestFields>("requests"),
    Objects<&ChunkFact::waits, kWaitFields>("waits"),
    NotNegative<&ChunkFact::sections_dropped>("sections_dropped"),
    NotNegative<&ChunkFact::suspended_ns>("suspended_ns"),
    Any<&ChunkFact::is_detached>("detached"),
    NotNegative<&ChunkFact::inner_ns>("inner_ns"),
    NotNegative<&ChunkFact::allocations>("allocations"),
    NotNegative<&ChunkFact::allocated_bytes>("allocated_bytes"),
    Notes<&ChunkFact::attributes>("attributes"),
    Rare("trace", &ReadTrace, &ClearMember<&ChunkFact::trace>),
    Objects<&ChunkFact::tasks, kTracedTaskFields>("tasks"),
    NotNegative<&ChunkFact::trace_dropped>("trace_dropped"),
};

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

inline constexpr Field<SumsFact> kSumsFields[] = {
    Skip<SumsFact>("type"),
    NotNegative<&SumsFact::time_ns>("time_ns", kRequired),
    Any<&SumsFact::reason>("reason"),
    Any<&SumsFact::input, &ChunkInput::dataset>("dataset"),
    Any<&SumsFact::input, &ChunkInput::file>("file"),
    Any<&SumsFact::input, &ChunkInput::pass>("pass"),
    Status<SumsFact>("status", kRequired),
    NotNegative<&SumsFact::chunks>("chunks", kRequired),
    Rare("begun", &ReadBegun),
    NotNegative<&SumsFact::first_start_ns>("first_start_ns", kRequired),
    NotNegative<&SumsFact::last_stop_ns>("last_stop_ns", kRequired),
    NotNegative<&SumsFact::duration_ns>("duration_ns", kRequired),
    NotNegative<&SumsFact::min_duration_ns>("min_duration_ns"),
    NotNegative<&SumsFact::max_duration_ns>("max_duration_ns"),
    NotNegative<&SumsFact::chunks_with_events>("chunks_with_events"),
    NotNegative<&SumsFact::events>("events"),
    NotNegative<&SumsFact::bytes_read>("bytes_read"),
    NotNegative<&SumsFact::bytes_uncompressed>("bytes_uncompressed"),
    NotNegative<&SumsFact::cpu_ns>("cpu_ns"),
    NotNegative<&SumsFact::helper_cpu_ns>("helper_cpu_ns"),
    NotNegative<&SumsFact::cpu_wait_ns>("cpu_wait_ns"),
    NotNegative<&SumsFact::helper_wait_ns>("helper_wait_ns"),
    NotNegative<&SumsFact::helper_scope_ns>("helper_scope_ns"),
    NotNegative<&SumsFact::helper_union_ns>("helper_union_ns"),
    NotNegative<&SumsFact::helper_joined_ns>("helper_joined_ns"),
    NotNegative<&SumsFact::rss_peak_bytes>("rss_peak_bytes"),
    Skip<SumsFact>("io_read_bytes"),
    NotNegative<&SumsFact::lanes_peak>("lanes_peak"),
    NotNegative<&SumsFact::system_cpu_ns>("system_cpu_ns"),
    NotNegative<&SumsFact::minor_faults>("minor_faults"),
    NotNegative<&SumsFact::major_faults>("major_faults"),
    NotNegative<&SumsFact::unannounced_cpu_ns>("unannounced_cpu_ns"),
    NotNegative<&SumsFact::children_cpu_ns>("children_cpu_ns"),
    Objects<&SumsFact::sections, kSectionFields>("sections"),
    Objects<&SumsFact::memory_sections, kMemorySectionFields>("memory_sections"),
    Objects<&SumsFact::metrics, kMetricFields>("metrics"),
    Objects<&SumsFact::cuts, kCutFields>("cuts"),
    Objects<&SumsFact::activities, kActivityFields>("activities"),
    Objects<&SumsFact::requests, kRequestFields>("requests"),
    Objects<&SumsFact::waits, kWaitFields>("waits"),
    NotNegative<&SumsFact::sections_dropped>("sections_dropped"),
    Skip<SumsFact>("suspended_ns"),
};

inline constexpr Field<TaskFact> kTaskFields[] = {
    Skip<TaskFact>("type"),
    Any<&TaskFact::key>("key"),
    Any<&TaskFact::prefix>("prefix"),
    Any<&TaskFact::group>("group"),
    Any<&TaskFact::span>("span"),
    Any<&TaskFact::thread>("thread"),
    NotNegative<&TaskFact::start_ns>("start_ns", kRequired),
    NotNegative<&TaskFact::stop_ns>("stop_ns", kRequired),
    Any<&TaskFact::outcome>("outcome"),
    NotNegative<&TaskFact::attempt>("attempt"),
    Any<&TaskFact::worker>("worker"),
    Any<&TaskFact::engine>("engine"),
    NotNegative<&TaskFact::queue_ns>("queue_ns"),
    NotNegative<&TaskFact::lane_stop_ns>("lane_stop_ns"),
};

inline constexpr Field<TaskModuleFact> kTaskModuleFields[] = {
    Any<&TaskModuleFact::name>("name", kRequired),
    Any<&TaskModuleFact::operation>("operation"),
    NotNegative<&TaskModuleFact::count>("count"),
    NotNegative<&TaskModuleFact::own_ns>("own_ns"),
    NotNegative<&TaskModuleFact::union_ns>("union_ns"),
    NotNegative<&TaskModuleFact::peak>("peak"),
    NotNegative<&TaskModuleFact::cpu_ns>("cpu_ns"),
    NotNegative<&TaskModuleFact::wait_ns>("wait_ns"),
    NotNegative<&TaskModuleFact::max_ns>("max_ns"),
    NotNegative<&TaskModuleFact::queued>("queued"),
    NotNegative<&TaskModuleFact::queue_ns>("queue_ns"),
    NotNegative<&TaskModuleFact::queue_max_ns>("queue_max_ns"),
    NotNegative<&TaskModuleFact::behind_ns>("behind_ns"),
    NotNegative<&TaskModuleFact::stolen_ns>("stolen_ns"),
    NotNegative<&TaskModuleFact::critical_run_ns>("critical_run_ns"),
    NotNegative<&TaskModuleFact::critical_queue_ns>("critical_queue_ns"),
    NotNegative<&TaskModuleFact::failed>("failed"),
};

inline constexpr Field<EventSumFact> kEventSumFields[] = {
    Any<&EventSumFact::dataset>("dataset"),
    NotNegative<&EventSumFact::count>("count"),
    NotNegative<&EventSumFact::failed>("failed"),
    NotNegative<&EventSumFact::not_divided>("not_divided"),
    NotNegative<&EventSumFact::first_start_ns>("first_start_ns"),
    NotNegative<&EventSumFact::last_stop_ns>("last_stop_ns"),
    NotNegative<&EventSumFact::latency_ns>("latency_ns"),
    NotNegative<&EventSumFact::min_ns>("min_ns"),
    NotNegative<&EventSumFact::max_ns>("max_ns"),
    NotNegative<&EventSumFact::active_ns>("active_ns"),
    NotNegative<&EventSumFact::queued_ns>("queued_ns"),
    NotNegative<&EventSumFact::external_ns>("external_ns"),
    NotNegative<&EventSumFact::rest_ns>("rest_ns"),
    NotNegative<&EventSumFact::critical_run_ns>("critical_run_ns"),
    NotNegative<&EventSumFact::critical_queue_ns>("critical_queue_ns"),
    NotNegative<&EventSumFact::critical_external_ns>("critical_external_ns"),
    NotNegative<&EventSumFact::critical_gap_ns>("critical_gap_ns"),
    NotNegative<&EventSumFact::tasks>("tasks"),
    NotNegative<&EventSumFact::work_ns>("work_ns"),
    Values<&EventSumFact::sketch>("sketch"),
    NotNegative<&EventSumFact::sketch_shift>("sketch_shift"),
};

inline constexpr Field<TaskThreadFact> kTaskThreadFields[] = {
    NotNegative<&TaskThreadFact::tid>("tid"),
    NotNegative<&TaskThreadFact::threads>("threads"),
    NotNegative<&TaskThreadFact::tasks>("tasks"),
    NotNegative<&TaskThreadFact::task_ns>("task_ns"),
    NotNegative<&TaskThreadFact::task_cpu_ns>("task_cpu_ns"),
    NotNegative<&TaskThreadFact::task_wait_ns>("task_wait_ns"),
    NotNegative<&TaskThreadFact::between_ns>("between_ns"),
    NotNegative<&TaskThreadFact::between_cpu_ns>("between_cpu_ns"),
    NotNegative<&TaskThreadFact::between_wait_ns>("between_wait_ns"),
};

inline constexpr Field<TaskSumsFact> kTaskSumsFields[] = {
    Skip<TaskSumsFact>("type"),
    NotNegative<&TaskSumsFact::time_ns>("time_ns", kRequired),
    Skip<TaskSumsFact>("peak"),
    Skip<TaskSumsFact>("open"),
    Objects<&TaskSumsFact::events, kEventSumFields>("latencies"),
    Objects<&TaskSumsFact::threads, kTaskThreadFields>("task_threads"),
    Objects<&TaskSumsFact::modules, kTaskModuleFields>("task_modules"),
};

/// `[context, span, function, activity, unit, value]`; span and function may be null.
inline Complaint ReadFineRows(ondemand::value& value, FineFact& out) {
  const auto read = [](FineRowFact& row, size_t at, ondemand::value& item) {
    std::string_view* const texts[] = {&row.context, &row.span, &row.function, &row.activity, &row.unit};
    if (at < std::size(texts)) return IsNull(item) || !ReadValue(item, *texts[at]);
    return at > std::size(texts) || !ReadValue(item, row.value);
  };
  return ReadRows<6>(value, "holds something that is not a list of five texts and a number", &out.rows, read);
}

inline constexpr Field<FineFact> kFineFields[] = {
    Skip<FineFact>("type"),
    NotNegative<&FineFact::time_ns>("time_ns", kRequired),
    Any<&FineFact::worker>("worker"),
    Skip<FineFact>("engine"),
    {"rows", kRequired, &ReadFineRows, &TakeNothing<FineFact>, &ClearNothing<FineFact>},
};

inline constexpr Field<ClockFact> kClockFields[] = {
    Skip<ClockFact>("type"),
    NotNegative<&ClockFact::time_ns>("time_ns", kRequired),
    Skip<ClockFact>("reference"),
    Any<&ClockFact::offset_ns>("offset_ns", kRequired),
    NotNegative<&ClockFact::uncertainty_ns>("uncertainty_ns", kRequired),
};

inline constexpr Field<SampleFact> kSampleFields[] = {
    Skip<SampleFact>("type"),
    NotNegative<&SampleFact::time_ns>("time_ns", kRequired),
    Any<&SampleFact::realtime_offset_ns>("realtime_offset_ns"),
    NotNegative<&SampleFact::rss_bytes>("rss_bytes"),
    NotNegative<&SampleFact::cpu_ns>("cpu_ns"),
    NotNegative<&SampleFact::threads>("threads"),
    NotNegative<&SampleFact::open_chunks>("open_chunks"),
    NotNegative<&SampleFact::read_bytes>("read_bytes"),
    NotNegative<&SampleFact::write_bytes>("write_bytes"),
    NotNegative<&SampleFact::memory_limit_bytes>("memory_limit_bytes"),
    Objects<&SampleFact::sections, kSectionFields>("sections"),
    NotNegative<&SampleFact::overhead_ns>("overhead_ns"),
    NotNegative<&SampleFact::counts, &ProcessCounts::rss_peak_bytes>("rss_peak_bytes"),
    NotNegative<&SampleFact::counts, &ProcessCounts::anonymous_bytes>("anonymous_bytes"),
    NotNegative<&SampleFact::counts, &ProcessCounts::file_bytes>("file_bytes"),
    NotNegative<&SampleFact::counts, &ProcessCounts::system_cpu_ns>("system_cpu_ns"),
    NotNegative<&SampleFact::counts, &ProcessCounts::minor_faults>("minor_faults"),
    NotNegative<&SampleFact::counts, &ProcessCounts::major_faults>("major_faults"),
    NotNegative<&SampleFact::counts, &ProcessCounts::read_calls>("read_calls"),
    NotNegative<&SampleFact::counts, &ProcessCounts::read_call_bytes>("read_call_bytes"),
    NotNegative<&SampleFact::counts, &ProcessCounts::run_delay_ns>("run_delay_ns"),
    NotNegative<&SampleFact::counts, &ProcessCounts::throttled_ns>("throttled_ns"),
    NotNegative<&SampleFact::counts, &ProcessCounts::shared_cpu_ns>("shared_cpu_ns"),
    Objects<&SampleFact::metrics, kMetricFields>("metrics"),
};

inline constexpr Field<FileFact> kFileFields[] = {
    Skip<FileFact>("type"),
    Any<&FileFact::file>("file", kRequired),
    NotNegative<&FileFact::branches>("branches"),
    NotNegative<&FileFact::bytes>("bytes"),
    NotNegative<&FileFact::compressed_bytes>("compressed_bytes"),
};

inline constexpr Field<SpanFact> kSpanFields[] = {
    Skip<SpanFact>("type"),
    Any<&SpanFact::name>("name", kRequired),
    Any<&SpanFact::path>("path"),
    NotNegative<&SpanFact::start_ns>("start_ns", kRequired),
    NotNegative<&SpanFact::stop_ns>("stop_ns", kRequired),
};

inline constexpr Field<EndFact> kEndFields[] = {
    Skip<EndFact>("type"),
    NotNegative<&EndFact::time_ns>("time_ns", kRequired),
    Any<&EndFact::realtime_offset_ns>("realtime_offset_ns"),
    NotNegative<&EndFact::chunks>("chunks"),
    NotNegative<&EndFact::failed>("failed"),
    NotNegative<&EndFact::open>("open"),
    NotNegative<&EndFact::dropped>("dropped"),
    NotNegative<&EndFact::summed_chunks>("summed_chunks"),
    NotNegative<&EndFact::misused>("misused"),
    NotNegative<&EndFact::unwritten>("unwritten"),
    NotNegative<&EndFact::outside_chunks>("outside_chunks"),
    NotNegative<&EndFact::tasks_left_out>("tasks_left_out"),
    NotNegative<&EndFact::lost_samples>("lost_samples"),
    NotNegative<&EndFact::overhead_ns>("overhead_ns"),
    NotNegative<&EndFact::cpu_ns>("cpu_ns"),
    NotNegative<&EndFact::counts, &ProcessCounts::rss_peak_bytes>("rss_peak_bytes"),
    NotNegative<&EndFact::counts, &ProcessCounts::anonymous_bytes>("anonymous_bytes"),
    NotNegative<&EndFact::counts, &ProcessCounts::file_bytes>("file_bytes"),
    NotNegative<&EndFact::counts, &ProcessCounts::system_cpu_ns>("system_cpu_ns"),
    NotNegative<&EndFact::counts, &ProcessCounts::minor_faults>("minor_faults"),
    NotNegative<&EndFact::counts, &ProcessCounts::major_faults>("major_faults"),
    NotNegative<&EndFact::counts, &ProcessCounts::read_calls>("read_calls"),
    NotNegative<&EndFact::counts, &ProcessCounts::read_call_bytes>("read_call_bytes"),
    NotNegative<&EndFact::counts, &ProcessCounts::run_delay_ns>("run_delay_ns"),
    NotNegative<&EndFact::counts, &ProcessCounts::throttled_ns>("throttled_ns"),
    NotNegative<&EndFact::counts, &ProcessCounts::shared_cpu_ns>("shared_cpu_ns"),
    Objects<&EndFact::sections, kSectionFields>("sections"),
    Objects<&EndFact::metrics, kMetricFields>("metrics"),
};

}  // namespace crema::json
