#include "collector/exports/sampled_stacks.h"

#include "absl/status/status.h"
#include "collector/metrics/contents/function_names.h"
#include "collector/sources/record_log.h"

namespace crema {
namespace {

// A picture of more shows nothing; names of sections may hold counters.
constexpr size_t kMostStacks = 200'000;

class StackReader {
 public:
  void Add(const StacksFact& fact) {
    std::vector<size_t> numbers;
    numbers.reserve(fact.functions.size());
    for (const FunctionFact& function : fact.functions) numbers.push_back(NumberOf(function));
    auto& stacks = stacks_.places[{std::string(fact.dataset), std::string(fact.section)}];
    for (const StackFact& stack : fact.stacks) {
      std::vector<size_t> functions;
      functions.reserve(stack.functions.size());
      for (const int64_t place : stack.functions) functions.push_back(numbers[static_cast<size_t>(place)]);
      auto known = stacks.find(functions);
      if (known == stacks.end()) {
        if (num_stacks_ >= kMostStacks) functions = {NumberOf(FunctionFact{"(other)", "", {}})};
        known = stacks.try_emplace(functions).first;
        ++num_stacks_;
      }
      known->second.samples += stack.samples;
      if (fact.hertz > 0) known->second.cpu_seconds += static_cast<double>(stack.samples) / fact.hertz;
    }
  }

  SampledStacks Take() { return std::move(stacks_); }

 private:
  size_t NumberOf(const FunctionFact& fact) {
    const std::string file(fact.file);
    SampledFunction function = {namer_.NameOf(std::string(fact.name), file, std::string(fact.build_id)), file,
                                fact.line};
    const auto [known, is_new] = numbers_.try_emplace(function, stacks_.functions.size());
    if (is_new) stacks_.functions.push_back(std::move(function));
    return known->second;
  }

  FunctionNamer namer_;
  SampledStacks stacks_;
  std::map<SampledFunction, size_t> numbers_;
  size_t num_stacks_ = 0;
};

}  // namespace

absl::StatusOr<SampledStacks> ReadSampledStacks(const ExportSource& source) {
  const absl::StatusOr<RecordLogs> logs = source.find_logs();
  if (!logs.ok()) return logs.status();
  StackReader reader;
  for (const RecordLog& log : logs->logs) {
    ReadRecordLog(log, true, [&reader](const Record& record) {
      if (record.type == RecordType::kStacks) reader.Add(record.stacks);
    });
  }
  SampledStacks stacks = reader.Take();
  if (stacks.functions.empty()) {
    return absl::NotFoundError("the records have no stacks of functions; crema run --stacks takes them");
  }
  return stacks;
}

std::string DatasetFrame(const std::string& dataset) { return dataset.empty() ? "(no dataset)" : dataset; }

}  // namespace crema
