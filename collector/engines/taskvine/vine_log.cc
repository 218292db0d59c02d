#include "collector/engines/taskvine/vine_log.h"

#include <sys/stat.h>

#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/str_split.h"
#include "collector/engines/log_lines.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/sequences.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;
/// Clocks nearer than this are taken for one: what the manager sends takes as long.
constexpr int64_t kSameClockNs = 1'000'000;

/// `{"cores":[2,"cores"]}`: the number of `key`.
std::optional<double> Reading(const nlohmann::json& values, const char* key) {
  const auto found = values.find(key);
  if (found == values.end() || !found->is_array() || found->empty() || !found->front().is_number()) return std::nullopt;
  const double value = found->front().get<double>();
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

/// Seconds since 1970, as nanoseconds.
std::optional<int64_t> TimeNs(const nlohmann::json& values, const char* key) {
  const std::optional<double> seconds = Reading(values, key);
  if (!seconds.has_value() || *seconds <= 0 || *seconds > 9e9) return std::nullopt;
  return static_cast<int64_t>(std::llround(*seconds * 1e6)) * 1000;  // microseconds are what the engine has
}

/// 0: not reported.
int32_t CoresOf(const nlohmann::json& values) {
  constexpr double kMost = 1e6;
  const double cores = Reading(values, "cores").value_or(0);
  return cores >= 1 && cores <= kMost ? static_cast<int32_t>(cores) : 0;
}

std::optional<int64_t> BytesOf(const nlohmann::json& values, const char* key) {
  const std::optional<double> megabytes = Reading(values, key);
  if (!megabytes.has_value() || *megabytes < 0 || *megabytes > 1e12) return std::nullopt;
  return static_cast<int64_t>(*megabytes * static_cast<double>(kMegabyte));
}

bool IsFailure(std::string_view reason) {
  return reason == "FAILURE" || reason == "XFER_ERRORS" || reason == "UNKNOWN" || reason == "FAST_ABORT";
}

/// Where the object that begins at `begin` ends; npos: it does not.
size_t EndOfObject(std::string_view text, size_t begin) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = in_string && c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

bool StopsInsideObject(std::string_view line) {
  for (size_t begin = line.find('{'); begin != std::string_view::npos; begin = line.find('{', begin)) {
    begin = EndOfObject(line, begin);
    if (begin == std::string_view::npos) return true;
  }
  return false;
}

/// A line taken apart: words up to the first `{`, and the objects that follow.
struct VineEvent {
  int64_t time_ns = 0;
  int64_t manager = 0;
  std::vector<std::string> words;  // after time and manager
  std::vector<nlohmann::json> objects;

  std::string_view word(size_t i) const { return i < words.size() ? std::string_view(words[i]) : std::string_view(); }
};

/// Words are apart by one blank or more; nullopt: the line is cut inside an object, or not one of these.
std::optional<VineEvent> Parse(std::string_view line) {
  VineEvent event;
  std::vector<std::string>& words = event.words;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {
      ++at;
    } else if (line[at] == '{') {
      const size_t end = EndOfObject(line, at);
      if (end == std::string_view::npos) return std::nullopt;
      nlohmann::json object = nlohmann::json::parse(line.substr(at, end - at), nullptr, /*allow_exceptions=*/false);
      if (!object.is_object()) return std::nullopt;
      event.objects.push_back(std::move(object));
      at = end;
    } else {
      const size_t end = std::min(line.find(' ', at), line.size());
      words.emplace_back(line.substr(at, end - at));
      at = end;
    }
  }
  if (words.size() < 4) return std::nullopt;
  const std::optional<int64_t> time_us = Parsed<int64_t>(words[0]);
  const std::optional<int64_t> manager = Parsed<int64_t>(words[1]);
  constexpr int64_t kMostUs = std::numeric_limits<int64_t>::max() / 1000;
  if (!time_us.has_value() || !manager.has_value() || *time_us <= 0 || *time_us > kMostUs) return std::nullopt;
  event.time_ns = *time_us * 1000;
  event.manager = *manager;
  words.erase(words.begin(), words.begin() + 2);
  return event;
}

