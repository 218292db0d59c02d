// Dask as an engine: its scheduler's dashboard is followed, its log (docs/dask_log.md) is read.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/engines/dask/dask_log.h"
#include "collector/engines/engines.h"
#include "collector/engines/following_thread.h"
#include "collector/engines/http_get.h"
#include "collector/records/loose_json.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// Of `dask://HOST:PORT`, a scheduler's dashboard.
constexpr std::string_view kDaskScheme = "dask://";

constexpr std::chrono::seconds kFlushLimit(60);  // a scheduler may be busy, and a flush waits for workers

absl::Status NoAnswer(const std::string& address, const absl::Status& status) {
  return absl::UnavailableError(fmt::format(
      "{}: no answer ({}); give the address of the scheduler's dashboard, as client.dashboard_link shows it", address,
      std::string(status.message())));
}

absl::StatusOr<HttpAnswer> Ask(const std::string& address, const std::string& target, std::chrono::seconds limit) {
  return HttpGet(address.substr(kDaskScheme.size()), target, limit);
}

/// Why a server that does not know crema's route has no records, with the remedy: NotFound: it is a Dask scheduler
/// without crema's plug-in, or no Dask scheduler. Unavailable: it does not answer any more.
absl::Status WithoutPlugin(const std::string& address, std::chrono::seconds limit) {
  const absl::StatusOr<HttpAnswer> counts = Ask(address, "/json/counts.json", limit);
  if (!counts.ok()) return NoAnswer(address, counts.status());
  if (counts->status == 200 && nlohmann::json::parse(counts->body, nullptr, /*allow_exceptions=*/false).is_object()) {
    return absl::NotFoundError(
        fmt::format("{}: the scheduler has no crema plug-in; attach it with crema_hep.attach(client)", address));
  }
  return absl::NotFoundError(
      fmt::format("{}: is no Dask scheduler (no /json/counts.json); give the address of its dashboard, as "
                  "client.dashboard_link shows it",
                  address));
}

/// Has all workers send what they have, and writes everything that the scheduler keeps into the file `path`.
/// Errors: nobody answers at the address; NotFound: a scheduler without crema's plug-in, or no Dask scheduler.
absl::Status PullDaskLog(const std::string& address, const std::string& path) {
  const absl::StatusOr<HttpAnswer> flushed = Ask(address, "/crema/v1/flush", kFlushLimit);
  if (!flushed.ok()) return NoAnswer(address, flushed.status());
  if (flushed->status == 404) return WithoutPlugin(address, kFlushLimit);
  if (flushed->status != 200) {
    return absl::UnavailableError(fmt::format("{}: answered {} to /crema/v1/flush", address, flushed->status));
  }

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::string since = "0";
  std::string epoch;
  while (true) {
    absl::StatusOr<HttpAnswer> page = Ask(address, "/crema/v1/records?since=" + since, kFlushLimit);
    if (!page.ok()) return NoAnswer(address, page.status());
    if (page->status != 200) {
      return absl::UnavailableError(fmt::format("{}: answered {} to /crema/v1/records", address, page->status));
    }
    const std::string answered_by = page->headers["x-crema-epoch"];
    if (!epoch.empty() && answered_by != epoch) since = "0";  // the scheduler was restarted
    const bool is_restart = !epoch.empty() && answered_by != epoch;
    epoch = answered_by;
    if (is_restart) continue;
    if (page->body.empty()) break;
    file << page->body;
    const std::string next = page->headers["x-crema-next"];
    if (next.empty() || next == since) {
      return absl::UnavailableError(
          fmt::format("{}: its records have no end (page {} leads to itself); is it crema's plug-in?", address, since));
    }
    since = next;
  }
  file.close();
  if (file.fail()) return absl::UnavailableError(fmt::format("{}: cannot be written ({})", path, strerror(errno)));
  return absl::OkStatus();
}

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

/// What crema's plug-in on a Dask scheduler serves (docs/dask_log.md), as it comes.
class DaskFeed : public EngineFeed {
 public:
  explicit DaskFeed(LiveRun* run) : run_(run) {}

