// `crema export --to stacks`.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "collector/exports/folded_line.h"
#include "collector/exports/formats.h"
#include "collector/metrics/contents/function_names.h"
#include "collector/sources/record_log.h"

namespace crema {
namespace {

// A picture of more shows nothing; names of sections may hold counters.
constexpr size_t kMostLines = 200'000;

class FoldedStacks {
 public:
  void Add(const StacksFact& stacks) {
    std::string place = "chunks;" + FoldedFrame(stacks.dataset.empty() ? "(no dataset)" : std::string(stacks.dataset));
    if (!stacks.section.empty()) place = FoldedStack(place, std::string(stacks.section));
    for (const StackFact& stack : stacks.stacks) {
      std::string line = place;
      for (const int64_t function : stack.functions) {
        const FunctionFact& fact = stacks.functions[static_cast<size_t>(function)];
        line += ";" +
                FoldedFrame(namer_.NameOf(std::string(fact.name), std::string(fact.file), std::string(fact.build_id)));
      }
      if (lines_.size() >= kMostLines && lines_.count(line) == 0) line = "chunks;(other)";
      lines_[std::move(line)] += stack.samples;
    }
  }
  const std::map<std::string, int64_t>& lines() const { return lines_; }

 private:
  FunctionNamer namer_;
  std::map<std::string, int64_t> lines_;
};

}  // namespace

absl::Status WriteFoldedStacks(const ExportSource& source, const std::string&, TextSink* sink) {
  const absl::StatusOr<RecordLogs> logs = source.find_logs();
  if (!logs.ok()) return logs.status();
  FoldedStacks stacks;
  for (const RecordLog& log : logs->logs) {
    ReadRecordLog(log, true, [&stacks](const Record& record) {
      if (record.type == RecordType::kStacks) stacks.Add(record.stacks);
    });
  }
  if (stacks.lines().empty()) {
    return absl::NotFoundError("the records have no stacks of functions; crema run --stacks takes them");
  }
  for (const auto& [line, samples] : stacks.lines()) sink->Write(fmt::format("{} {}\n", line, samples));
  return absl::OkStatus();
}

}  // namespace crema
