// `crema export --to folded`, `stacks`, `speedscope` and `pprof`.
#include <algorithm>

#include "collector/exports/formats.h"
#include "collector/exports/sampled_stacks.h"
#include "collector/records/loose_json.h"
#include "collector/records/section_path.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

struct FunctionSamples {
  std::string frame;
  double samples = 0;
};

/// The functions of each section that was looked into. Empty where some have no share.
std::map<std::string, std::vector<FunctionSamples>> FunctionsBySection(const Measurement& measurement) {
  std::map<std::string, std::vector<FunctionSamples>> by_section;
  for (const FunctionRow& row : measurement.functions) {
    if (!row.share.has_value()) return {};
    std::vector<FunctionSamples>& functions = by_section[row.section.str()];
    const std::string frame = FoldedFrame(row.function.str());
    const double samples = row.samples.value_or(0);
    const auto same = std::find_if(functions.begin(), functions.end(),
                                   [&frame](const FunctionSamples& other) { return other.frame == frame; });
    if (same == functions.end()) {
      functions.push_back({frame, samples});
    } else {
      same->samples += samples;
    }
  }
  return by_section;
}

/// The section's own time, divided as its samples are: the lines add up to it.
void AddFunctions(const std::string& stack, int64_t microseconds, const std::vector<FunctionSamples>& functions,
                  FoldedLines* lines) {
  double samples = 0;
  for (const FunctionSamples& function : functions) samples += function.samples;
  double until = 0;
  int64_t written = 0;
  for (const FunctionSamples& function : functions) {
    until += function.samples;
    const auto stop = static_cast<int64_t>(std::llround(static_cast<double>(microseconds) * until / samples));
    if (stop > written) lines->Add(stack + ";" + function.frame, stop - written);
    written = std::max(written, stop);
  }
}

void AddRows(const std::vector<SectionRow>& rows, const std::string& root, FoldedLines* lines,
             const std::map<std::string, std::vector<FunctionSamples>>& functions = {}) {
  for (const SectionRow& row : rows) {
    if (!row.self.has_value()) continue;
    const bool is_helper = row.helper.value_or(false);
    const auto microseconds = std::llround(*row.self * 1e6);
    if (microseconds <= 0) continue;
    // helpers run beside the owner: below its root they would make chunks longer than they were
    const std::string stack = FoldedStack(is_helper ? "helpers of " + root : root, row.path.str());
    const auto looked_into = is_helper ? functions.end() : functions.find(row.path.str());
    if (looked_into != functions.end()) {
      AddFunctions(stack, microseconds, looked_into->second, lines);
    } else {
      lines->Add(stack, microseconds);
    }
  }
}

absl::StatusOr<FoldedLines> LinesOf(const ExportSource& source) {
  FoldedLines lines;
  AddRows(source.measurement.sections, "chunks", &lines, FunctionsBySection(source.measurement));
  AddRows(source.measurement.process_sections, "outside chunks", &lines);
  return lines;
}

absl::StatusOr<FoldedLines> LinesOf(const ExportSource& source, int64_t (*number_of)(const StackWeight&)) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  FoldedLines lines;
  for (const auto& [place, by_stack] : stacks->places) {
    const std::string root = FoldedStack("chunks;" + FoldedFrame(DatasetFrame(place.dataset)), place.section);
    for (const auto& [functions, weight] : by_stack) {
      std::string line = root;
      for (const size_t function : functions) line += ";" + FoldedFrame(stacks->functions[function].name);
      lines.Add(line, number_of(weight));
    }
  }
  return lines;
}

absl::StatusOr<FoldedLines> InSamples(const ExportSource& source) {
  return LinesOf(source, [](const StackWeight& weight) { return weight.samples; });
}

/// Two runs may have been sampled at different rates.
absl::StatusOr<FoldedLines> InMicroseconds(const ExportSource& source) {
  return LinesOf(source, [](const StackWeight& weight) -> int64_t { return std::llround(weight.cpu_seconds * 1e6); });
}

using Json = nlohmann::ordered_json;

/// The frames of all profiles: sections come first as frames without a file.
class Frames {
 public:
  size_t NumberOf(const SampledFunction& function) {
    const auto [known, is_new] = numbers_.try_emplace(function, list_.size());
    if (is_new) {
      Json frame = {{"name", function.name}};
      if (!function.file.empty()) frame["file"] = function.file;
      if (function.line.has_value()) frame["line"] = *function.line;
      list_.push_back(std::move(frame));
    }
    return known->second;
  }
  const Json& list() const { return list_; }

 private:
  std::map<SampledFunction, size_t> numbers_;
  Json list_ = Json::array();
};

/// A message of protocol buffers: https://protobuf.dev/programming-guides/encoding.
class Message {
 public:
  /// A field of an integer. Zero is the default, and is left out.
  Message& Integer(int field, int64_t value) {
    if (value == 0) return *this;
    Varint(static_cast<uint64_t>(field) << 3);
    Varint(static_cast<uint64_t>(value));
    return *this;
  }
  /// A field of text, or of a message.
  Message& Bytes(int field, std::string_view bytes) {
    Varint(static_cast<uint64_t>(field) << 3 | 2);
    Varint(bytes.size());
    text_ += bytes;
    return *this;
  }
  /// An integer of a list that is packed.
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The profile's texts, which other messages name by their places. The first is empty.
class Texts {
 public:
  Texts() { PlaceOf(""); }
  int64_t PlaceOf(const std::string& text) {
    const auto [known, is_new] = places_.try_emplace(text, static_cast<int64_t>(places_.size()));
    if (is_new) table_.Bytes(6, text);
    return known->second;
  }
  /// As the profile's fields.
  const std::string& table() const { return table_.text(); }

