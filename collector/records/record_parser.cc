#include "collector/records/record_parser.h"

#include <simdjson.h>

#include <utility>

#include "collector/records/json_fields.h"
#include "collector/records/record_fields.h"
#include "collector/records/schema.h"

namespace crema {
namespace {

/// The whole line is an object of the table.
template <const auto& kTable, class Fact>
bool TakeLine(std::string_view text, Fact& fact) {
  PlainCursor line(text);
  if (!line.GoTo(json::TakeObject<kTable>(line, fact))) return false;
  line.SkipBlanks();
  return line.AtEnd();
}

}  // namespace

bool ReadPlainChunk(std::string_view line, ChunkFact& fact) {
  return TakeLine<json::kChunkFields>(line, fact) && fact.stop_ns >= fact.start_ns;
}

bool ReadPlainBegin(std::string_view line, BeginFact& fact) { return TakeLine<json::kBeginFields>(line, fact); }

using json::Field;
using json::Refusal;
namespace ondemand = simdjson::ondemand;

namespace {

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

template <class Fact>
void ClearWithContents(Fact& fact) {
  auto sections = Emptied(fact.sections);
  auto memory_sections = Emptied(fact.memory_sections);
  auto metrics = Emptied(fact.metrics);
  auto cuts = Emptied(fact.cuts);
  auto activities = Emptied(fact.activities);
  auto requests = Emptied(fact.requests);
  auto waits = Emptied(fact.waits);
  fact = Fact();
  fact.sections = std::move(sections);
  fact.memory_sections = std::move(memory_sections);
  fact.metrics = std::move(metrics);
  fact.cuts = std::move(cuts);
  fact.activities = std::move(activities);
  fact.requests = std::move(requests);
  fact.waits = std::move(waits);
}

void Clear(ProcessFact& fact) {
  auto arguments = Emptied(fact.arguments);
  fact = ProcessFact();
  fact.arguments = std::move(arguments);
}

void Clear(ChunkFact& fact) {
  auto columns = Emptied(fact.columns);
  ClearWithContents(fact);
  fact.columns = std::move(columns);
}
void Clear(SumsFact& fact) { ClearWithContents(fact); }

template <class Fact>
void ClearOfProcess(Fact& fact) {
  auto sections = Emptied(fact.sections);
  auto metrics = Emptied(fact.metrics);
  fact = Fact();
  fact.sections = std::move(sections);
  fact.metrics = std::move(metrics);
}
void Clear(SampleFact& fact) { ClearOfProcess(fact); }
void Clear(EndFact& fact) { ClearOfProcess(fact); }

void Clear(AllocationsFact& fact) {
  auto sites = Emptied(fact.sites);
  fact = AllocationsFact();
  fact.sites = std::move(sites);
}

void Clear(GpuFact& fact) {
  auto rows = Emptied(fact.rows);
  auto kernels = Emptied(fact.kernels);
  fact = GpuFact();
  fact.rows = std::move(rows);
  fact.kernels = std::move(kernels);
}

void Clear(FineFact& fact) {
  auto rows = Emptied(fact.rows);
  fact = FineFact();
  fact.rows = std::move(rows);
}

template <class Fact, size_t kFields>
Refusal Read(ondemand::object object, const Field<Fact> (&fields)[kFields], Fact& fact) {
  Clear(fact);
  return json::ReadObject(object, fields, fact);
}

template <class Fact>
Refusal CheckInterval(const Fact& fact) {
  return fact.stop_ns < fact.start_ns ? Refusal{"stop_ns", "is before start_ns"} : Refusal{};
}

// A thread cannot be sampled so often.
constexpr double kMostHertz = 1e6;

Refusal CheckStacks(const StacksFact& fact) {
  if (!(fact.hertz > 0 && fact.hertz <= kMostHertz)) return {"hertz", "is no rate of samples"};
  for (const StackFact& stack : fact.stacks) {
    for (const int64_t function : stack.functions) {
      if (static_cast<size_t>(function) >= fact.functions.size())
        return {"stacks", "names a function that is not in the list"};
    }
  }
  return {};
}

// Where native functions lie: what stands before the last `+0x` of their names is a module's.
void LocateFunctions(StacksFact& fact) {
  for (FunctionFact& function : fact.functions) {
    const size_t plus = function.name.rfind("+0x");
    if (plus == std::string_view::npos || !function.file.empty()) continue;
    for (const ModuleFact& module : fact.modules) {
      if (module.name != function.name.substr(0, plus)) continue;
      function.file = module.path;
      function.build_id = module.build_id;
      break;
    }
  }
}

// Each of the chunks lasted no longer than from the first one's begin to the last one's end.
Refusal CheckSums(const SumsFact& fact) {
  if (fact.last_stop_ns < fact.first_start_ns) return {"last_stop_ns", "is before first_start_ns"};
  const auto most_ns = static_cast<double>(fact.last_stop_ns - fact.first_start_ns) * static_cast<double>(fact.chunks);
  if (static_cast<double>(fact.duration_ns) > most_ns) return {"duration_ns", "is more than the chunks' time"};
  return {};
}

constexpr std::pair<std::string_view, RecordType> kTypes[] = {
    {"chunk", RecordType::kChunk},
    {"begin", RecordType::kBegin},
    {"sample", RecordType::kSample},
    {"process", RecordType::kProcess},
    {"file", RecordType::kFile},
    {"span", RecordType::kSpan},
    {"task", RecordType::kTask},
    {"end", RecordType::kEnd},
    {"fine", RecordType::kFine},
    {"clock", RecordType::kClock},
    {"sums", RecordType::kSums},
    {"stacks", RecordType::kStacks},
    {"allocations", RecordType::kAllocations},
    {"gpu", RecordType::kGpu},
    {"task_sums", RecordType::kTaskSums},
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
      refusal = Read(object, json::kProcessFields, record_.process);
      break;
    }
    case RecordType::kBegin:
      refusal = Read(object, json::kBeginFields, record_.begin);
      break;
    case RecordType::kChunk:
      refusal = Read(object, json::kChunkFields, record_.chunk);
      if (!refusal) refusal = CheckInterval(record_.chunk);
      break;
    case RecordType::kSums:
      refusal = Read(object, json::kSumsFields, record_.sums);
      if (!refusal) refusal = CheckSums(record_.sums);
      break;
    case RecordType::kTask:
      refusal = Read(object, json::kTaskFields, record_.task);
      if (!refusal) refusal = CheckInterval(record_.task);
      break;
    case RecordType::kSample:
      refusal = Read(object, json::kSampleFields, record_.sample);
      break;
    case RecordType::kFile:
      refusal = Read(object, json::kFileFields, record_.file);
      break;
    case RecordType::kSpan:
      refusal = Read(object, json::kSpanFields, record_.span);
      if (!refusal) refusal = CheckInterval(record_.span);
      break;
    case RecordType::kFine:
      refusal = Read(object, json::kFineFields, record_.fine);
      break;
    case RecordType::kClock:
      refusal = Read(object, json::kClockFields, record_.clock);
      break;
    case RecordType::kStacks:
      refusal = Read(object, json::kStacksFields, record_.stacks);
      if (!refusal) refusal = CheckStacks(record_.stacks);
      if (!refusal) LocateFunctions(record_.stacks);
      break;
    case RecordType::kAllocations:
      refusal = Read(object, json::kAllocationsFields, record_.allocations);
      break;
    case RecordType::kGpu:
      refusal = Read(object, json::kGpuFields, record_.gpu);
      break;
    case RecordType::kTaskSums:
      refusal = Read(object, json::kTaskSumsFields, record_.task_sums);
      break;
    case RecordType::kEnd:
      refusal = Read(object, json::kEndFields, record_.end);
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