namespace fs = std::filesystem;

// Work Queue's line has no second `manager_pid`.
bool BeginsAsTransactions(const fs::path& path) {
  return BeginsWithLine(path.string(), "# time manager_pid MANAGER manager_pid");
}

/// That of one run, whether `directory` is its own or that of its logs.
std::optional<std::string> TransactionsIn(const fs::path& directory) {
  for (const fs::path& folder : {directory, directory / "vine-logs"}) {
    for (const char* name : {"transactions", "transactions.gz", "transactions.zst"}) {
      if (BeginsAsTransactions(folder / name)) return (folder / name).string();
    }
  }
  return std::nullopt;
}

/// The performance log beside transactions; nullopt: there is none.
std::optional<std::string> PerformanceBeside(const std::string& transactions) {
  const fs::path path(transactions);
  if (NameBeforeCompression(path.filename().string()) != "transactions") return std::nullopt;
  std::error_code error;
  for (const char* name : {"performance", "performance.gz", "performance.zst"}) {
    if (const fs::path beside = path.parent_path() / name; fs::is_regular_file(beside, error)) return beside.string();
  }
  return std::nullopt;
}

absl::Status Append(const std::string& from, std::ofstream& to) {
  DecompressedStream source(from);
  if (!source) return absl::NotFoundError(fmt::format("{} cannot be read", from));
  if (source.peek() != std::istream::traits_type::eof()) to << source.rdbuf();
  return absl::OkStatus();
}

/// Whether a process of this host has the file open. /proc hides the files of other users' processes.
bool HasOpen(int64_t pid, const std::string& path) {
  struct stat wanted = {}, open = {};
  if (stat(path.c_str(), &wanted) != 0) return false;
  std::error_code error;
  fs::directory_iterator entry(fmt::format("/proc/{}/fd", pid), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const bool is_known = stat(entry->path().c_str(), &open) == 0;
    if (is_known && open.st_dev == wanted.st_dev && open.st_ino == wanted.st_ino) return true;
  }
  return false;
}

/// What `Add` makes of a line.
enum class VineLine { kTaken, kUnknown, kMalformed, kTorn };
bool IsBad(VineLine line) { return line == VineLine::kMalformed || line == VineLine::kTorn; }

/// Takes the lines of `transactions` in order, what happened to workers and tasks, each with the manager's time in
/// microseconds, and makes a cluster of each manager. Work Queue's older forms of the lines are taken too.
class VineTransactions {
 public:
  explicit VineTransactions(const TaskNames& names) : names_(names) {}

  VineLine Add(std::string_view line) {
    const std::optional<VineEvent> parsed = Parse(line);
    if (!parsed.has_value()) return StopsInsideObject(line) ? VineLine::kTorn : VineLine::kMalformed;
    const VineEvent& event = *parsed;
    Manager& manager = ManagerOf(event.manager, event.time_ns);
    manager.cluster.last_ns = std::max(manager.cluster.last_ns, event.time_ns);
    const std::string_view object = event.word(0);
    if (object == "WORKER") return AddWorker(event, &manager);
    if (object == "TASK") return AddTask(event, &manager);
    if (object == "MANAGER") {
      // Work Queue leaves its pid out here.
      if (event.word(1) != "END" && event.word(2) != "END") return VineLine::kTaken;
      ClusterSessionFact& session = manager.cluster.sessions.back();
      session.end_ns = session.flushed_ns = event.time_ns;
      manager.cluster.closed = true;
      return VineLine::kTaken;
    }
    if (object == "LIBRARY") {
      if (const auto id = Parsed<int64_t>(event.word(1))) manager.libraries.insert(*id);
      return VineLine::kTaken;
    }
    const bool reports_no_task = object == "CATEGORY" || object == "APPLICATION" || object == "TRANSFER";
    return reports_no_task ? VineLine::kTaken : VineLine::kUnknown;
  }

