#include <unordered_map>

#include "collector/exports/export_format.h"
#include "collector/metrics/recorded/sampled_tables.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/optional_sum.h"
#include "collector/records/json_fields.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

// A picture of more shows nothing; names of sections and of generated functions may hold counters.
constexpr size_t kMostStacks = 200'000;
constexpr size_t kMostFunctions = 200'000;

class StackReader {
 public:
  void Add(const StacksFact& fact) {
    const auto numbers = Mapped<std::optional<size_t>>(
        fact.functions, [this](const FunctionFact& function) { return NumberOf(function); });
    for (const StackFact& stack : fact.stacks) {
      StackWeight* const weight = WeightOf({std::string(fact.dataset), std::string(fact.section)}, stack, numbers);
      StackWeight& known = weight != nullptr ? *weight : other_;
      known.samples = SaturatingAdd(known.samples, stack.samples);
      known.cpu_seconds += static_cast<double>(stack.samples) / fact.hertz;
    }
  }

  SampledStacks Take() {
    const std::vector<std::optional<SourceLine>> lines = namer_.LinesOf(native_);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].has_value()) continue;
      SampledFunction& function = stacks_.functions[numbers_of_native_[i]];
      function.file = lines[i]->file;
      function.line = lines[i]->line;
    }
    if (other_.samples > 0) {
      stacks_.places[{"", std::string(kOtherName)}][{stacks_.functions.size()}] = other_;
      stacks_.functions.push_back({std::string(kOtherName), "", {}, ""});
    }
    return std::move(stacks_);
  }

 private:
  bool IsFull() const { return num_stacks_ >= kMostStacks || stacks_.functions.size() >= kMostFunctions; }

  /// nullptr: it found no room.
  StackWeight* WeightOf(StackPlace place, const StackFact& stack, const std::vector<std::optional<size_t>>& numbers) {
    std::vector<size_t> functions;
    functions.reserve(stack.functions.size());
    for (const int64_t function : stack.functions) {
      const std::optional<size_t> number = numbers[static_cast<size_t>(function)];
      if (!number.has_value()) return nullptr;
      functions.push_back(*number);
    }
    if (const auto at = stacks_.places.find(place); at != stacks_.places.end()) {
      if (const auto known = at->second.find(functions); known != at->second.end()) return &known->second;
    }
    if (IsFull()) return nullptr;
    ++num_stacks_;
    return &stacks_.places[std::move(place)][std::move(functions)];
  }

  /// nullopt: it found no room.
  std::optional<size_t> NumberOf(const FunctionFact& fact) {
    SampledFunction reported = {std::string(fact.name), std::string(fact.file), fact.line, std::string(fact.build_id)};
    if (const auto known = reported_.find(reported); known != reported_.end()) return known->second;
    if (IsFull()) return std::nullopt;
    SampledFunction named = reported;
    std::optional<NamedFunction> found =
        reported.line.has_value() ? std::nullopt : namer_.Find(reported.name, reported.file, reported.build_id);
    if (found.has_value()) {
      named.name = found->name;
      named.build_id.clear();
    }
    const auto [place, is_new] = numbers_.try_emplace(named, stacks_.functions.size());
    if (is_new) {
      stacks_.functions.push_back(std::move(named));
      if (found.has_value()) {
        native_.push_back(*std::move(found));
        numbers_of_native_.push_back(place->second);
      }
    }
    reported_.emplace(std::move(reported), place->second);
    return place->second;
  }

  FunctionNamer namer_;
  std::vector<NamedFunction> native_;
  std::vector<size_t> numbers_of_native_;  ///< in `stacks_.functions`
  SampledStacks stacks_;
  StackWeight other_;                           ///< of what found no room
  std::map<SampledFunction, size_t> reported_;  ///< as the records name them
  std::map<SampledFunction, size_t> numbers_;   ///< as people do
  size_t num_stacks_ = 0;
};

}  // namespace

absl::StatusOr<SampledStacks> ReadSampledStacks(const ExportSource& source) {
  const absl::StatusOr<RecordLogs> logs = source.find_logs();
  if (!logs.ok()) return logs.status();
  StackReader reader;
  for (const RecordLog& log : logs->logs) {
    // what cannot be read is named in the measurement's own warnings
    ReadLogOfRun(log, true, logs->all_runs, [&reader](const Record& record) {
      if (record.type == RecordType::kStacks) reader.Add(record.stacks);
    });
  }
  SampledStacks stacks = reader.Take();
  if (stacks.functions.empty()) {
    const char* const remedy = "the records have no stacks of functions; crema run --stacks takes them";
    return absl::NotFoundError(source.measurement.HasChunks() ? remedy : kInsideNeedsGuards);
  }
  return stacks;
}

// `crema export --to folded`, `stacks`, `speedscope` and `pprof`.

namespace {

/// Stacks with their numbers, each stack once, in the order in which they came.
class FoldedLines {
 public:
  void Add(const std::string& stack, int64_t number) {
    const auto [place, is_new] = places_.try_emplace(stack, lines_.size());
    if (is_new) lines_.emplace_back(stack, 0);
    lines_[place->second].second = SaturatingAdd(lines_[place->second].second, number);
  }
  bool Has(const std::string& stack) const { return places_.count(stack) != 0; }
  /// 0 if the stack is unknown.
  int64_t NumberOf(const std::string& stack) const { return Has(stack) ? lines_[places_.at(stack)].second : 0; }
  const std::vector<std::pair<std::string, int64_t>>& all() const { return lines_; }

