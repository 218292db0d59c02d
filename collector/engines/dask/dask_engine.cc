#include "collector/engines/dask/dask_engine.h"

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "collector/compression/decompressed_file.h"
#include "collector/engines/http_get.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/records/facts.h"
#include "collector/records/json_fields.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// So many bytes, or all that are left.
std::string ReadBytes(size_t count, std::istream& from) {
  constexpr size_t kBlockBytes = size_t{1} << 20;  // a count may be far beyond what there is
  std::string bytes;
  while (bytes.size() < count && from) {
    const size_t before = bytes.size();
    bytes.resize(before + std::min(kBlockBytes, count - before));
    from.read(bytes.data() + before, static_cast<std::streamsize>(bytes.size() - before));
    bytes.resize(before + static_cast<size_t>(from.gcount()));
  }
  return bytes;
}

absl::Status CheckSchema(const std::string& path, const Json& first) {
  const bool is_cluster = first.value("type", "") == "cluster";
  const std::string schema = is_cluster ? first.value("schema", "") : "";
  if (schema == kDaskSchema) return absl::OkStatus();
  return absl::FailedPreconditionError(
      is_cluster ? fmt::format("{}:1: its schema is {}, but this crema reads {}; read it with the crema that wrote it",
                               path, schema, kDaskSchema)
                 : fmt::format("{}:1: is not a Dask log (the first line names no schema {}); save it with crema_hep",
                               path, kDaskSchema));
}

std::optional<int64_t> Integer(const Json& fields, std::string_view key) {
  const Json& field = Field(fields, key);
  if (!field.is_number() || std::abs(field.get<double>()) >= 0x1p63) return std::nullopt;
  return field.is_number_float() ? static_cast<int64_t>(field.get<double>()) : field.get<int64_t>();
}

constexpr int64_t kMostOffset = int64_t{1} << 60;  // bytes into a record log; more is damage

void Take(const Json& fields, std::string_view key, std::optional<int64_t>* to) { *to = Integer(fields, key); }
void Take(const Json& fields, std::string_view key, std::optional<double>* to) { *to = NumberField(fields, key); }
void Take(const Json& fields, std::string_view key, int64_t* to) { *to = Integer(fields, key).value_or(0); }
void Take(const Json& fields, std::string_view key, std::string* to) { *to = TextField(fields, key); }

/// Members that have the names of their fields.
template <auto... kMembers, class Fact>
void TakeMembers(const Json& fields, Fact* fact) {
  (Take(fields, NameOfMember<kMembers>(), &(fact->*kMembers)), ...);
}

std::map<std::string, double> Seconds(const Json& fields) {
  std::map<std::string, double> seconds;
  const Json& by_action = Field(fields, "seconds");
  if (!by_action.is_object()) return seconds;
  for (const auto& [action, value] : by_action.items()) {
    if (value.is_number()) seconds[action] = value.get<double>();
  }
  return seconds;
}

/// Finds what lines name: the last worker of an address, a span, the last session of an id.
struct DaskCluster : ClusterFact {
  absl::flat_hash_map<std::string, size_t> worker_at, span_at, session_at;
};

// The worker of this address that is there, else the last that was.
ClusterWorkerFact* FindWorker(DaskCluster& cluster, const std::string& address) {
  const auto worker = cluster.worker_at.find(address);
  return worker == cluster.worker_at.end() ? nullptr : &cluster.workers[worker->second];
}

// Dask's name of what made the scheduler let a worker go, and the status that it knew of the worker then.
void NoteDeparture(const Json& fields, ClusterWorkerFact& worker) {
  const std::string reason = TextField(fields, "reason");
  const std::string status = TextField(fields, "status");  // since minor 2
  const auto is_any = [&reason](std::initializer_list<std::string_view> names) {
    return absl::c_any_of(names, [&](std::string_view name) { return reason.rfind(name, 0) == 0; });
  };
  if (is_any({"retire-workers", "worker-close-gracefully"})) {
    worker.left_reason = "retired";
  } else if (status == "restarting" || is_any({"restart", "client-restart"})) {
    worker.left_reason = "restarted";
  } else if (status.rfind("clos", 0) == 0) {
    worker.left_reason = "closed";
  } else if (is_any({"check-worker-ttl"})) {
    worker.is_lost = true;
    worker.left_reason = "it stopped sending heartbeats";
  } else if (!status.empty()) {
    worker.is_lost = true;
    worker.left_reason = "its connection broke: killed, crashed, or out of memory";
  } else {
    worker.left_unreported = true;
  }
}