  /// For who follows the lines while they grow: calls `visit(cluster, ready, running, pid)` for each manager, with all
  /// its workers, the tasks that ended since, and the numbers of those that no worker has and that one has, output that
  /// waits there included. It forgets the tasks that it reported, so nothing is left to `Finish`.
  template <class Visit>
  void ReportNews(const Visit& visit) {
    for (Manager& manager : managers_) {
      int64_t ready = 0, running = 0;
      for (const auto& [task, attempt] : manager.attempts) {
        if (manager.libraries.count(task) > 0) continue;
        ++(attempt.commit_ns.has_value() ? running : ready);
      }
      visit(manager.cluster, ready, running, manager.pid);
      manager.cluster.tasks.clear();
      manager.last_tries.clear();
      manager.timed.clear();
    }
  }

  std::vector<ClusterFact> Finish() && {
    std::vector<ClusterFact> clusters;
    for (Manager& manager : managers_) {
      AlignClocks(&manager);
      for (const auto& [task, last] : manager.last_tries) {
        manager.cluster.tasks[last].is_last = manager.attempts.count(task) == 0;
      }
      for (ClusterWorkerFact& worker : manager.cluster.workers) {
        if (!worker.is_lost) continue;
        manager.cluster.complaints.push_back(
            fmt::format("{} was lost: the manager says {}", worker.address, worker.left_reason));
      }
      // Libraries are not tasks: they run functions, as long as their worker is there.
      for (const int64_t library : manager.libraries) manager.attempts.erase(library);
      if (!manager.attempts.empty()) {
        size_t running = 0;
        for (const auto& [id, attempt] : manager.attempts) running += attempt.commit_ns.has_value();
        manager.cluster.complaints.push_back(
            fmt::format("{} of the manager's tasks had not ended when its log stops; {} were on a worker, and their "
                        "end is not known",
                        manager.attempts.size(), running));
      }
      clusters.push_back(std::move(manager.cluster));
    }
    return clusters;
  }

 private:
  /// One attempt at a task, as far as it came. Times are the manager's, but those of the worker.
  struct Attempt {
    std::string category;
    int64_t number = 0;
    int64_t ready_ns = 0;
    std::string worker;
    int32_t cores = 0;                  ///< that it was given; 0: not known
    std::optional<int64_t> commit_ns;   ///< these were held from here; nullopt: it was not sent
    std::optional<int64_t> sent_ns;     ///< all that it needs was there
    std::optional<int64_t> waiting_ns;  ///< the manager heard that it ended
    std::optional<int64_t> worker_start_ns;
    std::optional<int64_t> worker_stop_ns;
  };
  struct Manager {
    ClusterFact cluster;
    int64_t pid = 0;
    std::map<int64_t, Attempt> attempts;  // open ones, by task
    std::set<int64_t> libraries;
    std::map<int64_t, size_t> last_tries;       // by task: index of the last in `cluster`; not of cancelled ones
    std::map<std::string, size_t> workers;      // by id: index of the last
    std::map<std::string, std::string> ids;     // Work Queue names workers by their address in lines of tasks
    std::vector<std::optional<Attempt>> timed;  // by task in `cluster`: those with times of the worker
  };

  Manager& ManagerOf(int64_t pid, int64_t time_ns) {
    const std::string address = fmt::format("manager {}", pid);
    for (auto manager = managers_.rbegin(); manager != managers_.rend(); ++manager) {
      if (manager->cluster.address == address && !manager->cluster.closed) return *manager;
    }
    managers_.emplace_back().pid = pid;
    ClusterFact& cluster = managers_.back().cluster;
    cluster.address = address;
    cluster.epoch = fmt::format("{} {}", pid, time_ns);
    cluster.first_ns = cluster.last_ns = time_ns;
    cluster.sessions.emplace_back().begin_ns = time_ns;
    cluster.counts = {{"done", 0}, {"dispatched", 0}, {"joined", 0}};
    return managers_.back();
  }

