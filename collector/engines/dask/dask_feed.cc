#include "collector/engines/dask/dask_feed.h"

#include <algorithm>
#include <optional>

#include "collector/records/loose_json.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// A worker that left sends its last records at the same time.
constexpr int kTicksForLastRecords = 3;
constexpr size_t kLongestLine = size_t{64} << 20;

std::optional<int64_t> Integer(const Json& line, std::string_view key) {
  const Json& field = Field(line, key);
  return field.is_number() ? std::optional(field.get<int64_t>()) : std::nullopt;
}

std::map<std::string, int64_t> PlannedEvents(const Json& by_dataset) {
  std::map<std::string, int64_t> planned;
  if (!by_dataset.is_object()) return planned;
  for (const auto& [dataset, events] : by_dataset.items()) {
    if (events.is_number_integer() && events.get<int64_t>() >= 0) planned[dataset] = events.get<int64_t>();
  }
  return planned;
}

}  // namespace

void DaskFeed::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (records_left_ > 0) {
      const std::string_view piece = bytes.substr(0, records_left_);
      AddRecords(piece);
      records_left_ -= piece.size();
      bytes.remove_prefix(piece.size());
      continue;
    }
    const size_t end = bytes.find('\n');
    held_.append(bytes.substr(0, end));
    if (held_.size() > kLongestLine) held_.clear();
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    const std::string line = std::move(held_);
    held_.clear();
    if (!line.empty()) AddLine(line);
  }
}

void DaskFeed::AddRecords(std::string_view bytes) {
  const size_t known = std::min(repeated_, bytes.size());
  repeated_ -= known;
  bytes.remove_prefix(known);
  if (records_of_ == nullptr || bytes.empty()) return;
  records_of_->end += static_cast<int64_t>(bytes.size());
  run_->AddRecords(records_of_->name, bytes);
}

void DaskFeed::BeginRecords(const Json& line) {
  const std::string source = TextField(line, "source");
  SentLog& log = logs_[source];
  log.name = source;
  const int64_t offset = Integer(line, "offset").value_or(0);
  records_of_ = &log;
  records_left_ = static_cast<size_t>(std::max<int64_t>(0, Integer(line, "bytes").value_or(0)));
  repeated_ = static_cast<size_t>(std::max<int64_t>(0, log.end - offset));
  if (offset <= log.end) return;
  run_->Note(EventKind::kWarning, fmt::format("{} bytes of {} were lost", offset - log.end, source));
  log.end = offset;
}

void DaskFeed::AddLine(std::string_view text) {
  const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (line.is_discarded() || !line.is_object()) return run_->CountMalformed(1);
  const std::string type = TextField(line, "type");
  if (type == "records") {
    BeginRecords(line);
  } else if (type == "cluster") {
    AddCluster(line);
  } else if (type == "worker") {
    AddWorker(line);
  } else if (type == "plugin") {
    AddPlugin(line);
  } else if (type == "session") {
    const int64_t time_ns = Integer(line, "time_ns").value_or(run_->now_ns());
    if (TextField(line, "event") == "end") {
      run_->EndSession(time_ns);
    } else {
      run_->BeginSession(time_ns);
    }
  } else if (type == "plan") {
    run_->SetPlan(PlannedEvents(Field(line, "events")));
  } else if (type == "closed") {
    closed_ = true;
    run_->Note(EventKind::kInfo, "the scheduler has closed");
  } else if (type == "erred") {
    run_->Note(EventKind::kBad, fmt::format("task {} was given up", TextField(line, "key")));
  }
}

void DaskFeed::AddCluster(const Json& line) {
  const std::string epoch = TextField(line, "epoch");
  if (!epoch_.empty() && epoch != epoch_) run_->Note(EventKind::kWarning, "the scheduler was restarted");
  epoch_ = epoch;
  closed_ = false;
  run_->SetVersion(TextField(line, "dask"));
}

void DaskFeed::AddWorker(const Json& line) {
  const std::string address = TextField(line, "worker");
  const std::string event = TextField(line, "event");
  Worker& worker = workers_[address];
  if (event == "leave") {
    if (worker.ticks_since_left < 0) worker.ticks_since_left = 0;
    return;
  }
  worker.ticks_since_left = -1;
  worker.fact.address = address;
  worker.fact.threads = Integer(line, "threads").value_or(0);
  worker.fact.memory_limit_bytes = Integer(line, "memory_limit_bytes");
}

void DaskFeed::AddPlugin(const Json& line) {
  const std::string address = TextField(line, "worker");
  ClusterWorkerFact& worker = workers_[address].fact;
  worker.address = address;
  worker.hostname = TextField(line, "hostname");
  worker.pid = Integer(line, "pid").value_or(0);
  const std::string failure = TextField(line, "failure");
  if (!failure.empty()) run_->Note(EventKind::kWarning, fmt::format("{} records nothing: {}", address, failure));
  if (worker.threads > 0) run_->AddWorker(worker);
}

void DaskFeed::Tick() {
  for (auto& [address, worker] : workers_) {
    if (worker.ticks_since_left >= 0) ++worker.ticks_since_left;
  }
  run_->SetLives([this](const std::string& host, int64_t pid) {
    return !closed_ && std::none_of(workers_.begin(), workers_.end(), [&](const auto& entry) {
      const Worker& worker = entry.second;
      const bool is_gone = worker.ticks_since_left >= kTicksForLastRecords;
      return is_gone && worker.fact.hostname == host && worker.fact.pid.value_or(0) == pid;
    });
  });
}

}  // namespace crema