void AddWorker(const Json& fields, int64_t time_ns, DaskCluster& cluster) {
  const std::string event = TextField(fields, "event");
  const std::string address = TextField(fields, "worker");
  ClusterWorkerFact* known = FindWorker(cluster, address);
  if (event == "leave") {
    // what a worker said as it closed may come after its connection broke
    const bool is_explained = known != nullptr && known->is_lost && TextField(fields, "status") == "closing";
    if (known == nullptr || (known->left_ns.has_value() && !is_explained)) return;
    known->left_ns = known->left_ns.value_or(time_ns);
    known->is_lost = false;
    return NoteDeparture(fields, *known);
  }
  if (known != nullptr && !known->left_ns.has_value()) return;  // reported twice
  ClusterWorkerFact worker;
  worker.address = address;
  TakeMembers<&ClusterWorkerFact::host, &ClusterWorkerFact::pid, &ClusterWorkerFact::threads,
              &ClusterWorkerFact::memory_limit_bytes>(fields, &worker);
  worker.joined_ns = event == "present" ? 0 : time_ns;
  cluster.worker_at[address] = cluster.workers.size();
  cluster.workers.push_back(std::move(worker));
}

void AddPlugin(const Json& fields, int64_t, DaskCluster& cluster) {
  ClusterWorkerFact* worker = FindWorker(cluster, TextField(fields, "worker"));
  if (worker == nullptr) return;
  TakeMembers<&ClusterWorkerFact::hostname, &ClusterWorkerFact::pid, &ClusterWorkerFact::failure>(fields, worker);
  worker->process_start_ns = Integer(fields, "start_ns");
}

void AddSample(const Json& fields, int64_t time_ns, DaskCluster& cluster) {
  ClusterWorkerFact* worker = FindWorker(cluster, TextField(fields, "worker"));
  if (worker == nullptr) return;
  ClusterSampleFact& sample = worker->samples.emplace_back();
  sample.time_ns = time_ns;
  TakeMembers<&ClusterSampleFact::last_seen_ns, &ClusterSampleFact::memory_bytes,
              &ClusterSampleFact::memory_limit_bytes, &ClusterSampleFact::cpu_percent, &ClusterSampleFact::active,
              &ClusterSampleFact::executing, &ClusterSampleFact::nbytes, &ClusterSampleFact::occupancy,
              &ClusterSampleFact::managed_bytes, &ClusterSampleFact::spilled_bytes,
              &ClusterSampleFact::network_read_bps, &ClusterSampleFact::network_write_bps,
              &ClusterSampleFact::disk_read_bps, &ClusterSampleFact::disk_write_bps,
              &ClusterSampleFact::event_loop_interval, &ClusterSampleFact::fds, &ClusterSampleFact::gil_contention>(
      fields, &sample);
}

void AddAccounts(const Json& fields, int64_t time_ns, DaskCluster& cluster) {
  for (const Json& row : ListField(fields, "rows")) {
    if (!row.is_object()) continue;
    cluster.accounts.push_back({time_ns, TextField(row, "prefix"), Seconds(row)});
  }
}

void AddSpan(const Json& fields, int64_t, DaskCluster& cluster) {
  ClusterSpanFact span;
  TakeMembers<&ClusterSpanFact::id, &ClusterSpanFact::enqueued_ns, &ClusterSpanFact::stop_ns>(fields, &span);
  span.done = fields.value("done", false);
  const size_t at = cluster.span_at.try_emplace(span.id, cluster.spans.size()).first->second;
  GrownAt(&cluster.spans, at) = std::move(span);
}

void AddSession(const Json& fields, int64_t time_ns, DaskCluster& cluster) {
  const std::string id = TextField(fields, "id");
  size_t& at = cluster.session_at.try_emplace(id, cluster.sessions.size()).first->second;
  if (at < cluster.sessions.size() && cluster.sessions[at].end_ns.has_value()) at = cluster.sessions.size();
  ClusterSessionFact& session = GrownAt(&cluster.sessions, at);
  session.id = id;
  if (TextField(fields, "event") == "begin") {
    session.begin_ns = time_ns;
    session.processor = TextField(fields, "processor");
  } else {
    session.end_ns = time_ns;
    session.flushed_ns = Integer(fields, "flushed_ns");
  }
}

