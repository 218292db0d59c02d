#include "collector/server/dask_feed.h"

#include <algorithm>

#include "collector/document/document_fields.h"
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
  records_of_->feed.Add(bytes);
}

void DaskFeed::AddLine(std::string_view text) {
  const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (line.is_discarded() || !line.is_object()) return model_->CountFault(false);
  const std::string type = TextField(line, "type");
  if (type == "records") {
    const std::string source = TextField(line, "source");
    auto [log, is_new] = logs_.try_emplace(source);
    if (is_new) log->second = std::make_unique<SentLog>(parser_, model_);
    log->second->worker = TextField(line, "worker");
    const int64_t offset = Integer(line, "offset").value_or(0);
    records_of_ = log->second.get();
    records_left_ = static_cast<size_t>(std::max<int64_t>(0, Integer(line, "bytes").value_or(0)));
    repeated_ = static_cast<size_t>(std::max<int64_t>(0, records_of_->end - offset));
    if (offset > records_of_->end) {
      model_->Note(EventKind::kWarning, fmt::format("{} bytes of {} were lost", offset - records_of_->end, source));
      records_of_->end = offset;
    }
  } else if (type == "cluster") {
    AddCluster(line);
  } else if (type == "worker") {
    AddWorker(line);
  } else if (type == "plugin") {
    AddPlugin(line);
  } else if (type == "session") {
    const int64_t time_ns = Integer(line, "time_ns").value_or(model_->now_ns());
    if (TextField(line, "event") == "end") {
      model_->EndSession(time_ns);
    } else {
      model_->BeginSession(time_ns);
    }
  } else if (type == "plan") {
    model_->SetPlan(PlannedEvents(Field(line, "events")));
  } else if (type == "closed") {
    closed_ = true;
    model_->Note(EventKind::kInfo, "the scheduler has closed");
  } else if (type == "bare") {
    AddBare(line);
  } else if (type == "account") {
    if (is_bare_) model_->BareSchedulerAt(address_).AddAccountLine(line);
  } else if (type == "erred") {
    model_->Note(EventKind::kBad, fmt::format("task {} was given up", TextField(line, "key")));
  }
}

void DaskFeed::AddCluster(const Json& line) {
  const std::string epoch = TextField(line, "epoch");
  const std::string version = TextField(line, "dask");  // a plug-in tells it
  if (is_bare_) {
    if (!version.empty()) model_->Note(EventKind::kGood, fmt::format("{} has crema's plug-in now", address_));
    model_->ForgetBareScheduler(address_);
    is_bare_ = false;
  } else if (!epoch_.empty() && epoch != epoch_) {
    model_->Note(EventKind::kWarning, "the scheduler was restarted");
  }
  epoch_ = epoch;
  address_ = TextField(line, "address");
  closed_ = false;
  model_->SetEngine(version.empty() ? "Dask" : "Dask " + version);
}

void DaskFeed::AddBare(const Json& line) {
  if (!is_bare_) model_->Note(EventKind::kWarning, fmt::format("{} has no crema plug-in", address_));
  is_bare_ = true;
  model_->BareSchedulerAt(address_).AddBareLine(line, model_->second());
  constexpr int64_t kMostMalformed = 1'000'000;  // of a second
  model_->CountFault(false, std::clamp<int64_t>(Integer(line, "malformed").value_or(0), 0, kMostMalformed));
}

void DaskFeed::NoteBareWorkers() {
  for (auto* names : {&joined_, &left_}) {
    if (names->empty()) continue;
    constexpr size_t kMostNames = 3;
    const size_t named = std::min(names->size(), kMostNames);
    std::string text =
        fmt::format("{}", fmt::join(names->begin(), names->begin() + static_cast<ptrdiff_t>(named), ", "));
    if (names->size() > named) text += fmt::format(" and {} more", names->size() - named);
    model_->Note(EventKind::kInfo, text + (names == &joined_ ? " joined" : " left"));
    names->clear();
  }
}

void DaskFeed::AddWorker(const Json& line) {
  const std::string address = TextField(line, "worker");
  const std::string event = TextField(line, "event");
  if (is_bare_ && event == "join") joined_.push_back(address);
  if (is_bare_ && event == "leave") left_.push_back(address);
  if (is_bare_) return;
  Worker& worker = workers_[address];
  if (event == "leave") {
    if (worker.ticks_since_left < 0) worker.ticks_since_left = 0;
    return;
  }
  worker.ticks_since_left = -1;
  worker.cores = Integer(line, "threads").value_or(0);
  worker.memory_limit_bytes = Integer(line, "memory_limit_bytes");
}

void DaskFeed::AddPlugin(const Json& line) {
  const std::string address = TextField(line, "worker");
  Worker& worker = workers_[address];
  worker.host = TextField(line, "hostname");
  worker.pid = Integer(line, "pid").value_or(0);
  const std::string failure = TextField(line, "failure");
  if (!failure.empty()) model_->Note(EventKind::kWarning, fmt::format("{} records nothing: {}", address, failure));
  if (worker.cores > 0) {
    model_->AddSchedulerWorker(worker.host, worker.pid, address, worker.cores, worker.memory_limit_bytes);
  }
}

void DaskFeed::Tick() {
  NoteBareWorkers();
  for (auto& [address, worker] : workers_) {
    if (worker.ticks_since_left >= 0) ++worker.ticks_since_left;
  }
  for (const auto& [source, log] : logs_) {
    if (!log->feed.worker().has_value()) continue;
    const LiveWorker& live = model_->workers()[*log->feed.worker()];
    bool is_there = !closed_;
    for (const auto& [address, worker] : workers_) {
      if (worker.host == live.host && worker.pid == live.pid)
        is_there &= worker.ticks_since_left < kTicksForLastRecords;
    }
    model_->SetLife(*log->feed.worker(), is_there);
  }
}

}  // namespace crema
