// TaskVine (https://ccl.cse.nd.edu/software/taskvine/), and Work Queue, from which it came
// (https://ccl.cse.nd.edu/software/workqueue/): the logs that their managers write. Those of TaskVine have the same
// lines, and the times of workers besides; a program asks Work Queue's manager for its log of transactions.

#include <fmt/format.h>

#include "collector/engines/http_get.h"
#include "collector/engines/taskvine/vine_log.h"
#include "collector/idioms/units.h"
#include "collector/records/json_fields.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kUsualPort = "9097";
constexpr std::chrono::seconds kBetweenQuestions(10);
constexpr std::chrono::seconds kMostAnswer(5);

/// A manager reports to the catalog once a minute.
constexpr int64_t kLateSeconds = 150;
constexpr int64_t kMostExact = int64_t{1} << 52;
constexpr int64_t kMostMicroseconds = int64_t{1} << 52;  // some 140 years
constexpr size_t kMostManagers = 1000;
constexpr const char* kWholeQueue = "whole queue";

int64_t Count(const Json& object, const char* key) {
  const Json& field = Field(object, key);
  return field.is_number_integer() ? std::clamp<int64_t>(field.get<int64_t>(), 0, kMostExact) : 0;
}

/// Asks a catalog, which hears of its managers once a minute, every ten seconds, on a thread of its own.
class CatalogFollower : public EngineFollower {
 public:
  /// `type`: what the catalog calls the engine's managers.
  CatalogFollower(const std::string& address, std::string_view type)
      : address_(ParseCatalogAddress(address)), type_(type), thread_([this] { Follow(); }) {}

  FollowResult Poll() override {
    const std::lock_guard<std::mutex> lock(thread_.mutex);
    FollowResult news = news_;
    news_.pages.clear();
    return news;
  }

 private:
  void Follow() {
    std::unique_lock<std::mutex> lock(thread_.mutex);
    while (!thread_.is_stopping) {
      lock.unlock();
      const absl::StatusOr<std::string> managers = AskForManagers();
      lock.lock();
      news_.answers = managers.ok();
      news_.problem =
          managers.ok() ? "" : fmt::format("catalog {}: {}", address_.server, std::string(managers.status().message()));
      // what nobody took is older than this
      if (managers.ok()) news_.pages.assign(1, *managers);
      thread_.Wait(&lock, kBetweenQuestions);
    }
  }

  absl::StatusOr<std::string> AskForManagers() const {
    constexpr const char* kTarget = "/query.json";
    const absl::StatusOr<HttpAnswer> answer = HttpGet(address_.server, kTarget, kMostAnswer);
    if (!answer.ok())
      return absl::UnavailableError(fmt::format("no answer ({})", std::string(answer.status().message())));
    if (answer->status == 200) return ManagersIn(answer->body, type_, address_.project);
    return absl::UnavailableError(fmt::format("it answered {} to {}", answer->status, kTarget));
  }

  CatalogAddress address_;
  std::string type_;
  FollowResult news_;  // guarded by the thread's mutex
  FollowingThread thread_;
};

/// Between two lines it reports which tasks were done, by category; a catalog does not know on which worker, how long
/// they took, or at what rate they end: it hears of them once a minute.
class CatalogFeed : public EngineFeed {
 public:
  CatalogFeed(std::string engine, LiveObserver* run) : engine_(std::move(engine)), run_(run) { run_->SetVersion(""); }

  void Add(std::string_view bytes) override {
    held_ += bytes;
    for (size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n')) {
      const Json managers = Json::parse(held_.substr(0, end), nullptr, /*allow_exceptions=*/false);
      held_.erase(0, end + 1);
      if (!managers.is_array()) {
        run_->CountMalformed(1);
        continue;
      }
      for (const Json& manager : managers) AddManager(manager);
    }
  }

  void Tick() override {
    for (auto& [id, reported] : managers_) {
      const bool is_late = run_->now_ns() / kSecondNs - reported.heard_s > kLateSeconds;
      if (is_late != reported.is_late) Report(&reported);
    }
  }

 private:
  struct Reported {
    int64_t lost = 0;
    std::map<std::string, int64_t> done;  ///< by category
    SchedulerFact scheduler;              ///< as reported last, without what ended
    int64_t heard_s = 0;                  ///< when the catalog heard of it
    bool is_late = false;
  };
  void Report(Reported* reported) {
    SchedulerFact& scheduler = reported->scheduler;
    const int64_t age = run_->now_ns() / kSecondNs - reported->heard_s;
    const bool is_late = age > kLateSeconds;
    scheduler.is_there = !is_late;
    scheduler.problem = is_late ? fmt::format("it has reported nothing to the catalog for {} s", age)
                                : std::string("a catalog hears of them once a minute");
    run_->AddScheduler(scheduler);
    scheduler.finished.clear();
    if (is_late && !reported->is_late) {
      run_->Note(EventKind::kWarning,
                 fmt::format("{} has reported nothing to the catalog for {} s", scheduler.address, age));
    }
    reported->is_late = is_late;
  }