  static VineLine AddWorker(const VineEvent& event, Manager* manager) {
    const std::string id(event.word(1));
    // Work Queue: `WORKER id host:port CONNECTION`
    const bool is_queue = event.word(3) == "CONNECTION" || event.word(3) == "DISCONNECTION";
    const std::string_view what = is_queue ? event.word(3) : event.word(2);
    const std::string_view rest = what == "CONNECTION" && is_queue ? event.word(2) : event.word(is_queue ? 4 : 3);
    ClusterFact& cluster = manager->cluster;
    const auto known = manager->workers.find(id);
    ClusterWorkerFact* worker = known == manager->workers.end() ? nullptr : &cluster.workers[known->second];
    if (what == "CONNECTION") {
      if (worker != nullptr && !worker->left_ns.has_value()) {  // its connection broke, and the manager did not say so
        worker->left_ns = event.time_ns;
        worker->left_reason = "it connected again";
        worker->is_lost = true;
      }
      ClusterWorkerFact& joined = cluster.workers.emplace_back();
      joined.address = id;
      joined.host = std::string(rest.substr(0, rest.rfind(':')));
      joined.joined_ns = event.time_ns;
      manager->workers[id] = cluster.workers.size() - 1;
      if (is_queue) manager->ids[std::string(rest)] = id;
      ++cluster.counts["joined"];
      return VineLine::kTaken;
    }
    if (what == "DISCONNECTION") {
      if (worker == nullptr || worker->left_ns.has_value()) return VineLine::kTaken;
      worker->left_ns = event.time_ns;
      worker->left_reason = std::string(rest);
      worker->is_lost = IsFailure(rest);
      return VineLine::kTaken;
    }
    if (what == "RESOURCES") {
      if (event.objects.empty()) return VineLine::kMalformed;
      if (worker == nullptr) return VineLine::kTaken;
      const nlohmann::json& resources = event.objects.front();
      if (const int32_t cores = CoresOf(resources); cores > 0) worker->threads = cores;
      worker->memory_limit_bytes = BytesOf(resources, "memory");
      worker->disk_bytes = BytesOf(resources, "disk");
      return VineLine::kTaken;
    }
    return what == "TRANSFER" || what == "CACHE_UPDATE" ? VineLine::kTaken : VineLine::kUnknown;
  }

