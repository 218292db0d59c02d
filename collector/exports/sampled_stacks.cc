#include "collector/exports/sampled_stacks.h"

#include "collector/metrics/contents/sampled_tables.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/records/section_path.h"
#include "fmt/format.h"

namespace crema {

std::string FoldedFrame(std::string name) {
  for (char& character : name) {
    if (character == ';') character = ':';
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  }
  return name;
}

std::string FoldedStack(const std::string& root, const std::string& path) {
  std::string stack = root;
  for (std::string& name : NamesOfPath(path)) stack += ";" + FoldedFrame(std::move(name));
  return stack;
}

void FoldedLines::Add(const std::string& stack, int64_t number) {
  const auto [place, is_new] = places_.try_emplace(stack, lines_.size());
  if (is_new) lines_.emplace_back(stack, 0);
  lines_[place->second].second = AddCounts(lines_[place->second].second, number);
}

int64_t FoldedLines::NumberOf(const std::string& stack) const {
  const auto place = places_.find(stack);
  return place == places_.end() ? 0 : lines_[place->second].second;
}

absl::Status WriteFoldedLines(const ExportSource& source, absl::StatusOr<FoldedLines> (*lines_of)(const ExportSource&),
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

namespace {

// A picture of more shows nothing; names of sections and of generated functions may hold counters.
constexpr size_t kMostStacks = 200'000;
constexpr size_t kMostFunctions = 200'000;

class StackReader {
 public:
  void Add(const StacksFact& fact) {
    std::vector<std::optional<size_t>> numbers;
    numbers.reserve(fact.functions.size());
    for (const FunctionFact& function : fact.functions) numbers.push_back(NumberOf(function));
    for (const StackFact& stack : fact.stacks) {
      StackWeight* const weight = WeightOf({std::string(fact.dataset), std::string(fact.section)}, stack, numbers);
      StackWeight& known = weight != nullptr ? *weight : other_;
      known.samples = AddCounts(known.samples, stack.samples);
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
    const auto at = stacks_.places.find(place);
    if (at != stacks_.places.end()) {
      const auto known = at->second.find(functions);
      if (known != at->second.end()) return &known->second;
    }
    if (IsFull()) return nullptr;
    ++num_stacks_;
    return &stacks_.places[std::move(place)][std::move(functions)];
  }

  /// nullopt: it found no room.
  std::optional<size_t> NumberOf(const FunctionFact& fact) {
    SampledFunction reported = {std::string(fact.name), std::string(fact.file), fact.line, std::string(fact.build_id)};
    const auto known = reported_.find(reported);
    if (known != reported_.end()) return known->second;
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
    return absl::NotFoundError("the records have no stacks of functions; crema run --stacks takes them");
  }
  return stacks;
}

std::string DatasetFrame(const std::string& dataset) { return dataset.empty() ? std::string(kNoName) : dataset; }

}  // namespace crema