 private:
  std::map<std::string, int64_t> places_;
  Message table_;
};

std::string ValueType(Texts* texts, const char* type, const char* unit) {
  return Message().Integer(1, texts->PlaceOf(type)).Integer(2, texts->PlaceOf(unit)).text();
}

std::string Label(Texts* texts, const char* key, const std::string& value) {
  return Message().Integer(1, texts->PlaceOf(key)).Integer(2, texts->PlaceOf(value)).text();
}

}  // namespace

absl::Status WriteFolded(const ExportSource& source, const std::string&, TextSink* sink) {
  if (source.measurement.sections.empty() && source.measurement.process_sections.empty()) {
    return absl::NotFoundError("there is nothing to draw: " + std::string(FindTable("sections")->empty));
  }
  return WriteFoldedLines(source, &LinesOf, sink);
}

absl::Status WriteFoldedStacks(const ExportSource& source, const std::string&, TextSink* sink) {
  return WriteFoldedLines(source, source.baseline == nullptr ? &InSamples : &InMicroseconds, sink);
}

absl::Status WriteSpeedscope(const ExportSource& source, const std::string&, TextSink* sink) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  struct Profile {
    Json samples = Json::array();
    Json weights = Json::array();
    double cpu_seconds = 0;
  };
  Frames frames;
  std::map<std::string, Profile> profiles;  // by dataset
  for (const auto& [place, by_stack] : stacks->places) {
    Profile& profile = profiles[DatasetFrame(place.dataset)];
    std::vector<size_t> sections;
    for (const std::string& name : NamesOfPath(place.section)) sections.push_back(frames.NumberOf({name, "", {}, ""}));
    for (const auto& [functions, weight] : by_stack) {
      std::vector<size_t> sample = sections;
      for (const size_t function : functions) sample.push_back(frames.NumberOf(stacks->functions[function]));
      profile.samples.push_back(std::move(sample));
      profile.weights.push_back(weight.cpu_seconds);
      profile.cpu_seconds += weight.cpu_seconds;
    }
  }
  Json list = Json::array();
  for (auto& [dataset, profile] : profiles) {
    list.push_back({{"type", "sampled"},
                    {"name", dataset},
                    {"unit", "seconds"},
                    {"startValue", 0},
                    {"endValue", profile.cpu_seconds},
                    {"samples", std::move(profile.samples)},
                    {"weights", std::move(profile.weights)}});
  }
  const Json document = {{"exporter", "crema " CREMA_VERSION_STRING},
                         {"$schema", "https://www.speedscope.app/file-format-schema.json"},
                         {"shared", {{"frames", frames.list()}}},
                         {"profiles", std::move(list)}};
  sink->Write(JsonText(document) + "\n");
  return absl::OkStatus();
}

absl::Status WritePprof(const ExportSource& source, const std::string&, TextSink* sink) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  Texts texts;
  // First what it is: a file of crema is known by it. A comment is a place in the table of texts, the second.
  const int64_t comment = texts.PlaceOf("crema " CREMA_VERSION_STRING);
  Message profile;
  profile.Integer(13, comment);
  profile.Bytes(1, ValueType(&texts, "samples", "count")).Bytes(1, ValueType(&texts, "cpu", "nanoseconds"));
  for (const auto& [place, by_stack] : stacks->places) {
    const std::string dataset = Label(&texts, "dataset", DatasetFrame(place.dataset));
    const std::string section = Label(&texts, "section", place.section.empty() ? "(no section)" : place.section);
    for (const auto& [functions, weight] : by_stack) {
      Message locations;
      for (auto function = functions.rbegin(); function != functions.rend(); ++function)
        locations.Varint(*function + 1);
      Message values;
      values.Varint(static_cast<uint64_t>(weight.samples));
      values.Varint(static_cast<uint64_t>(std::llround(weight.cpu_seconds * 1e9)));
      Message sample;
      sample.Bytes(1, locations.text()).Bytes(2, values.text()).Bytes(3, dataset).Bytes(3, section);
      profile.Bytes(2, sample.text());
    }
  }
  for (size_t place = 0; place < stacks->functions.size(); ++place) {
    const SampledFunction& function = stacks->functions[place];
    const auto id = static_cast<int64_t>(place) + 1;
    const int64_t line = function.line.value_or(0);
    const std::string in_function = Message().Integer(1, id).Integer(2, line).text();
    profile.Bytes(4, Message().Integer(1, id).Bytes(4, in_function).text());
    Message described;
    described.Integer(1, id).Integer(2, texts.PlaceOf(function.name)).Integer(3, texts.PlaceOf(function.name));
    described.Integer(4, texts.PlaceOf(function.file)).Integer(5, line);
    profile.Bytes(5, described.text());
  }
  sink->Write(texts.table());
  sink->Write(profile.text());
  return absl::OkStatus();
}

}  // namespace crema
