#include "collector/records/record_parser.h"

#include <simdjson.h>

#include <cstring>
#include <utility>

#include "collector/records/json_fields.h"
#include "collector/records/schema.h"

namespace crema {

using json::Any;
using json::Complaint;
using json::Field;
using json::kRequired;
using json::NotNegative;
using json::Objects;
using json::Refusal;
using json::Skip;
using json::Strings;
namespace ondemand = simdjson::ondemand;

namespace {

// The fields of each type of line, in the order of the format (DESIGN.md section 4).

constexpr Field<SectionFact> kSectionFields[] = {
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

constexpr Field<MemorySectionFact> kMemorySectionFields[] = {
    {"path", Any<&MemorySectionFact::path>, kRequired},
    {"count", NotNegative<&MemorySectionFact::count>, kRequired},
    {"delta_bytes", Any<&MemorySectionFact::delta_bytes>, kRequired},
    {"min_bytes", Any<&MemorySectionFact::min_bytes>},
    {"max_bytes", Any<&MemorySectionFact::max_bytes>},
    {"rss_start_bytes", NotNegative<&MemorySectionFact::rss_start_bytes>},
    {"rss_stop_bytes", NotNegative<&MemorySectionFact::rss_stop_bytes>},
    {"peak_bytes", NotNegative<&MemorySectionFact::peak_bytes>},
};

constexpr Field<MetricFact> kMetricFields[] = {
    {"name", Any<&MetricFact::name>, kRequired},
    {"unit", Any<&MetricFact::unit>},
    {"count", NotNegative<&MetricFact::count>, kRequired},
    {"sum", Any<&MetricFact::sum>},
    {"min", Any<&MetricFact::min>},
    {"max", Any<&MetricFact::max>},
    {"invalid", NotNegative<&MetricFact::invalid>},
};

constexpr Field<CutFact> kCutFields[] = {
    {"name", Any<&CutFact::name>, kRequired},
    {"events", NotNegative<&CutFact::events>, kRequired},
    {"weights", Any<&CutFact::weights>},
};

constexpr Field<ActivityFact> kActivityFields[] = {
    {"label", Any<&ActivityFact::label>, kRequired},
    {"unit", Any<&ActivityFact::unit>},
    {"value", Any<&ActivityFact::value>},
};

constexpr Field<ProcessFact> kAttributeFields[] = {
    {"total_events", NotNegative<&ProcessFact::total_events>},
};

Complaint ReadProcessAttributes(ondemand::value& value, ProcessFact& out) {
  ondemand::object attributes;
  if (value.get_object().get(attributes)) return "is not an object";
  // Attributes are the user's: one that happens to bear a known name with another type is no fault.
  if (json::ReadObject(attributes, kAttributeFields, out)) out.total_events.reset();
  return nullptr;
}

constexpr Field<ProcessFact> kProcessFields[] = {
    {"type", Skip<ProcessFact>},
    {"schema", Skip<ProcessFact>},
    {"schema_minor", Skip<ProcessFact>},
    {"run_id", Any<&ProcessFact::run_id>},
    {"host", Any<&ProcessFact::host>, kRequired},
    {"pid", NotNegative<&ProcessFact::pid>, kRequired},
    {"parent_pid", NotNegative<&ProcessFact::parent_pid>},
    {"start_ns", NotNegative<&ProcessFact::start_ns>, kRequired},
    {"recorder", NotNegative<&ProcessFact::recorder>},
    {"executable", Any<&ProcessFact::executable>},
    {"arguments", Strings<&ProcessFact::arguments>},
    {"cores", NotNegative<&ProcessFact::cores>},
    {"threads", NotNegative<&ProcessFact::threads>},
    {"memory_limit_bytes", NotNegative<&ProcessFact::memory_limit_bytes>},
    {"sdk", Any<&ProcessFact::sdk>},
    {"attributes", ReadProcessAttributes},
    {"total_events", NotNegative<&ProcessFact::total_events>},
};

// The fields that say which data a chunk is about stand in both `begin` and `chunk`.
template <class Fact, auto kMember>
Complaint Input(ondemand::value& value, Fact& out) {
  return Any<kMember>(value, out.input);
}

constexpr Field<BeginFact> kBeginFields[] = {
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

Complaint ReadStatus(ondemand::value& value, ChunkFact& out) {
  std::string_view status;
  if (value.get_string().get(status)) return json::kNotAString;
  out.failed = status == "failed";
  return out.failed || status == "ok" ? nullptr : "is neither ok nor failed";
}

constexpr Field<ChunkFact> kChunkFields[] = {
    {"type", Skip<ChunkFact>},
    {"chunk", NotNegative<&ChunkFact::number>, kRequired},
    {"start_ns", NotNegative<&ChunkFact::start_ns>, kRequired},
    {"stop_ns", NotNegative<&ChunkFact::stop_ns>, kRequired},
    {"status", ReadStatus, kRequired},
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
    {"attributes", Skip<ChunkFact>},
};

constexpr Field<TaskFact> kTaskFields[] = {
    {"type", Skip<TaskFact>},
    {"key", Any<&TaskFact::key>},
    {"prefix", Any<&TaskFact::prefix>},
    {"group", Any<&TaskFact::group>},
    {"span", Any<&TaskFact::span>},
    {"thread", Any<&TaskFact::thread>},
    {"start_ns", NotNegative<&TaskFact::start_ns>, kRequired},
    {"stop_ns", NotNegative<&TaskFact::stop_ns>, kRequired},
    {"outcome", Any<&TaskFact::outcome>},
    {"attempt", Skip<TaskFact>},
    {"worker", Any<&TaskFact::worker>},
    {"engine", Any<&TaskFact::engine>},
};

constexpr Field<SampleFact> kSampleFields[] = {
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
};

constexpr Field<FileFact> kFileFields[] = {
    {"type", Skip<FileFact>},
    {"file", Any<&FileFact::file>, kRequired},
    {"branches", NotNegative<&FileFact::branches>},
    {"bytes", NotNegative<&FileFact::bytes>},
    {"compressed_bytes", NotNegative<&FileFact::compressed_bytes>},
};

constexpr Field<SpanFact> kSpanFields[] = {
    {"type", Skip<SpanFact>},
    {"name", Any<&SpanFact::name>, kRequired},
    {"path", Any<&SpanFact::path>},
    {"start_ns", NotNegative<&SpanFact::start_ns>, kRequired},
    {"stop_ns", NotNegative<&SpanFact::stop_ns>, kRequired},
};

constexpr Field<EndFact> kEndFields[] = {
    {"type", Skip<EndFact>},
    {"time_ns", NotNegative<&EndFact::time_ns>, kRequired},
    {"realtime_offset_ns", Any<&EndFact::realtime_offset_ns>},
    {"chunks", NotNegative<&EndFact::chunks>},
    {"failed", NotNegative<&EndFact::failed>},
    {"open", NotNegative<&EndFact::open>},
    {"dropped", NotNegative<&EndFact::dropped>},
    {"overhead_ns", NotNegative<&EndFact::overhead_ns>},
    {"sections", Objects<&EndFact::sections, kSectionFields>},
};

// `Clear` empties a fact and keeps the memory of its lists.

template <class Row>
std::vector<Row> Emptied(std::vector<Row>& rows) {
  rows.clear();
  return std::move(rows);
}

template <class Fact>
void Clear(Fact& fact) {
  fact = Fact();
}

void Clear(ProcessFact& fact) {
  auto arguments = Emptied(fact.arguments);
  fact = ProcessFact();
  fact.arguments = std::move(arguments);
}

void Clear(ChunkFact& fact) {
  auto columns = Emptied(fact.columns);
  auto sections = Emptied(fact.sections);
  auto memory_sections = Emptied(fact.memory_sections);
  auto metrics = Emptied(fact.metrics);
  auto cuts = Emptied(fact.cuts);
  auto activities = Emptied(fact.activities);
  fact = ChunkFact();
  fact.columns = std::move(columns);
  fact.sections = std::move(sections);
  fact.memory_sections = std::move(memory_sections);
  fact.metrics = std::move(metrics);
  fact.cuts = std::move(cuts);
  fact.activities = std::move(activities);
}

template <class Fact>
void ClearWithSections(Fact& fact) {
  auto sections = Emptied(fact.sections);
  fact = Fact();
  fact.sections = std::move(sections);
}
void Clear(SampleFact& fact) { ClearWithSections(fact); }
void Clear(EndFact& fact) { ClearWithSections(fact); }

template <class Fact, size_t kFields>
Refusal Read(ondemand::object object, const Field<Fact> (&fields)[kFields], Fact& fact) {
  Clear(fact);
  return json::ReadObject(object, fields, fact);
}

template <class Fact>
Refusal CheckInterval(const Fact& fact) {
  return fact.stop_ns < fact.start_ns ? Refusal{"stop_ns", "is before start_ns"} : Refusal{};
}

constexpr std::pair<std::string_view, RecordType> kTypes[] = {
    {"chunk", RecordType::kChunk},     {"begin", RecordType::kBegin}, {"sample", RecordType::kSample},
    {"process", RecordType::kProcess}, {"file", RecordType::kFile},   {"span", RecordType::kSpan},
    {"task", RecordType::kTask},       {"end", RecordType::kEnd},
};

const std::pair<std::string_view, RecordType>* FindType(std::string_view name) {
  for (const auto& type : kTypes) {
    if (type.first == name) return &type;
  }
  return nullptr;
}

// The type where it stands first and unadorned, as the format says; empty where it does not.
std::string_view LeadingType(std::string_view line) {
  constexpr std::string_view kLead = "{\"type\":\"";
  if (line.substr(0, kLead.size()) != kLead) return {};
  const size_t quote = line.find('"', kLead.size());
  return quote == std::string_view::npos ? std::string_view() : line.substr(kLead.size(), quote - kLead.size());
}

// Whether the text begins an object and stops inside it: what a short write leaves.
bool StopsInsideObject(std::string_view line) {
  if (line.empty() || line.front() != '{') return false;
  int64_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return false;
    } else if (c == '\0') {
      return false;
    }
  }
  return true;
}

}  // namespace

struct RecordParser::Json {
  ondemand::parser parser;
};

RecordParser::RecordParser() : json_(std::make_unique<Json>()) {}
RecordParser::~RecordParser() = default;

ParseOutcome RecordParser::ParseCopy(std::string_view line) {
  copy_.assign(line);
  copy_.append(kPadding, ' ');
  return Parse(std::string_view(copy_).substr(0, line.size()));
}

ParseOutcome RecordParser::Parse(std::string_view line) {
  static_assert(kPadding >= simdjson::SIMDJSON_PADDING, "simdjson reads ahead");
  reason_.clear();
  const auto refuse = [&](std::string reason) {
    reason_ = std::move(reason);
    return StopsInsideObject(line) ? ParseOutcome::kTorn : ParseOutcome::kMalformed;
  };
  ondemand::document document;
  ondemand::object object;
  const simdjson::padded_string_view padded(line.data(), line.size(), line.size() + kPadding);
  if (json_->parser.iterate(padded).get(document) || document.get_object().get(object)) {
    return refuse("not a JSON object in UTF-8");
  }

  std::string_view type_name = LeadingType(line);
  const auto* type = FindType(type_name);
  if (type == nullptr) {
    if (object.find_field_unordered("type").get_string().get(type_name)) return refuse("no field `type`");
    type = FindType(type_name);
    if (type == nullptr) {
      reason_ = std::string(type_name);
      return StopsInsideObject(line) ? ParseOutcome::kTorn : ParseOutcome::kUnknownType;
    }
    if (object.reset().error()) return refuse("not JSON");
  }
  record_.type = type->second;

  Refusal refusal;
  switch (record_.type) {
    case RecordType::kProcess: {
      std::string_view schema;
      if (object.find_field_unordered("schema").get_string().get(schema)) return refuse("no field `schema`");
      if (schema != kRecordSchema) {
        reason_ = std::string(schema);
        return ParseOutcome::kOtherSchema;
      }
      if (object.reset().error()) return refuse("not JSON");
      refusal = Read(object, kProcessFields, record_.process);
      break;
    }
    case RecordType::kBegin:
      refusal = Read(object, kBeginFields, record_.begin);
      break;
    case RecordType::kChunk:
      refusal = Read(object, kChunkFields, record_.chunk);
      if (!refusal) refusal = CheckInterval(record_.chunk);
      break;
    case RecordType::kTask:
      refusal = Read(object, kTaskFields, record_.task);
      if (!refusal) refusal = CheckInterval(record_.task);
      break;
    case RecordType::kSample:
      refusal = Read(object, kSampleFields, record_.sample);
      break;
    case RecordType::kFile:
      refusal = Read(object, kFileFields, record_.file);
      break;
    case RecordType::kSpan:
      refusal = Read(object, kSpanFields, record_.span);
      if (!refusal) refusal = CheckInterval(record_.span);
      break;
    case RecordType::kEnd:
      refusal = Read(object, kEndFields, record_.end);
      break;
  }
  if (!refusal) {
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) return refuse("more than one JSON object");
    return ParseOutcome::kRecord;
  }
  if (refusal.field.empty()) return refuse("not JSON");
  return refuse("`" + refusal.field + "` " + refusal.complaint);
}

}  // namespace crema