  void Add(std::string_view bytes) override {
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
  void Tick() override {
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

 private:
  /// A record log that a worker sends.
  struct SentLog {
    std::string name;
    int64_t end = 0;  ///< offset up to which it came
  };
  struct Worker {
    ClusterWorkerFact fact;
    int ticks_since_left = -1;  ///< -1: it is there
  };

  void AddLine(std::string_view text) {
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
  void BeginRecords(const Json& line) {
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
  void AddRecords(std::string_view bytes) {
    const size_t known = std::min(repeated_, bytes.size());
    repeated_ -= known;
    bytes.remove_prefix(known);
    if (records_of_ == nullptr || bytes.empty()) return;
    records_of_->end += static_cast<int64_t>(bytes.size());
    run_->AddRecords(records_of_->name, bytes);
  }
  void AddWorker(const Json& line) {
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
  void AddPlugin(const Json& line) {
    const std::string address = TextField(line, "worker");
    ClusterWorkerFact& worker = workers_[address].fact;
    worker.address = address;
    worker.hostname = TextField(line, "hostname");
    worker.pid = Integer(line, "pid").value_or(0);
    const std::string failure = TextField(line, "failure");
    if (!failure.empty()) run_->Note(EventKind::kWarning, fmt::format("{} records nothing: {}", address, failure));
    if (worker.threads > 0) run_->AddWorker(worker);
  }
  void AddCluster(const Json& line) {
    const std::string epoch = TextField(line, "epoch");
    if (!epoch_.empty() && epoch != epoch_) run_->Note(EventKind::kWarning, "the scheduler was restarted");
    epoch_ = epoch;
    closed_ = false;
    run_->SetVersion(TextField(line, "dask"));
  }

  LiveRun* run_;
  std::string held_;  ///< not whole yet
  std::string epoch_;
  size_t records_left_ = 0;  ///< bytes of a record log that are to come
  SentLog* records_of_ = nullptr;
  size_t repeated_ = 0;  ///< of them were sent before
  std::map<std::string, SentLog> logs_;
  std::map<std::string, Worker> workers_;
  bool closed_ = false;
};

constexpr std::chrono::seconds kPause(1);
constexpr std::chrono::seconds kAnswerLimit(10);
constexpr size_t kMostWaitingBytes = size_t{16} << 20;

/// Asks a scheduler's plug-in for what is new, again and again, on a thread of its own. A plug-in that is attached
/// later is found within a second. Follows `dask://HOST:PORT`, once a second. It never has workers flush: nothing of
/// the job waits for it. At most 16 MB of pages wait to be taken; then it stops asking until they are.
class DaskFollower : public EngineFollower {
 public:
  explicit DaskFollower(const std::string& address) : address_(address), thread_([this] { Follow(); }) {}

  EngineNews Take() override {
    const std::lock_guard<std::mutex> lock(thread_.mutex);
    EngineNews news = std::move(news_);
    news_ = {};
    news_.answers = news.answers;
    news_.problem = news.problem;
    waiting_bytes_ = 0;
    thread_.wake.notify_all();
    return news;
  }

 private:
  void Follow() {
    absl::Status missing;  // asked for once: to answer it, Dask goes through all its tasks
    std::string since = "0";
    std::string epoch;
    std::unique_lock<std::mutex> lock(thread_.mutex);
    while (!thread_.is_stopping) {
      lock.unlock();
      absl::StatusOr<HttpAnswer> page = Ask(address_, "/crema/v1/records?since=" + since, kAnswerLimit);
      const bool has_no_plugin = page.ok() && page->status == 404;
      if (!has_no_plugin) missing = absl::OkStatus();
      if (has_no_plugin && !absl::IsNotFound(missing)) missing = WithoutPlugin(address_, kAnswerLimit);
      lock.lock();
      bool has_more = false;
      if (has_no_plugin) {
        news_.answers = true;
        news_.problem = std::string(missing.message());
      } else if (page.ok() && page->status == 200) {
        news_.answers = true;
        news_.problem.clear();
        const std::string answered_by = page->headers["x-crema-epoch"];
        const bool is_restart = !epoch.empty() && answered_by != epoch;
        epoch = answered_by;
        has_more = is_restart || !page->body.empty();
        since = is_restart ? "0" : page->headers["x-crema-next"];
        if (!is_restart && !page->body.empty()) AddPage(std::move(page->body));
      } else if (!page.ok()) {
        news_.answers = false;
        news_.problem = fmt::format("{}: no answer ({})", address_, std::string(page.status().message()));
      } else {
        news_.answers = false;
        news_.problem = fmt::format("{}: answered {} to /crema/v1/records", address_, page->status);
      }
      if (!has_more) thread_.Wait(&lock, kPause);
      // g++ 12's wait() without a limit asks for a libstdc++ that systems with glibc 2.34 do not have
      while (!thread_.is_stopping && waiting_bytes_ >= kMostWaitingBytes) thread_.wake.wait_for(lock, kPause);
    }
  }
  void AddPage(std::string page) {
    waiting_bytes_ += page.size();
    news_.pages.push_back(std::move(page));
  }

  std::string address_;
  size_t waiting_bytes_ = 0;  ///< guarded by the thread's mutex, as the next
  EngineNews news_;
  FollowingThread thread_;
};

std::optional<std::string> FindDaskLog(const std::string& path) {
  return IsDaskLog(path) ? std::optional(path) : std::nullopt;
}

std::unique_ptr<EngineFollower> Follow(const std::string& address) { return std::make_unique<DaskFollower>(address); }

std::unique_ptr<EngineFeed> MakeFeed(const std::string&, LiveRun* run) { return std::make_unique<DaskFeed>(run); }

// configuration `distributed.worker.memory.spill` and `.pause`
constexpr EngineMemory kMemory = {
    0.70, 0.80, "the same under Dask",
    "largest worker against its limit: Dask spills to disk from 70 % and pauses a worker at 80 %",
    "spills and pauses earlier"};

constexpr EngineTraits kTraits = {
    "Dask", "scheduler", "task", "Dask logs saved by crema_hep (*.ndjson)", "dask://HOST:PORT", kMemory,
};

}  // namespace

const Engine kDask = {kTraits,      kDaskScheme, kDaskLogSuffix, FindDaskLog, ReadDaskLog,
                      SplitDaskLog, PullDaskLog, Follow,         MakeFeed};

}  // namespace crema
