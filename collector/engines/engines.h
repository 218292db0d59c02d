// What runs tasks on workers, a scheduler or a batch system: how its logs and addresses are recognised, read and
// followed, and what sets it apart from others. The seam at which the collector knows engines.
//
// A new engine is a folder here that defines an `Engine`, and one row of the table in engines.cc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/records/cluster_facts.h"

namespace crema {

/// What an engine's feed reports of a run that goes on.
enum class EventKind { kInfo, kGood, kWarning, kBad };

/// What whoever shows the run takes in. Times are Unix nanoseconds.
class LiveObserver {
 public:
  virtual ~LiveObserver() = default;

  virtual int64_t now_ns() const = 0;
  /// The engine was heard of; its version may be empty.
  virtual void SetVersion(const std::string& version) = 0;
  /// A measurement begins, or ends; workers may have been there before, and go on to serve others.
  virtual void BeginSession(int64_t time_ns) = 0;
  virtual void EndSession(int64_t time_ns) = 0;
  /// Events that each dataset is to have.
  virtual void SetPlan(std::map<std::string, int64_t> events) = 0;

  /// A worker, by its host name and process id: the records of that process are shown under its address.
  virtual void AddWorker(const ClusterWorkerFact& worker) = 0;
  /// More bytes of a record log that a worker sends.
  virtual void AddRecords(const std::string& log, std::string_view bytes) = 0;
  /// Asks of each process whose records were added whether it is there.
  virtual void SetLives(const std::function<bool(const std::string& host, int64_t pid)>& is_there) = 0;

  /// What a scheduler knows whose workers report nothing.
  virtual void AddScheduler(const SchedulerFact& scheduler) = 0;
  /// Compute seconds since such a scheduler began, by prefix.
  virtual void SetComputeSeconds(const std::string& address, const std::map<std::string, double>& by_prefix) = 0;

  /// Something that people should read.
  virtual void Note(EventKind kind, std::string text) = 0;
  /// Lines that could not be used.
  virtual void CountMalformed(int64_t lines) = 0;
};

/// What an engine does about workers that come near their memory limit. Shares of the limit, 0 to 1.
struct EngineMemory {
  double good;              ///< up to here it does nothing
  double bad;               ///< from here on workers stand still, or are ended
  std::string_view name;    ///< of the key figure that is judged so: `the same under Dask`
  std::string_view reason;  ///< of these shares
  std::string_view does;    ///< `spills and pauses earlier`
};

/// What people read of an engine.
struct EngineTraits {
  std::string_view name = {};                ///< `Dask`
  std::string_view scheduler = "scheduler";  ///< what hands out its tasks
  std::string_view task = "task";            ///< what it hands out
  std::string_view logs = {};                ///< its logs, for `--help`
  std::string_view dashboard = {};           ///< where the scheduler reports, for `--help`: an address; empty: nothing
  std::optional<EngineMemory> memory = {};   ///< nullopt: workers may fill their limit
  /// `process.engine.name` of processes that it starts for its tasks (docs/record_log.md, "`engine`"); empty: it starts
  /// none, or they do not say so.
  std::string_view task_processes = {};
  /// A job's number is that of no other: a process that names it is of it, whatever the clocks say.
  bool numbers_jobs = false;
};

/// A log that was read to its end.
struct EngineReading {
  std::vector<ClusterFact> clusters;  ///< one for each scheduler, and each restart of one, in order
  int64_t lines = 0;
  int64_t malformed = 0;
  int64_t torn = 0;
  int64_t unknown = 0;
  std::vector<std::string> problems;  ///< `file:line: what; what was done`
};

/// What came from an address since it was asked for last.
struct FollowResult {
  std::vector<std::string> pages;  ///< bytes of the engine's log, in order
  bool answers = false;            ///< the scheduler answered when it was last asked
  std::string problem;             ///< why not, or what it cannot know, in one line
};

/// Follows an address.
class EngineFollower {
 public:
  virtual ~EngineFollower() = default;
  /// What came since the last call. Does not wait.
  virtual FollowResult Poll() = 0;
};

/// Takes what a log gains while the run goes on, and reports it to a `LiveObserver`.
class EngineFeed {
 public:
  virtual ~EngineFeed() = default;
  /// Bytes in order, cut anywhere.
  virtual void Add(std::string_view bytes) = 0;
  /// All that there is was added; once a second.
  virtual void Tick() {}
};

/// One engine. Functions that may be null say so.
struct Engine {
  EngineTraits traits;