  VineLine AddTask(const VineEvent& event, Manager* manager) const {
    const std::optional<int64_t> id = Parsed<int64_t>(event.word(1));
    if (!id.has_value()) return VineLine::kMalformed;
    const std::string_view what = event.word(2);
    const auto found = manager->attempts.find(*id);
    if (what == "READY" || what == "WAITING") {
      int64_t number = Parsed<int64_t>(event.word(5)).value_or(1);
      if (found != manager->attempts.end()) {  // it comes again: its worker went, or could not run it
        number = std::max(number, found->second.number + 1);
        if (found->second.waiting_ns.has_value()) ++manager->cluster.counts["done"];  // as the manager counts it
        EndAttempt(*id, event.time_ns, /*failed=*/true, manager);
      }
      Attempt& attempt = manager->attempts[*id];
      attempt.category = std::string(event.word(3));
      attempt.ready_ns = event.time_ns;
      attempt.number = number;
      return VineLine::kTaken;
    }
    if (what == "RUNNING") {
      Attempt& attempt = manager->attempts[*id];
      const std::string worker(event.word(3));
      attempt.worker = ValueOr(manager->ids, worker, worker);
      attempt.commit_ns = attempt.sent_ns = event.time_ns;
      if (!event.objects.empty()) {
        attempt.commit_ns = TimeNs(event.objects.front(), "time_commit_start").value_or(event.time_ns);
        attempt.sent_ns = TimeNs(event.objects.front(), "time_commit_end").value_or(event.time_ns);
        attempt.cores = CoresOf(event.objects.front());
      }
      ++manager->cluster.counts["dispatched"];
      return VineLine::kTaken;
    }
    if (what == "WAITING_RETRIEVAL") {
      if (found != manager->attempts.end()) found->second.waiting_ns = event.time_ns;
      return VineLine::kTaken;
    }
    if (what == "RETRIEVED") {
      if (found == manager->attempts.end()) return VineLine::kTaken;
      if (!event.objects.empty()) {
        found->second.worker_start_ns = TimeNs(event.objects.back(), "time_worker_start");
        found->second.worker_stop_ns = TimeNs(event.objects.back(), "time_worker_end");
      }
      const bool failed = event.word(3) != "SUCCESS" || Parsed<int64_t>(event.word(4)).value_or(0) != 0;
      EndAttempt(*id, event.time_ns, failed, manager);
      return VineLine::kTaken;
    }
    if (what == "DONE") {
      if (found != manager->attempts.end()) {  // it never was on a worker, or its other lines are missing
        EndAttempt(*id, event.time_ns, event.word(3) != "SUCCESS", manager);
      }
      manager->cluster.erred += event.word(3) != "SUCCESS" || Parsed<int64_t>(event.word(4)).value_or(0) != 0;
      ++manager->cluster.counts["done"];
      return VineLine::kTaken;
    }
    if (what == "CANCELED" || what == "CANCELLED") {  // nobody waits for it; what it did was for nothing
      if (found != manager->attempts.end()) EndAttempt(*id, event.time_ns, /*failed=*/true, manager);
      manager->last_tries.erase(*id);
      return VineLine::kTaken;
    }
    return VineLine::kUnknown;
  }

  void EndAttempt(int64_t task, int64_t time_ns, bool failed, Manager* manager) const {
    const auto found = manager->attempts.find(task);
    Attempt attempt = std::move(found->second);
    manager->attempts.erase(found);
    if (!attempt.commit_ns.has_value() || manager->libraries.count(task) > 0) return;
    ClusterTaskFact fact;
    fact.worker = attempt.worker;
    fact.prefix = attempt.category;
    fact.start_ns = attempt.sent_ns.value_or(time_ns);
    fact.stop_ns = std::max(fact.start_ns, attempt.waiting_ns.value_or(time_ns));
    if (attempt.ready_ns > 0) fact.queue_ns = std::max<int64_t>(0, *attempt.commit_ns - attempt.ready_ns);
    fact.failed = failed;
    fact.cores = attempt.cores;
    fact.job = fmt::format("{} {}", names_.engine, task);
    fact.directory = fmt::format("{}{}", names_.directory, task);
    fact.is_repeat = attempt.number > 1;
    const bool is_timed = attempt.worker_start_ns.has_value() && attempt.worker_stop_ns.has_value();
    if (is_timed) fact.retrieval_ns = time_ns;  // when the output was there, until clocks are aligned
    manager->last_tries[task] = manager->cluster.tasks.size();
    manager->cluster.tasks.push_back(std::move(fact));
    manager->timed.push_back(is_timed ? std::optional<Attempt>(std::move(attempt)) : std::nullopt);
  }

