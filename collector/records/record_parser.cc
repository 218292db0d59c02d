#include "collector/records/record_parser.h"

#include "collector/idioms/sequences.h"
#include "collector/records/record_fields.h"

namespace crema {

using json::Refusal;
namespace ondemand = simdjson::ondemand;

namespace {

/// The whole line is an object of the table.
template <const auto& kTable, class Fact>
bool ParseLine(std::string_view text, Fact& fact) {
  FastJsonReader line(text);
  if (!line.GoTo(json::ParseObject<kTable>(line, fact))) return false;
  line.SkipBlanks();
  return line.AtEnd();
}

template <class Fact>
Refusal CheckInterval(const Fact& fact) {
  return fact.stop_ns < fact.start_ns ? Refusal{"stop_ns", "is before start_ns"} : Refusal{};
}

// A thread cannot be sampled so often.
constexpr double kMostHertz = 1e6;

// What is wrong with its stacks; else says of native functions where they are: what is before the last `+0x` of
// their names is a module's.
Refusal CheckStacks(StacksFact& fact) {
  if (!(fact.hertz > 0 && fact.hertz <= kMostHertz)) return {"hertz", "is not a sampling rate"};
  for (const StackFact& stack : fact.stacks) {
    for (const int64_t function : stack.functions) {
      if (static_cast<size_t>(function) >= fact.functions.size())
        return {"stacks", "names a function that is not in the list"};
    }
  }
  for (FunctionFact& function : fact.functions) {
    const size_t plus = function.name.rfind("+0x");
    if (plus == std::string_view::npos || !function.file.empty()) continue;
    if (const ModuleFact* module = FindBy(fact.modules, &ModuleFact::name, function.name.substr(0, plus))) {
      function.file = module->path;
      function.build_id = module->build_id;
    }
  }
  return {};
}

// Each of the chunks lasted no longer than from the first one's begin to the last one's end.
Refusal CheckSums(const SumsFact& fact) {
  if (fact.last_stop_ns < fact.first_start_ns) return {"last_stop_ns", "is before first_start_ns"};
  const auto most_ns = static_cast<double>(fact.last_stop_ns - fact.first_start_ns) * static_cast<double>(fact.chunks);
  if (static_cast<double>(fact.duration_ns) > most_ns) return {"duration_ns", "is more than the chunks' time"};
  return {};
}

/// Reads the member of the record that is of its type.
template <auto kMember, const auto& kFields>
Refusal Read(ondemand::object object, Record* record) {
  auto& fact = record->*kMember;
  if constexpr (std::is_same_v<decltype(fact), ChunkFact&>) {  // keeps the memory of its lists: most lines are these
    for (const auto& field : kFields) field.clear(fact);
  } else {
    fact = {};
  }
  return json::ReadObject(object, kFields, fact);
}

/// And `kCheck` says what is wrong with it as a whole.
template <auto kMember, const auto& kFields, auto kCheck>
Refusal ReadChecked(ondemand::object object, Record* record) {
  Refusal refusal = Read<kMember, kFields>(object, record);
  return refusal ? refusal : kCheck(record->*kMember);
}

struct LineType {
  std::string_view name;
  RecordType type;
  Refusal (*read)(ondemand::object object, Record* record);
};
constexpr LineType kTypes[] = {
    {"chunk", RecordType::kChunk, ReadChecked<&Record::chunk, json::kChunkFields, CheckInterval<ChunkFact>>},
    {"begin", RecordType::kBegin, Read<&Record::begin, json::kBeginFields>},
    {"sample", RecordType::kSample, Read<&Record::sample, json::kSampleFields>},
    {"process", RecordType::kProcess, Read<&Record::process, json::kProcessFields>},
    {"file", RecordType::kFile, Read<&Record::file, json::kFileFields>},
    {"span", RecordType::kSpan, ReadChecked<&Record::span, json::kSpanFields, CheckInterval<SpanFact>>},
    {"task", RecordType::kTask, ReadChecked<&Record::task, json::kTaskFields, CheckInterval<TaskFact>>},
    {"end", RecordType::kEnd, Read<&Record::end, json::kEndFields>},
    {"fine", RecordType::kFine, Read<&Record::fine, json::kFineFields>},
    {"clock", RecordType::kClock, Read<&Record::clock, json::kClockFields>},
    {"sums", RecordType::kSums, ReadChecked<&Record::sums, json::kSumsFields, CheckSums>},
    {"stacks", RecordType::kStacks, ReadChecked<&Record::stacks, json::kStacksFields, CheckStacks>},
    {"allocations", RecordType::kAllocations, Read<&Record::allocations, json::kAllocationsFields>},
    {"gpu", RecordType::kGpu, Read<&Record::gpu, json::kGpuFields>},
    {"task_sums", RecordType::kTaskSums, Read<&Record::task_sums, json::kTaskSumsFields>},
};

// The type where it is first and unadorned, as the format says; otherwise empty.
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

bool ReadPlainChunk(std::string_view line, ChunkFact& fact) {
  return ParseLine<json::kChunkFields>(line, fact) && fact.stop_ns >= fact.start_ns;
}

bool ReadPlainBegin(std::string_view line, BeginFact& fact) { return ParseLine<json::kBeginFields>(line, fact); }

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
  if (ReadPlainChunk(line, record_.chunk)) {
    record_.type = RecordType::kChunk;
    return ParseOutcome::kRecord;
  }
  if (ReadPlainBegin(line, record_.begin)) {
    record_.type = RecordType::kBegin;
    return ParseOutcome::kRecord;
  }
  return ParseGeneral(line);
}

ParseOutcome RecordParser::ParseGeneral(std::string_view line) {
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
  const LineType* type = FindBy(kTypes, &LineType::name, type_name);
  if (type == nullptr) {
    if (object.find_field_unordered("type").get_string().get(type_name)) return refuse("no field `type`");
    type = FindBy(kTypes, &LineType::name, type_name);
    if (type == nullptr) {
      reason_ = std::string(type_name);
      return StopsInsideObject(line) ? ParseOutcome::kTorn : ParseOutcome::kUnknownType;
    }
    if (object.reset().error()) return refuse("not JSON");
  }
  record_.type = type->type;
  if (record_.type == RecordType::kProcess) {
    std::string_view schema;
    if (object.find_field_unordered("schema").get_string().get(schema)) return refuse("no field `schema`");
    if (schema != kRecordSchema) {
      reason_ = std::string(schema);
      return ParseOutcome::kOtherSchema;
    }
    if (object.reset().error()) return refuse("not JSON");
  }
  const Refusal refusal = type->read(object, &record_);
  if (!refusal) {
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) return refuse("more than one JSON object");
    return ParseOutcome::kRecord;
  }
  if (refusal.field.empty()) return refuse("not JSON");
  return refuse("`" + refusal.field + "` " + refusal.complaint);
}

}  // namespace crema