  /// What its addresses begin with, `dask://`; empty: it has none.
  std::string_view scheme;
  /// What the name of its log ends with, where one is kept beside record logs: `.dask.ndjson`.
  std::string_view log_suffix;

  /// The log that a source is, or holds: a file known by its name or its beginning, a directory by what is in it.
  /// nullopt: the path is none of this engine's.
  std::optional<std::string> (*find_log)(const std::string& path);
  /// Reads a log into facts: workers, tasks, samples, failures. Errors: it cannot be read, or is of another version.
  absl::StatusOr<EngineReading> (*read)(const std::string& log);
  /// Takes a log apart into `directory`: record logs, and the engine's own as `<name><log_suffix>`. Null: the log is
  /// read where it is.
  absl::Status (*unpack)(const std::string& log, const std::string& directory, const std::string& name) = nullptr;
  /// Writes all that a scheduler reports at this moment as a log. Null where no address reports what happened before.
  absl::Status (*pull)(const std::string& address, const std::string& log) = nullptr;
  /// Begins to follow an address. Null where there is no scheme.
  std::unique_ptr<EngineFollower> (*follow)(const std::string& address) = nullptr;
  /// For a log that grows, or an address that is followed. `run` outlives it. Null: its runs are not followed.
  std::unique_ptr<EngineFeed> (*make_feed)(const std::string& log, LiveObserver* run) = nullptr;
  /// The process of the worker below whose directory a task ran, from a path; nullopt: the path is of no such task.
  /// Null: directories hold nothing about workers.
  std::optional<int64_t> (*pid_of_worker)(std::string_view directory) = nullptr;
  /// Keeps a log in `directory`, as `<name><log_suffix>`. Null: a copy is enough.
  absl::Status (*keep)(const std::string& log, const std::string& directory, const std::string& name) = nullptr;
};

/// The engines that the collector knows, each in a folder of its own.
extern const Engine kDask, kTaskVine, kWorkQueue, kSlurm, kHtcondor;

/// All of them, in the order in which each source is shown to them.
const std::vector<const Engine*>& Engines();

/// Makes one more engine known for as long as this lives. For tests, and for these before anything is read.
class AddedEngine {
 public:
  explicit AddedEngine(const Engine& engine);
  ~AddedEngine();
  AddedEngine(const AddedEngine&) = delete;
  AddedEngine& operator=(const AddedEngine&) = delete;
};

/// The engine to whose scheme an address belongs; nullptr: it is none, or a path.
const Engine* EngineOfAddress(std::string_view source);

/// The engine whose log is kept under such a name beside record logs; nullptr: none.
const Engine* EngineOfLogName(std::string_view path);

/// The engine that `run.engine` names: `Dask 2025.11.0`; nullptr: none that is known.
const Engine* EngineNamed(std::string_view text);

/// The process of the worker below whose directory a task ran; nullopt: no engine knows such a path.
std::optional<int64_t> PidOfEngineWorker(std::string_view directory);

/// A path that an engine takes for its own.
struct EngineLog {
  const Engine* engine;
  std::string path;  ///< of the log
};

/// nullopt: no engine does.
std::optional<EngineLog> FindEngineLog(const std::string& path);

/// Asks for what is new, again and again, until whoever wants to know goes away. The last member of its class, as its
/// function uses the others. The function returns soon after `is_stopping`.
struct FollowingThread {
  template <class Follow>
  explicit FollowingThread(Follow follow) : thread(std::move(follow)) {}
  /// Waits for an answer that is under way, at most some seconds.
  ~FollowingThread() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      is_stopping = true;
    }
    wake.notify_all();
    thread.join();
  }
  void Wait(std::unique_lock<std::mutex>* lock, std::chrono::seconds pause) {
    wake.wait_for(*lock, pause, [this] { return is_stopping; });
  }

  std::mutex mutex;  ///< also of what the function finds
  std::condition_variable wake;
  bool is_stopping = false;
  std::thread thread;
};

}  // namespace crema
