#include "collector/server/bare_scheduler.h"

#include <algorithm>

#include "collector/document/document_fields.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

int64_t WholeOrNothing(const Json& field) {
  return field.is_number_integer() ? std::max<int64_t>(0, field.get<int64_t>()) : 0;
}

template <class Value>
Value& ValueOf(std::map<std::string, Value>& values, const std::string& name, size_t most) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  return values[values.size() + 1 < most ? name : "(other)"];
}

}  // namespace

void BareScheduler::AddBareLine(const Json& line, int64_t second) {
  counts_.clear();
  const Json& counts = Field(line, "counts");
  if (counts.is_object()) {
    for (const auto& [name, value] : counts.items()) {
      if (value.is_number_integer()) counts_[name] = value.get<int64_t>();
    }
  }
  // a line says what came since the one before it; one of `crema collect` knows no stream
  stream_problem_ = line.contains("stream_problem") ? TextField(line, "stream_problem") : "it was not read";
  if (!stream_problem_.empty()) {
    streams_since_.reset();
  } else if (!streams_since_.has_value()) {
    streams_since_ = second;
    has_streamed_ = true;
  }
  for (const Json& row : ListField(line, "finished")) {
    const int64_t finished = WholeOrNothing(Field(row, "tasks"));
    BareTasks& tasks = ValueOf(tasks_, TextField(row, "prefix"), kMostPrefixes);
    tasks.finished += finished;
    tasks.compute_seconds += NumberField(Field(row, "seconds"), "compute").value_or(0);
    finished_ += finished;
    has_streamed_ = true;
    if (int64_t* bin = recent_.Find(second); bin != nullptr) *bin += finished;
  }
  const Json& by_worker = Field(line, "finished_by_worker");
  if (!by_worker.is_object()) return;
  for (const auto& [worker, finished] : by_worker.items()) {
    ValueOf(finished_by_worker_, worker, kMostWorkers) += WholeOrNothing(finished);
  }
}

void BareScheduler::AddAccountLine(const Json& line) {
  for (auto& [prefix, tasks] : tasks_) tasks.compute_seconds_in_all.reset();
  for (const Json& row : ListField(line, "rows")) {
    const std::optional<double> seconds = NumberField(Field(row, "seconds"), "compute");
    if (!seconds.has_value()) continue;
    BareTasks& tasks = ValueOf(tasks_, TextField(row, "prefix"), kMostPrefixes);
    tasks.compute_seconds_in_all = tasks.compute_seconds_in_all.value_or(0) + *seconds;
  }
}

std::optional<int64_t> BareScheduler::count(const std::string& name) const {
  const auto found = counts_.find(name);
  return found == counts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> BareScheduler::finished() const {
  return has_streamed_ ? std::optional(finished_) : std::nullopt;
}

std::optional<double> BareScheduler::finished_rate(int64_t second) const {
  if (!streams_since_.has_value()) return std::nullopt;
  const int64_t seconds = std::min(kRecentSeconds, second - *streams_since_);
  if (seconds < 1) return std::nullopt;
  return static_cast<double>(recent_.Sum(second - seconds, second - 1)) / static_cast<double>(seconds);
}

}  // namespace crema