 private:
  std::vector<std::pair<std::string, int64_t>> lines_;
  std::unordered_map<std::string, size_t> places_;
};

/// Frames are separated by `;`, the number by the last space, stacks by line ends.
std::string FoldedFrame(std::string name) {
  for (char& character : name) {
    if (character == ';') character = ':';
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  }
  return name;
}

/// The frames of a section's path below `root`.
std::string FoldedStack(const std::string& root, const std::string& path) {
  std::string stack = root;
  for (std::string& name : NamesOfPath(path)) stack += ";" + FoldedFrame(std::move(name));
  return stack;
}

/// What a dataset is called in exports of stacks.
std::string DatasetFrame(const std::string& dataset) { return dataset.empty() ? std::string(kNoName) : dataset; }

/// Writes the lines of `source`. If it has a baseline, each line has two numbers, as flamegraph.pl draws a difference:
/// that of the baseline, then its own. Errors: those of `lines_of`.
absl::Status WriteFoldedLines(const ExportSource& source,
                              const std::function<absl::StatusOr<FoldedLines>(const ExportSource&)>& lines_of,
                              TextSink* sink) {
  const absl::StatusOr<FoldedLines> lines = lines_of(source);
  if (!lines.ok()) return lines.status();
  if (source.baseline == nullptr) {
    for (const auto& [stack, number] : lines->all()) sink->Write(fmt::format("{} {}\n", stack, number));
    return absl::OkStatus();
  }
  const absl::StatusOr<FoldedLines> before = lines_of(*source.baseline);
  if (!before.ok()) return before.status();
  for (const auto& [stack, number] : before->all()) {
    sink->Write(fmt::format("{} {} {}\n", stack, number, lines->NumberOf(stack)));
  }
  for (const auto& [stack, number] : lines->all()) {
    if (!before->Has(stack)) sink->Write(fmt::format("{} 0 {}\n", stack, number));
  }
  return absl::OkStatus();
}

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
    const auto same = absl::c_find_if(functions, [&](const FunctionSamples& other) { return other.frame == frame; });
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
  const auto samples = SumOf<double>(functions, &FunctionSamples::samples);
  double until = 0;
  int64_t written = 0;
  for (const FunctionSamples& function : functions) {
    until += function.samples;
    const auto stop = static_cast<int64_t>(std::llround(static_cast<double>(microseconds) * until / samples));
    if (stop > written) lines->Add(stack + ";" + function.frame, stop - written);
    written = std::max(written, stop);
  }
}

void AddSections(const std::vector<SectionRow>& rows, const std::string& root, FoldedLines* lines,
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
  AddSections(source.measurement.sections, "chunks", &lines, FunctionsBySection(source.measurement));
  AddSections(source.measurement.process_sections, "outside chunks", &lines);
  return lines;
}

/// In samples, or in microseconds of CPU time.
absl::StatusOr<FoldedLines> LinesOfStacks(const ExportSource& source, bool in_samples) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  FoldedLines lines;
  for (const auto& [place, by_stack] : stacks->places) {
    const std::string root = FoldedStack("chunks;" + FoldedFrame(DatasetFrame(place.dataset)), place.section);
    for (const auto& [functions, weight] : by_stack) {
      std::string line = root;
      for (const size_t function : functions) line += ";" + FoldedFrame(stacks->functions[function].name);
      lines.Add(line, in_samples ? weight.samples : std::llround(weight.cpu_seconds * 1e6));
    }
  }
  return lines;
}

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

/// A ValueType (its type and unit) or a Label (its key and text).
std::string TwoTexts(Texts* texts, const char* first, const std::string& second) {
  return Message().Integer(1, texts->PlaceOf(first)).Integer(2, texts->PlaceOf(second)).text();
}

}  // namespace

absl::Status WriteFolded(const ExportSource& source, const std::string&, TextSink* sink) {
  if (source.measurement.sections.empty() && source.measurement.process_sections.empty()) {
    return absl::NotFoundError("there is nothing to draw: " + WhyNoRows("sections", source.measurement));
  }
  return WriteFoldedLines(source, &LinesOf, sink);
}

absl::Status WriteFoldedStacks(const ExportSource& source, const std::string&, TextSink* sink) {
  const bool in_samples = source.baseline == nullptr;  // two runs may have been sampled at different rates
  const auto lines_of = [in_samples](const ExportSource& of) { return LinesOfStacks(of, in_samples); };
  return WriteFoldedLines(source, lines_of, sink);
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
  profile.Bytes(1, TwoTexts(&texts, "samples", "count")).Bytes(1, TwoTexts(&texts, "cpu", "nanoseconds"));
  for (const auto& [place, by_stack] : stacks->places) {
    const std::string dataset = TwoTexts(&texts, "dataset", DatasetFrame(place.dataset));
    const std::string section = TwoTexts(&texts, "section", place.section.empty() ? "(no section)" : place.section);
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
