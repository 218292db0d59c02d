// The fields of each type of record line, in the order of the format (docs/record_log.md, "Types").
#ifndef CREMA_COLLECTOR_RECORDS_RECORD_FIELDS_H_
#define CREMA_COLLECTOR_RECORDS_RECORD_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "collector/records/facts.h"
#include "collector/records/json_fields.h"

namespace crema::json {

inline constexpr Field<SectionFact> kSectionFields[] = {
    {"path", Any<&SectionFact::path>, kRequired},
    {"helper", Any<&SectionFact::helper>},
    {"count", NotNegative<&SectionFact::count>, kRequired},
    {"total_ns", NotNegative<&SectionFact::total_ns>, kRequired},
    {"self_ns", NotNegative<&SectionFact::self_ns>, kRequired},
    {"min_ns", NotNegative<&SectionFact::min_ns>},
    {"max_ns", NotNegative<&SectionFact::max_ns>},
    {"cpu_ns", NotNegative<&SectionFact::cpu_ns>},
    {"failed", NotNegative<&SectionFact::failed>},
};

inline constexpr Field<MemorySectionFact> kMemorySectionFields[] = {
    {"path", Any<&MemorySectionFact::path>, kRequired},
    {"count", NotNegative<&MemorySectionFact::count>, kRequired},
    {"delta_bytes", Any<&MemorySectionFact::delta_bytes>, kRequired},
    {"min_bytes", Any<&MemorySectionFact::min_bytes>},
    {"max_bytes", Any<&MemorySectionFact::max_bytes>},
    {"rss_start_bytes", NotNegative<&MemorySectionFact::rss_start_bytes>},
    {"rss_stop_bytes", NotNegative<&MemorySectionFact::rss_stop_bytes>},
    {"peak_bytes", NotNegative<&MemorySectionFact::peak_bytes>},
};

inline constexpr Field<MetricFact> kMetricFields[] = {
    {"name", Any<&MetricFact::name>, kRequired},
    {"unit", Any<&MetricFact::unit>},
    {"count", NotNegative<&MetricFact::count>, kRequired},
    {"sum", Any<&MetricFact::sum>},
    {"min", Any<&MetricFact::min>},
    {"max", Any<&MetricFact::max>},
    {"invalid", NotNegative<&MetricFact::invalid>},
};

inline constexpr Field<CutFact> kCutFields[] = {
    {"name", Any<&CutFact::name>, kRequired},
    {"events", NotNegative<&CutFact::events>, kRequired},
    {"weights", Any<&CutFact::weights>},
};

inline constexpr Field<ActivityFact> kActivityFields[] = {
    {"label", Any<&ActivityFact::label>, kRequired},
    {"unit", Any<&ActivityFact::unit>},
    {"value", Any<&ActivityFact::value>},
};

inline constexpr Field<ProcessFact> kAttributeFields[] = {
    {"total_events", NotNegative<&ProcessFact::total_events>},
};

inline Complaint ReadProcessAttributes(ondemand::value& value, ProcessFact& out) {
  ondemand::object attributes;
  if (value.get_object().get(attributes)) return "is not an object";
  // Attributes are the user's: one that happens to bear a known name with another type is no fault.
  if (ReadObject(attributes, kAttributeFields, out)) out.total_events.reset();
  return nullptr;
}

inline constexpr Field<ProcessFact> kProcessFields[] = {
    {"type", Skip<ProcessFact>},
    {"schema", Skip<ProcessFact>},
    {"schema_minor", Skip<ProcessFact>},
    {"run_id", Any<&ProcessFact::run_id>},
    {"host", Any<&ProcessFact::host>, kRequired},
    {"pid", NotNegative<&ProcessFact::pid>, kRequired},
    {"parent_pid", NotNegative<&ProcessFact::parent_pid>},
    {"pid_namespace", NotNegative<&ProcessFact::pid_namespace>},
    {"start_ns", NotNegative<&ProcessFact::start_ns>, kRequired},
    {"boot_id", Any<&ProcessFact::boot_id>},
    {"recorder", NotNegative<&ProcessFact::recorder>},
    {"executable", Any<&ProcessFact::executable>},
    {"arguments", Strings<&ProcessFact::arguments>},
    {"cores", NotNegative<&ProcessFact::cores>},
    {"threads", NotNegative<&ProcessFact::threads>},
    {"memory_limit_bytes", NotNegative<&ProcessFact::memory_limit_bytes>},
    {"sdk", Any<&ProcessFact::sdk>},
    {"attributes", ReadProcessAttributes},
    {"total_events", NotNegative<&ProcessFact::total_events>},
    {"working_directory", Any<&ProcessFact::working_directory>},
};

// The fields that say which data a chunk is about stand in both `begin` and `chunk`.
template <class Fact, auto kMember>
Complaint Input(ondemand::value& value, Fact& out) {
  return Any<kMember>(value, out.input);
}

inline constexpr Field<BeginFact> kBeginFields[] = {
    {"type", Skip<BeginFact>},
    {"chunk", NotNegative<&BeginFact::number>, kRequired},
    {"time_ns", NotNegative<&BeginFact::time_ns>, kRequired},
    {"thread", Any<&BeginFact::thread>},
    {"tid", NotNegative<&BeginFact::tid>},
    {"dataset", Input<BeginFact, &ChunkInput::dataset>},
    {"file", Input<BeginFact, &ChunkInput::file>},
    {"tree", Input<BeginFact, &ChunkInput::tree>},
    {"entry_start", Input<BeginFact, &ChunkInput::entry_start>},
    {"entry_stop", Input<BeginFact, &ChunkInput::entry_stop>},
    {"pass", Input<BeginFact, &ChunkInput::pass>},
    {"span", Skip<BeginFact>},
    {"attributes", Skip<BeginFact>},
};

template <class Fact>
Complaint ReadStatus(ondemand::value& value, Fact& out) {
  std::string_view status;
  if (value.get_string().get(status)) return kNotAString;
  out.failed = status == "failed";
  return out.failed || status == "ok" ? nullptr : "is neither ok nor failed";
}

/// `[section, start_ns, duration_ns, tid]`, all of them never negative.
inline Complaint ReadTrace(ondemand::value& value, ChunkFact& out) {
  static constexpr char kBadTrace[] = "holds something that is not a list of four numbers";
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  out.trace.clear();
  for (auto element : array) {
    ondemand::array numbers;
    if (element.get_array().get(numbers)) return kBadTrace;
    TraceFact fact;
    int64_t* const members[] = {&fact.section, &fact.start_ns, &fact.duration_ns, &fact.tid};
    size_t at = 0;
    for (auto number : numbers) {
      if (at == std::size(members)) break;
      if (number.get_int64().get(*members[at]) || *members[at] < 0) return kBadTrace;
      ++at;
    }
    if (at < std::size(members)) return kBadTrace;
    out.trace.push_back(fact);
  }
  return nullptr;
}

inline constexpr Field<ChunkFact> kChunkFields[] = {
    {"type", Skip<ChunkFact>},
    {"chunk", NotNegative<&ChunkFact::number>, kRequired},
    {"start_ns", NotNegative<&ChunkFact::start_ns>, kRequired},
    {"stop_ns", NotNegative<&ChunkFact::stop_ns>, kRequired},
    {"status", ReadStatus<ChunkFact>, kRequired},
    {"events", NotNegative<&ChunkFact::events>},
    {"bytes_read", NotNegative<&ChunkFact::bytes_read>},
    {"bytes_uncompressed", NotNegative<&ChunkFact::bytes_uncompressed>},
    {"cpu_ns", NotNegative<&ChunkFact::cpu_ns>},
    {"helper_cpu_ns", NotNegative<&ChunkFact::helper_cpu_ns>},
    {"cpu_wait_ns", NotNegative<&ChunkFact::cpu_wait_ns>},
    {"helper_wait_ns", NotNegative<&ChunkFact::helper_wait_ns>},
    {"helper_scope_ns", NotNegative<&ChunkFact::helper_scope_ns>},
    {"helper_union_ns", NotNegative<&ChunkFact::helper_union_ns>},
    {"rss_start_bytes", NotNegative<&ChunkFact::rss_start_bytes>},
    {"rss_stop_bytes", NotNegative<&ChunkFact::rss_stop_bytes>},
    {"rss_peak_bytes", NotNegative<&ChunkFact::rss_peak_bytes>},
    {"io_read_bytes", NotNegative<&ChunkFact::io_read_bytes>},
    {"open_chunks", NotNegative<&ChunkFact::open_chunks>},
    {"lanes_peak", NotNegative<&ChunkFact::lanes_peak>},
    {"thread", Any<&ChunkFact::thread>},
    {"tid", NotNegative<&ChunkFact::tid>},
    {"dataset", Input<ChunkFact, &ChunkInput::dataset>},
    {"file", Input<ChunkFact, &ChunkInput::file>},
    {"tree", Input<ChunkFact, &ChunkInput::tree>},
    {"entry_start", Input<ChunkFact, &ChunkInput::entry_start>},
    {"entry_stop", Input<ChunkFact, &ChunkInput::entry_stop>},
    {"pass", Input<ChunkFact, &ChunkInput::pass>},
    {"span", Any<&ChunkFact::span>},
    {"error", Any<&ChunkFact::error>},
    {"columns", Strings<&ChunkFact::columns>},
    {"sections", Objects<&ChunkFact::sections, kSectionFields>},
    {"memory_sections", Objects<&ChunkFact::memory_sections, kMemorySectionFields>},
    {"metrics", Objects<&ChunkFact::metrics, kMetricFields>},
    {"cuts", Objects<&ChunkFact::cuts, kCutFields>},
    {"activities", Objects<&ChunkFact::activities, kActivityFields>},
    {"sections_dropped", NotNegative<&ChunkFact::sections_dropped>},
    {"suspended_ns", NotNegative<&ChunkFact::suspended_ns>},
    {"attributes", Skip<ChunkFact>},
    {"trace", ReadTrace},
    {"trace_dropped", NotNegative<&ChunkFact::trace_dropped>},
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
    {"type", Skip<SumsFact>},
    {"time_ns", NotNegative<&SumsFact::time_ns>, kRequired},
    {"reason", Any<&SumsFact::reason>},
    {"dataset", Input<SumsFact, &ChunkInput::dataset>},
    {"file", Input<SumsFact, &ChunkInput::file>},
    {"pass", Input<SumsFact, &ChunkInput::pass>},
    {"status", ReadStatus<SumsFact>, kRequired},
    {"chunks", NotNegative<&SumsFact::chunks>, kRequired},
    {"begun", ReadBegun},
    {"first_start_ns", NotNegative<&SumsFact::first_start_ns>, kRequired},
    {"last_stop_ns", NotNegative<&SumsFact::last_stop_ns>, kRequired},
    {"duration_ns", NotNegative<&SumsFact::duration_ns>, kRequired},
    {"min_duration_ns", NotNegative<&SumsFact::min_duration_ns>},
    {"max_duration_ns", NotNegative<&SumsFact::max_duration_ns>},
    {"chunks_with_events", NotNegative<&SumsFact::chunks_with_events>},
    {"events", NotNegative<&SumsFact::events>},
    {"bytes_read", NotNegative<&SumsFact::bytes_read>},
    {"bytes_uncompressed", NotNegative<&SumsFact::bytes_uncompressed>},
    {"cpu_ns", NotNegative<&SumsFact::cpu_ns>},
    {"helper_cpu_ns", NotNegative<&SumsFact::helper_cpu_ns>},
    {"cpu_wait_ns", NotNegative<&SumsFact::cpu_wait_ns>},
    {"helper_wait_ns", NotNegative<&SumsFact::helper_wait_ns>},
    {"helper_scope_ns", NotNegative<&SumsFact::helper_scope_ns>},
    {"helper_union_ns", NotNegative<&SumsFact::helper_union_ns>},
    {"helper_joined_ns", NotNegative<&SumsFact::helper_joined_ns>},
    {"rss_peak_bytes", NotNegative<&SumsFact::rss_peak_bytes>},
    {"io_read_bytes", Skip<SumsFact>},
    {"lanes_peak", NotNegative<&SumsFact::lanes_peak>},
    {"sections", Objects<&SumsFact::sections, kSectionFields>},
    {"memory_sections", Objects<&SumsFact::memory_sections, kMemorySectionFields>},
    {"metrics", Objects<&SumsFact::metrics, kMetricFields>},
    {"cuts", Objects<&SumsFact::cuts, kCutFields>},
    {"activities", Objects<&SumsFact::activities, kActivityFields>},
    {"sections_dropped", NotNegative<&SumsFact::sections_dropped>},
    {"suspended_ns", Skip<SumsFact>},
};

inline constexpr Field<TaskFact> kTaskFields[] = {
    {"type", Skip<TaskFact>},
    {"key", Any<&TaskFact::key>},
    {"prefix", Any<&TaskFact::prefix>},
    {"group", Any<&TaskFact::group>},
    {"span", Any<&TaskFact::span>},
    {"thread", Any<&TaskFact::thread>},
    {"start_ns", NotNegative<&TaskFact::start_ns>, kRequired},
    {"stop_ns", NotNegative<&TaskFact::stop_ns>, kRequired},
    {"outcome", Any<&TaskFact::outcome>},
    {"attempt", NotNegative<&TaskFact::attempt>},
    {"worker", Any<&TaskFact::worker>},
    {"engine", Any<&TaskFact::engine>},
    {"queue_ns", NotNegative<&TaskFact::queue_ns>},
};

/// `[context, span, function, activity, unit, value]`; span and function may be null.
inline Complaint ReadFineRows(ondemand::value& value, FineFact& out) {
  static constexpr char kBadFineRow[] = "holds something that is not a list of five texts and a number";
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  out.rows.clear();
  for (auto element : array) {
    ondemand::array fields;
    if (element.get_array().get(fields)) return kBadFineRow;
    FineRowFact row;
    std::string_view* const texts[] = {&row.context, &row.span, &row.function, &row.activity, &row.unit};
    size_t at = 0;
    for (auto field : fields) {
      ondemand::value item;
      if (field.get(item)) return kBadFineRow;
      if (at < std::size(texts)) {
        if (!IsNull(item) && item.get_string().get(*texts[at])) return kBadFineRow;
      } else if (at == std::size(texts) && ReadValue(item, row.value)) {
        return kBadFineRow;
      }
      ++at;
    }
    if (at <= std::size(texts)) return kBadFineRow;
    out.rows.push_back(row);
  }
  return nullptr;
}

inline constexpr Field<FineFact> kFineFields[] = {
    {"type", Skip<FineFact>},           {"time_ns", NotNegative<&FineFact::time_ns>, kRequired},
    {"worker", Any<&FineFact::worker>}, {"engine", Skip<FineFact>},
    {"rows", ReadFineRows, kRequired},
};

inline constexpr Field<ClockFact> kClockFields[] = {
    {"type", Skip<ClockFact>},
    {"time_ns", NotNegative<&ClockFact::time_ns>, kRequired},
    {"reference", Skip<ClockFact>},
    {"offset_ns", Any<&ClockFact::offset_ns>, kRequired},
    {"uncertainty_ns", NotNegative<&ClockFact::uncertainty_ns>, kRequired},
};

inline constexpr Field<SampleFact> kSampleFields[] = {
    {"type", Skip<SampleFact>},
    {"time_ns", NotNegative<&SampleFact::time_ns>, kRequired},
    {"realtime_offset_ns", Any<&SampleFact::realtime_offset_ns>},
    {"rss_bytes", NotNegative<&SampleFact::rss_bytes>},
    {"cpu_ns", NotNegative<&SampleFact::cpu_ns>},
    {"threads", NotNegative<&SampleFact::threads>},
    {"open_chunks", NotNegative<&SampleFact::open_chunks>},
    {"read_bytes", NotNegative<&SampleFact::read_bytes>},
    {"write_bytes", NotNegative<&SampleFact::write_bytes>},
    {"memory_limit_bytes", NotNegative<&SampleFact::memory_limit_bytes>},
    {"sections", Objects<&SampleFact::sections, kSectionFields>},
    {"overhead_ns", NotNegative<&SampleFact::overhead_ns>},
};

inline constexpr Field<FileFact> kFileFields[] = {
    {"type", Skip<FileFact>},
    {"file", Any<&FileFact::file>, kRequired},
    {"branches", NotNegative<&FileFact::branches>},
    {"bytes", NotNegative<&FileFact::bytes>},
    {"compressed_bytes", NotNegative<&FileFact::compressed_bytes>},
};

inline constexpr Field<SpanFact> kSpanFields[] = {
    {"type", Skip<SpanFact>},
    {"name", Any<&SpanFact::name>, kRequired},
    {"path", Any<&SpanFact::path>},
    {"start_ns", NotNegative<&SpanFact::start_ns>, kRequired},
    {"stop_ns", NotNegative<&SpanFact::stop_ns>, kRequired},
};

inline constexpr Field<EndFact> kEndFields[] = {
    {"type", Skip<EndFact>},
    {"time_ns", NotNegative<&EndFact::time_ns>, kRequired},
    {"realtime_offset_ns", Any<&EndFact::realtime_offset_ns>},
    {"chunks", NotNegative<&EndFact::chunks>},
    {"failed", NotNegative<&EndFact::failed>},
    {"open", NotNegative<&EndFact::open>},
    {"dropped", NotNegative<&EndFact::dropped>},
    {"summed_chunks", NotNegative<&EndFact::summed_chunks>},
    {"misused", NotNegative<&EndFact::misused>},
    {"overhead_ns", NotNegative<&EndFact::overhead_ns>},
    {"sections", Objects<&EndFact::sections, kSectionFields>},
};

}  // namespace crema::json

#endif  // CREMA_COLLECTOR_RECORDS_RECORD_FIELDS_H_