void AddFlush(const Json& fields, int64_t, DaskCluster& cluster) {
  cluster.silent.clear();
  const Json& silent = Field(fields, "silent");
  if (!silent.is_object()) return;
  for (const auto& [worker, why] : silent.items())
    cluster.silent[worker] = why.is_string() ? why.get<std::string>() : "";
}

/// What a line of each type adds; null: nothing.
constexpr std::pair<std::string_view, void (*)(const Json& fields, int64_t time_ns, DaskCluster& cluster)> kLines[] = {
    {"worker", AddWorker},
    {"plugin", AddPlugin},
    {"sample", AddSample},
    {"account", AddAccounts},
    {"span", AddSpan},
    {"session", AddSession},
    {"flush", AddFlush},
    {"erred", [](const Json&, int64_t, DaskCluster& cluster) { ++cluster.erred; }},
    {"overhead", nullptr},  // what the plug-in has cost the scheduler
    {"lost",
     [](const Json& fields, int64_t, DaskCluster& cluster) {
       cluster.lost_bytes[TextField(fields, "source")] += Integer(fields, "bytes").value_or(0);
     }},
    {"closed", [](const Json&, int64_t, DaskCluster& cluster) { cluster.closed = true; }},
    {"records", nullptr},
    {"plan", nullptr},  // for who watches the run
};

/// False: a type that is not known.
bool AddLine(const Json& fields, DaskCluster& cluster) {
  const std::string type = TextField(fields, "type");
  const int64_t time_ns = Integer(fields, "time_ns").value_or(cluster.last_ns);
  cluster.last_ns = std::max(cluster.last_ns, time_ns);
  const auto line = absl::c_find_if(kLines, [&](const auto& row) { return row.first == type; });
  if (line == std::end(kLines)) return false;
  if (line->second != nullptr) line->second(fields, time_ns, cluster);
  return true;
}

constexpr size_t kMostProblems = 20;

namespace fs = std::filesystem;

/// A record log that is put together from what was sent of it.
struct SentLog {
  std::string worker;    // who sent it last
  int64_t end = 0;       // offset in the original up to which it was seen
  int64_t missing = 0;   // bytes in between that never came
  bool has_end = false;  // the process said that it ended
  bool adopted = false;  // its process is gone: another one sent it
};

// The name comes from another machine: it must not lead out of the directory.
bool IsSafeName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos && name.size() < 255 &&
         EndsWith(name, kRecordLogSuffix) && !EndsWith(name, fmt::format("{}{}", kLiveCopyMark, kRecordLogSuffix));
}

bool HasEndLine(std::string_view records) {
  constexpr std::string_view kEnd = "{\"type\":\"end\",";
  return records.substr(0, kEnd.size()) == kEnd || records.find(fmt::format("\n{}", kEnd)) != std::string_view::npos;
}

class Splitter {
 public:
  Splitter(fs::path directory, const std::string& name)
      : directory_(std::move(directory)),
        lines_(directory_ / (name + std::string(kDaskLogSuffix)), std::ios::binary | std::ios::trunc) {}

  void Take(const DaskLine& line) {
    if (line.fields["type"] != "records") {
      const std::string type = line.fields["type"];
      if (type == "worker" && line.fields.value("event", "") == "leave") here_.erase(line.fields.value("worker", ""));
      if (type == "worker" && line.fields.value("event", "") != "leave") here_.insert(line.fields.value("worker", ""));
      if (type == "closed") here_.clear();
      lines_ << line.text << '\n';
      return;
    }
    const std::string source = line.fields.value("source", "");
    const auto offset = line.fields["offset"];
    if (!IsSafeName(source) || !offset.is_number_unsigned() || offset.get<uint64_t>() > kMostOffset) {
      Take(DaskLineFault{line.number, false, "the records behind it name no record log"});
      return;
    }
    const auto [entry, is_new] = logs_.try_emplace(source);
    SentLog& log = entry->second;
    log.worker = line.fields.value("worker", "");
    log.adopted = log.adopted || line.fields.value("adopted", false);
    const auto begin = offset.get<int64_t>();
    std::string_view bytes = line.bytes;
    if (begin < log.end) bytes.remove_prefix(std::min<size_t>(bytes.size(), static_cast<size_t>(log.end - begin)));
    if (begin > log.end) log.missing += begin - log.end;
    log.end = std::max(log.end, begin) + static_cast<int64_t>(bytes.size());
    log.has_end = log.has_end || HasEndLine(bytes);
    // There may be more logs than a process may have open.
    std::ofstream file(directory_ / source, std::ios::binary | (is_new ? std::ios::trunc : std::ios::app));
    file << bytes;
    file.close();
    if (file.fail() && status_.ok()) status_ = Failed();
  }