  // A task began after its core was held, and ended before the manager heard of it: between these its worker's clock
  // is.
  static void AlignClocks(Manager* manager) {
    ClusterFact& cluster = manager->cluster;
    struct Bounds {
      int64_t least = std::numeric_limits<int64_t>::min();
      int64_t most = std::numeric_limits<int64_t>::max();
    };
    std::map<std::string, Bounds> bounds;
    for (const std::optional<Attempt>& attempt : manager->timed) {
      if (!attempt.has_value()) continue;
      Bounds& of = bounds[attempt->worker];
      of.least = std::max(of.least, *attempt->commit_ns - *attempt->worker_start_ns);
      if (attempt->waiting_ns.has_value()) of.most = std::min(of.most, *attempt->waiting_ns - *attempt->worker_stop_ns);
    }
    std::map<std::string, int64_t> offsets;
    for (const auto& [id, of] : bounds) {
      if (of.least <= kSameClockNs && of.most >= -kSameClockNs) continue;
      const bool has_most = of.most != std::numeric_limits<int64_t>::max();
      offsets[id] = has_most ? of.least + (of.most - of.least) / 2 : of.least;
      cluster.complaints.push_back(
          fmt::format("the clock of {} is {:.3f} s {} that of its manager; its times were moved", id,
                      std::abs(static_cast<double>(offsets[id])) / 1e9, offsets[id] > 0 ? "behind" : "ahead of"));
    }
    for (ClusterWorkerFact& worker : cluster.workers) {
      const auto offset = offsets.find(worker.address);
      if (offset != offsets.end()) worker.clock_offset_ns = offset->second;
    }
    for (size_t i = 0; i < cluster.tasks.size(); ++i) {
      const std::optional<Attempt>& attempt = manager->timed[i];
      if (!attempt.has_value()) continue;
      ClusterTaskFact& task = cluster.tasks[i];
      const int64_t moved_ns = ValueOr(offsets, attempt->worker, 0);
      const int64_t retrieved_ns = *task.retrieval_ns;
      task.start_ns = *attempt->worker_start_ns + moved_ns;
      task.stop_ns = std::max(task.start_ns, *attempt->worker_stop_ns + moved_ns);
      task.dispatch_ns = std::max<int64_t>(0, task.start_ns - *attempt->commit_ns);
      task.retrieval_ns = std::max<int64_t>(0, retrieved_ns - task.stop_ns);
    }
  }

  TaskNames names_;
  std::vector<Manager> managers_;
};

/// The manager's own sums, `performance`: rows of numbers under a line that names them.
/// Columns differ from version to version, so each is found by its name.
class VinePerformance {
 public:
  /// False: the line is none of this log's.
  bool Add(std::string_view line) {
    const std::vector<std::string> words =
        absl::StrSplit(absl::string_view(line.data(), line.size()), ' ', absl::SkipEmpty());
    if (words.size() > 2 && words[0] == "#" && words[1] == "timestamp") {
      columns_.assign(words.begin() + 1, words.end());
      return true;
    }
    if (columns_.empty()) return false;
    std::map<std::string, double, std::less<>> row;
    for (size_t i = 0; i < words.size() && i < columns_.size(); ++i) {
      double value = 0;
      if (!absl::SimpleAtod(words[i], &value)) return false;
      row[columns_[i]] = value;
    }
    if (words.size() == columns_.size()) last_ = std::move(row);  // a row that is cut may end inside a number
    return true;
  }

  /// Names what the transactions lack of what was counted here: in complaints of the last of `clusters`.
  void Compare(std::vector<ClusterFact>* clusters) const {
    if (clusters->size() != 1) return;  // whose sums these are is not known
    ClusterFact& cluster = clusters->back();
    const auto compare = [&](std::string_view column, std::string_view count, std::string_view what) {
      const auto counted = static_cast<int64_t>(ValueOr(last_, column, 0.0));
      const int64_t seen = cluster.counts[std::string(count)];
      if (counted <= seen) return;
      cluster.complaints.push_back(fmt::format(
          "the manager counted {} {}, but its transactions show {}: some of them are missing", counted, what, seen));
    };
    compare("tasks_done", "done", "tasks that were done");
    compare("tasks_dispatched", "dispatched", "tasks that were dispatched");
    compare("workers_joined", "joined", "workers that joined");
  }

 private:
  std::vector<std::string> columns_;
  std::map<std::string, double, std::less<>> last_;  ///< row, by column
};