  void AddManager(const Json& manager) {
    if (!manager.is_object()) return run_->CountMalformed(1);
    const std::string name = fmt::format("{} {} at {}:{}", engine_, TextField(manager, "project"),
                                         TextField(manager, "name"), Count(manager, "port"));
    const int64_t started_us = Count(manager, "time_when_started");
    const std::string id = fmt::format("{} {}", name, started_us);
    if (managers_.size() >= kMostManagers && managers_.count(id) == 0) return;
    const auto [entry, is_new] = managers_.try_emplace(id, Reported());
    Reported& reported = entry->second;
    if (started_us > 0 && started_us < kMostMicroseconds && !std::exchange(has_begun_, true)) {
      run_->BeginSession(started_us * 1000);
    }
    SchedulerFact& scheduler = reported.scheduler;
    scheduler.address = name;
    const int64_t running = std::max(Count(manager, "tasks_running"), Count(manager, "tasks_on_workers"));
    const int64_t waiting = Count(manager, "tasks_waiting");
    scheduler.counts = {{"workers", Count(manager, "workers_connected")},
                        {"cores", Count(manager, "cores_total")},
                        {"tasks", waiting + running},
                        {"processing", running},
                        {"waiting", waiting},
                        {"erred", Count(manager, "tasks_failed")}};
    reported.heard_s = Count(manager, "lastheardfrom");
    ReportTasks(manager, !is_new, &reported, &scheduler);
    Report(&reported);
    const int64_t lost = Count(manager, "workers_lost");
    if (lost > reported.lost) {
      run_->Note(EventKind::kBad,
                 fmt::format("{} lost {} worker{}{}", name, lost - reported.lost, lost - reported.lost == 1 ? "" : "s",
                             is_new ? " before it was followed" : ""));
    }
    reported.lost = lost;
  }

  static void ReportTasks(const Json& manager, bool is_known, Reported* reported, SchedulerFact* scheduler) {
    for (const Json& category : ListField(manager, "categories")) {
      if (!category.is_object()) continue;
      const std::string name = TextField(category, "category");
      if (name == kWholeQueue) continue;
      const int64_t done = Count(category, "tasks_done");
      int64_t& before = reported->done[name];
      if (is_known && done > before) scheduler->finished.push_back({name, done - before, 0});
      before = done;
    }
  }

  std::string engine_;
  LiveObserver* run_;
  std::string held_;                          ///< of a line that is not whole yet
  std::map<std::string, Reported> managers_;  ///< by address, and when each began
  bool has_begun_ = false;
};

constexpr EngineTraits kVineTraits = {
    "TaskVine", "manager", "task", "TaskVine run directories (vine-run-info)", "taskvine://CATALOG:PORT/NAME",
    {},         "taskvine"};
constexpr EngineTraits kQueueTraits = {
    "Work Queue", "manager",   "task", "transaction logs of Work Queue", "workqueue://CATALOG:PORT/NAME",
    {},           "work_queue"};
constexpr TaskNames kVineNames, kQueueNames = {"work_queue", "t.", "wq_master"};

std::optional<std::string> FindQueueLog(const std::string& path) {
  return BeginsWithLine(path, "# time manager_pid MANAGER START|END") ? std::optional(path) : std::nullopt;
}

/// The log of a feed is an address where a catalog is followed.
template <const EngineTraits& kTraits, const TaskNames& kNames>
constexpr Engine EngineOf(std::string_view scheme, std::string_view log_suffix, decltype(Engine::find_log) find_log,
                          decltype(Engine::keep) keep) {
  return {kTraits,
          scheme,
          log_suffix,
          find_log,
          [](const std::string& log) { return ReadVineLog(log, kNames); },
          nullptr,
          nullptr,
          [](const std::string& address) -> std::unique_ptr<EngineFollower> {
            return std::make_unique<CatalogFollower>(address, kNames.manager);
          },
          [](const std::string& log, LiveObserver* run) {
            const std::string name(kTraits.name);
            const bool is_address = EngineOfAddress(log) != nullptr;
            return is_address ? MakeCatalogFeed(name, run) : MakeVineFeed(name, kNames, log, run);
          },
          PidOfWorkerDirectory,
          keep};
}

}  // namespace

CatalogAddress ParseCatalogAddress(std::string_view address) {
  address.remove_prefix(std::min(address.size(), address.find("://") + 3));
  const size_t slash = std::min(address.find('/'), address.size());
  CatalogAddress parsed;
  parsed.server = std::string(address.substr(0, slash));
  const size_t colon = parsed.server.rfind(':');
  const bool has_port = colon != std::string::npos && parsed.server.find(']', colon) == std::string::npos;
  if (!has_port) parsed.server += fmt::format(":{}", kUsualPort);
  parsed.project = PercentDecoded(address.substr(std::min(slash + 1, address.size())));
  return parsed;
}

absl::StatusOr<std::string> ManagersIn(const std::string& answer, std::string_view type, const std::string& project) {
  const Json services = Json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!services.is_array()) return absl::InvalidArgumentError("its answer is not a list of services");
  Json managers = Json::array();
  for (const Json& service : services) {
    if (!service.is_object() || TextField(service, "type") != type) continue;
    if (project.empty() || TextField(service, "project") == project) managers.push_back(service);
  }
  if (managers.empty()) {
    return absl::NotFoundError(project.empty() ? fmt::format("it knows no {}", type)
                                               : fmt::format("it knows no {} of the name {}", type, project));
  }
  return JsonText(managers) + "\n";
}

std::unique_ptr<EngineFeed> MakeCatalogFeed(std::string engine, LiveObserver* run) {
  return std::make_unique<CatalogFeed>(std::move(engine), run);
}

const Engine kTaskVine = EngineOf<kVineTraits, kVineNames>("taskvine://", kVineLogSuffix, FindVineLog, KeepVineLog);
const Engine kWorkQueue = EngineOf<kQueueTraits, kQueueNames>("workqueue://", ".work-queue.log", FindQueueLog, nullptr);

}  // namespace crema