  void Take(const DaskLineFault& fault) {
    const nlohmann::json line = {{"type", "fault"}, {"line", fault.number}, {"torn", fault.torn}, {"what", fault.what}};
    lines_ << line.dump() << '\n';
  }

  // Logs of workers that are still there are no sign of a lost process, as long as they have no end.
  absl::Status Finish() {
    for (auto& [source, log] : logs_) {
      if (log.missing > 0) {
        lines_ << fmt::format("{{\"type\":\"lost\",\"source\":{},\"bytes\":{}}}\n", nlohmann::json(source).dump(),
                              log.missing);
      }
      std::error_code error;
      if (!log.has_end && !log.adopted && here_.count(log.worker) > 0) {
        const std::string stem = source.substr(0, source.size() - kRecordLogSuffix.size());
        fs::rename(directory_ / source, directory_ / fmt::format("{}{}{}", stem, kLiveCopyMark, kRecordLogSuffix),
                   error);
      }
      if (error) return Failed();
    }
    lines_.close();
    return lines_.fail() && status_.ok() ? Failed() : status_;
  }

 private:
  absl::Status Failed() const {
    return absl::UnavailableError(fmt::format("{}: cannot be written ({})", directory_.string(), strerror(errno)));
  }

  fs::path directory_;
  absl::Status status_;
  std::ofstream lines_;
  std::map<std::string, SentLog> logs_;
  std::set<std::string> here_;
};

// Dask as an engine: its scheduler's dashboard is followed, its log (docs/dask_log.md) is read.

/// The scheme of `dask://HOST:PORT`, a scheduler's dashboard.
constexpr std::string_view kDaskScheme = "dask://";

constexpr std::chrono::seconds kFlushLimit(60);  // a scheduler may be busy, and a flush waits for workers