/// Once a second it reports for each manager how many workers, cores and tasks it has, which tasks ended, and which
/// workers were lost.
class VineFeed : public EngineFeed {
 public:
  VineFeed(std::string engine, const TaskNames& names, std::string log, LiveObserver* run)
      : engine_(std::move(engine)), log_(std::move(log)), run_(run), transactions_(names) {
    run_->SetVersion("");
  }

  void Add(std::string_view bytes) override {
    lines_.Add(
        bytes, [this](std::string_view line) { AddLine(line); }, [this] { run_->CountMalformed(1); });
  }

  void Tick() override {
    transactions_.ReportNews([this](const ClusterFact& cluster, int64_t ready, int64_t running, int64_t pid) {
      Report(cluster, ready, running, pid);
    });
  }

 private:
  /// What was reported of a manager.
  struct Reported {
    bool is_followed = false;  ///< from the second time on: what the log held at first happened before
    bool is_closed = false;
    std::set<size_t> lost;                  ///< of its workers, by index
    std::map<std::string, double> seconds;  ///< of its tasks, by category
  };
  void AddLine(std::string_view line) {
    if (performance_.Add(line) || line.empty() || line.front() == '#') return;
    if (IsBad(transactions_.Add(line))) run_->CountMalformed(1);
  }

  void Report(const ClusterFact& cluster, int64_t ready, int64_t running, int64_t pid) {
    Reported& reported = managers_[cluster.epoch];
    if (reported.is_closed) return;
    if (!reported.is_followed) run_->BeginSession(cluster.first_ns);
    SchedulerFact scheduler;
    scheduler.address = fmt::format("{} {}", engine_, cluster.address);
    scheduler.counts = {
        {"tasks", ready + running}, {"processing", running}, {"waiting", ready}, {"erred", cluster.erred}};
    scheduler.is_there = HasOpen(pid, log_);
    ReportWorkers(cluster, scheduler.address, &reported, &scheduler);
    std::map<std::string, SchedulerFact::Finished> finished;
    for (const ClusterTaskFact& task : cluster.tasks) {
      const double seconds = static_cast<double>(task.stop_ns - task.start_ns) / 1e9;
      reported.seconds[task.prefix] += seconds;
      if (task.failed) continue;  // it comes again, or is among `erred`
      SchedulerFact::Finished& row = finished[task.prefix];
      row.prefix = task.prefix;
      ++row.tasks;
      row.compute_seconds += seconds;
      if (reported.is_followed) ++scheduler.finished_by_worker[task.worker];
    }
    if (reported.is_followed) {
      for (auto& [category, row] : finished) scheduler.finished.push_back(std::move(row));
    } else {
      scheduler.problem = "its log is read from the beginning";
    }
    run_->AddScheduler(scheduler);
    run_->SetComputeSeconds(scheduler.address, reported.seconds);
    reported.is_followed = true;
    if (!cluster.closed) return;
    reported.is_closed = true;
    run_->EndSession(cluster.last_ns);
    run_->Note(EventKind::kInfo, fmt::format("{} has ended", scheduler.address));
  }

  void ReportWorkers(const ClusterFact& cluster, const std::string& address, Reported* reported,
                     SchedulerFact* scheduler) {
    int64_t present = 0, cores = 0;
    for (size_t i = 0; i < cluster.workers.size(); ++i) {
      const ClusterWorkerFact& worker = cluster.workers[i];
      if (!worker.left_ns.has_value()) {
        ++present;
        cores += std::max<int64_t>(0, worker.threads);
      }
      if (!worker.is_lost || !reported->lost.insert(i).second || !reported->is_followed) continue;
      run_->Note(EventKind::kBad,
                 fmt::format("{} lost {} on {}: {}", address, worker.address, worker.host, worker.left_reason));
    }
    if (!reported->is_followed && !reported->lost.empty()) {
      run_->Note(EventKind::kBad, fmt::format("{} had lost {} worker{} before it was followed", address,
                                              reported->lost.size(), reported->lost.size() == 1 ? "" : "s"));
    }
    scheduler->counts["workers"] = present;
    scheduler->counts["cores"] = cores;
  }

  std::string engine_;
  std::string log_;
  LiveObserver* run_;
  VineTransactions transactions_;
  VinePerformance performance_;
  LineAssembler lines_;
  std::map<std::string, Reported> managers_;  ///< by epoch
};

}  // namespace

bool BeginsWithLine(const std::string& path, std::string_view beginning) {
  return ReadBeginning(path, beginning.size()) == beginning;
}

std::vector<std::string> VineRunsIn(const std::string& path) {
  std::vector<std::string> runs;
  std::error_code error;
  if (fs::weakly_canonical(path, error).filename() != "vine-run-info") return runs;
  for (const fs::path& run : EntriesOf(path)) {
    if (fs::is_symlink(run, error)) continue;  // `most-recent`
    if (auto log = TransactionsIn(run)) runs.push_back(*std::move(log));
  }
  absl::c_sort(runs);
  return runs;
}

std::optional<std::string> FindVineLog(const std::string& path) {
  if (BeginsAsTransactions(path)) return path;
  if (auto log = TransactionsIn(path)) return log;
  if (auto log = TransactionsIn(fs::path(path) / "most-recent")) return log;
  const std::vector<std::string> runs = VineRunsIn(path);
  return runs.empty() ? std::nullopt : std::optional(runs.back());
}

absl::StatusOr<EngineReading> ReadVineLog(const std::string& path, const TaskNames& names) {
  EngineReading reading;
  VineTransactions transactions(names);
  VinePerformance performance;
  LogLines lines(path, &reading);
  if (absl::Status opened = lines.opened(); !opened.ok()) return opened;
  for (std::string line; lines.Next(&line);) {
    if (performance.Add(line) || line.empty() || line.front() == '#') continue;
    ++reading.lines;
    const VineLine taken = transactions.Add(line);
    if (taken == VineLine::kUnknown) ++reading.unknown;
    if (!IsBad(taken)) continue;
    const bool is_cut = taken == VineLine::kTorn || !lines.is_whole();
    ++(is_cut ? reading.torn : reading.malformed);
    lines.Complain(is_cut ? "the line is cut" : "the line is not one of a manager's");
  }
  if (const auto beside = PerformanceBeside(path)) {
    LogLines rows(*beside, &reading);
    for (std::string line; rows.Next(&line);) performance.Add(line);
  }
  reading.clusters = std::move(transactions).Finish();
  performance.Compare(&reading.clusters);
  return reading;
}

absl::Status KeepVineLog(const std::string& path, const std::string& directory, const std::string& name) {
  const fs::path copy = fs::path(directory) / (name + std::string(kVineLogSuffix));
  std::ofstream kept(copy, std::ios::binary);
  if (absl::Status status = Append(path, kept); !status.ok()) return status;
  if (const auto beside = PerformanceBeside(path)) {
    kept << "\n";
    if (absl::Status status = Append(*beside, kept); !status.ok()) return status;
  }
  kept.flush();
  if (!kept) return absl::UnavailableError(fmt::format("{} cannot be written", copy.string()));
  return absl::OkStatus();
}

std::optional<int64_t> PidOfWorkerDirectory(std::string_view path) {
  const std::vector<std::string> names = absl::StrSplit(std::string(path), '/');
  for (const std::string& name : names) {
    const std::vector<std::string> parts = absl::StrSplit(name, '-');
    int64_t pid = 0;
    if (parts.size() == 3 && parts[0] == "worker" && absl::SimpleAtoi(parts[2], &pid) && pid > 0) return pid;
  }
  return std::nullopt;
}

std::unique_ptr<EngineFeed> MakeVineFeed(std::string engine, const TaskNames& names, std::string log,
                                         LiveObserver* run) {
  return std::make_unique<VineFeed>(std::move(engine), names, std::move(log), run);
}

}  // namespace crema