absl::Status NoAnswer(const std::string& address, const absl::Status& status) {
  return absl::UnavailableError(fmt::format(
      "{}: no answer ({}); give the host and port of the scheduler's dashboard, which client.dashboard_link shows, "
      "as dask://HOST:PORT. "
      "The records of a cluster that has ended are gone, unless MetricsCollector(client, output_dir=...) kept them",
      address, std::string(status.message())));
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
      fmt::format("{}: is not a Dask scheduler (no /json/counts.json); give the host and port of its dashboard, which "
                  "client.dashboard_link shows, as dask://HOST:PORT",
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
    const std::string before = std::exchange(epoch, page->headers["x-crema-epoch"]);
    if (!before.empty() && before != epoch) {  // the scheduler was restarted
      since = "0";
      continue;
    }
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

/// A worker that left sends its last records at the same time.
constexpr int kTicksForLastRecords = 3;
constexpr size_t kLongestLine = size_t{64} << 20;

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
  explicit DaskFeed(LiveObserver* run) : run_(run) {}

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
    const std::vector<ClusterWorkerFact>& workers = cluster_.workers;
    ticks_since_left_.resize(workers.size());
    std::map<std::pair<std::string_view, int64_t>, int> ticks;  // of the last worker of a process
    for (size_t i = 0; i < workers.size(); ++i) {
      ticks_since_left_[i] += workers[i].left_ns.has_value();
      ticks[{workers[i].hostname, workers[i].pid.value_or(0)}] = ticks_since_left_[i];
    }
    run_->SetLives([&](const std::string& host, int64_t pid) {
      return !closed_ && ValueOr(ticks, std::pair<std::string_view, int64_t>(host, pid), 0) < kTicksForLastRecords;
    });
  }

 private:
  void AddLine(std::string_view text) {
    const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) return run_->CountMalformed(1);
    if (const std::string type = TextField(line, "type"); type == "records") {
      BeginRecords(line);
    } else if (type == "cluster") {
      AddCluster(line);
    } else if (type == "worker") {
      crema::AddWorker(line, Integer(line, "time_ns").value_or(run_->now_ns()), cluster_);
    } else if (type == "plugin") {
      AddPlugin(line);
    } else if (type == "session") {
      const int64_t time_ns = Integer(line, "time_ns").value_or(run_->now_ns());
      TextField(line, "event") == "end" ? run_->EndSession(time_ns) : run_->BeginSession(time_ns);
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
    records_of_ = &*ends_.try_emplace(source, 0).first;
    int64_t& end = records_of_->second;
    const int64_t offset = std::clamp<int64_t>(Integer(line, "offset").value_or(0), 0, kMostOffset);
    records_left_ = static_cast<size_t>(std::max<int64_t>(0, Integer(line, "bytes").value_or(0)));
    repeated_ = static_cast<size_t>(std::max<int64_t>(0, end - offset));
    if (offset <= end) return;
    run_->Note(EventKind::kWarning, fmt::format("{} bytes of {} were lost", offset - end, source));
    end = offset;
  }
  void AddRecords(std::string_view bytes) {
    const size_t known = std::min(repeated_, bytes.size());
    repeated_ -= known;
    bytes.remove_prefix(known);
    if (records_of_ == nullptr || bytes.empty()) return;
    records_of_->second += static_cast<int64_t>(bytes.size());
    run_->AddRecords(records_of_->first, bytes);
  }
  void AddPlugin(const Json& line) {
    crema::AddPlugin(line, 0, cluster_);
    const ClusterWorkerFact* const worker = FindWorker(cluster_, TextField(line, "worker"));
    if (worker == nullptr) return;
    if (!worker->failure.empty()) {
      run_->Note(EventKind::kWarning, fmt::format("{} records nothing: {}", worker->address, worker->failure));
    }
    if (worker->threads > 0) run_->AddWorker(*worker);
  }
  void AddCluster(const Json& line) {
    const std::string epoch = TextField(line, "epoch");
    if (!epoch_.empty() && epoch != epoch_) run_->Note(EventKind::kWarning, "the scheduler was restarted");
    epoch_ = epoch;
    closed_ = false;
    run_->SetVersion(TextField(line, "dask"));
  }

  LiveObserver* run_;
  std::string held_;  ///< not whole yet
  std::string epoch_;
  size_t records_left_ = 0;                                      ///< bytes of a record log that are to come
  std::pair<const std::string, int64_t>* records_of_ = nullptr;  ///< one of `ends_`
  size_t repeated_ = 0;                                          ///< of them were sent before
  std::map<std::string, int64_t> ends_;  ///< by record log that a worker sends: offset up to which it came
  DaskCluster cluster_;                  ///< its workers
  std::vector<int> ticks_since_left_;    ///< by worker; 0: it is there
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

  FollowResult Poll() override {
    const std::lock_guard<std::mutex> lock(thread_.mutex);
    FollowResult news = {std::exchange(news_.pages, {}), news_.answers, news_.problem};
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
      news_.answers = has_no_plugin || (page.ok() && page->status == 200);
      if (has_no_plugin) {
        news_.problem = std::string(missing.message());
      } else if (news_.answers) {
        news_.problem.clear();
        const std::string before = std::exchange(epoch, page->headers["x-crema-epoch"]);
        const bool is_restart = !before.empty() && before != epoch;
        has_more = is_restart || !page->body.empty();
        since = is_restart ? "0" : page->headers["x-crema-next"];
        if (!is_restart && !page->body.empty()) {
          waiting_bytes_ += page->body.size();
          news_.pages.push_back(std::move(page->body));
        }
      } else {
        news_.problem = page.ok() ? fmt::format("{}: answered {} to /crema/v1/records", address_, page->status)
                                  : fmt::format("{}: no answer ({})", address_, std::string(page.status().message()));
      }
      if (!has_more) thread_.Wait(&lock, kPause);
      // g++ 12's wait() without a limit asks for a libstdc++ that systems with glibc 2.34 do not have
      while (!thread_.is_stopping && waiting_bytes_ >= kMostWaitingBytes) thread_.wake.wait_for(lock, kPause);
    }
  }

  std::string address_;
  size_t waiting_bytes_ = 0;  ///< guarded by the thread's mutex, as the next
  FollowResult news_;
  FollowingThread thread_;
};

std::optional<std::string> FindDaskLog(const std::string& path) {
  constexpr std::string_view kBegin = "{\"type\":\"cluster\",\"schema\":\"crema.dask/";
  return ReadBeginning(path, kBegin.size()) == kBegin ? std::optional(path) : std::nullopt;
}

std::unique_ptr<EngineFollower> Follow(const std::string& address) { return std::make_unique<DaskFollower>(address); }

std::unique_ptr<EngineFeed> MakeFeed(const std::string&, LiveObserver* run) { return std::make_unique<DaskFeed>(run); }

// configuration `distributed.worker.memory.spill` and `.pause`
constexpr EngineMemory kMemory = {
    0.70, 0.80, "the same under Dask",
    "largest worker against its limit: Dask spills to disk from 70 % and pauses a worker at 80 %",
    "spills and pauses earlier"};

constexpr EngineTraits kDaskTraits = {
    "Dask", "scheduler", "task", "Dask logs saved by crema_hep (*.ndjson)", "dask://HOST:PORT", kMemory,
};

}  // namespace

absl::Status ForEachDaskLine(const std::string& path, const std::function<void(const DaskLine&)>& on_line,
                             const std::function<void(const DaskLineFault&)>& on_fault) {
  DecompressedStream file(path);
  bool checked = false;
  int64_t number = 1;
  for (std::string text; std::getline(file, text); ++number) {
    const bool whole = !file.eof();
    if (text.empty()) continue;
    DaskLine line = {number, Json::parse(text, nullptr, /*allow_exceptions=*/false), text, {}};
    if (!Field(line.fields, "type").is_string()) {
      on_fault({number, !whole, whole ? "not a JSON object with a type" : "the rest of this line was never written"});
      continue;
    }
    if (!checked) {
      if (absl::Status status = CheckSchema(path, line.fields); !status.ok()) return status;
      checked = true;
    }
    std::string bytes;
    if (line.fields["type"] == "records") {
      const auto& size = line.fields["bytes"];
      if (!size.is_number_unsigned()) {
        on_fault({number, false, "`bytes` is not a size; the records that follow are read as lines"});
        continue;
      }
      bytes = ReadBytes(size.get<size_t>(), file);
      line.bytes = bytes;
      if (bytes.size() < size.get<size_t>()) {
        on_fault({number, true, "the records behind it were never written in full"});
      }
      number += absl::c_count(bytes, '\n');
    }
    on_line(line);
  }
  if (!file.status().ok()) {
    const std::string why(file.status().message());
    if (!checked || !IsCompressed(path)) return absl::UnavailableError(fmt::format("{}: {}", path, why));
    on_fault({number, true, fmt::format("{}; what was read so far is used", why)});
  }
  if (checked) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("{}: is empty, or no Dask log", path));
}

absl::StatusOr<EngineReading> ReadDaskLog(const std::string& path) {
  EngineReading reading;
  std::vector<DaskCluster> clusters;
  const auto on_fault = [&](const DaskLineFault& fault) {
    ++(fault.torn ? reading.torn : reading.malformed);
    if (reading.problems.size() < kMostProblems) {
      reading.problems.push_back(fmt::format("{}:{}: {}; it was left out", path, fault.number, fault.what));
    }
  };
  const auto on_line = [&](const DaskLine& line) {
    ++reading.lines;
    if (line.fields["type"] == "fault") {  // seen when the log was taken apart
      on_fault(
          {line.fields.value("line", int64_t{0}), line.fields.value("torn", false), TextField(line.fields, "what")});
      return;
    }
    if (line.fields["type"] == "cluster") {
      const std::string epoch = TextField(line.fields, "epoch");
      const bool is_new = clusters.empty() || clusters.back().epoch != epoch;
      if (is_new) clusters.emplace_back();
      DaskCluster& cluster = clusters.back();
      cluster.epoch = epoch;
      cluster.address = TextField(line.fields, "address");
      cluster.version = TextField(line.fields, "dask");
      if (is_new) cluster.first_ns = cluster.last_ns = Integer(line.fields, "time_ns").value_or(0);
    } else if (!AddLine(line.fields, clusters.back())) {
      ++reading.unknown;
    }
  };
  if (absl::Status status = ForEachDaskLine(path, on_line, on_fault); !status.ok()) return status;
  Append(&reading.clusters, std::move(clusters));
  return reading;
}

absl::Status SplitDaskLog(const std::string& path, const std::string& directory, const std::string& name) {
  Splitter splitter(directory, name);
  absl::Status read = ForEachDaskLine(
      path, [&](const DaskLine& line) { splitter.Take(line); },
      [&](const DaskLineFault& fault) { splitter.Take(fault); });
  return read.ok() ? splitter.Finish() : read;
}

const Engine kDask = {kDaskTraits,  kDaskScheme, kDaskLogSuffix, FindDaskLog, ReadDaskLog,
                      SplitDaskLog, PullDaskLog, Follow,         MakeFeed};

}  // namespace crema
