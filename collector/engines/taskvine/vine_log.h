// What a TaskVine manager writes into its run directory, `vine-run-info/<date>/vine-logs/`, and what a catalog knows of
// managers.
#pragma once

#include "collector/engines/engines.h"

namespace crema {

/// Which engine's manager wrote the lines: what processes say of themselves in its tasks.
struct TaskNames {
  std::string_view engine = "taskvine";       ///< `process.engine.name`
  std::string_view directory = "task.";       ///< a task's directory, but for the task's number
  std::string_view manager = "vine_manager";  ///< what a catalog calls it
};

/// What the name of a kept log ends with: the manager's transactions, and after them its performance log.
inline constexpr std::string_view kVineLogSuffix = ".taskvine.log";

/// The transactions of a run: `path` is the file, the directory that holds it, that of the run, or `vine-run-info` with
/// its runs. If there are several, takes the one that `most-recent` names, else the last by name. nullopt: none.
std::optional<std::string> FindVineLog(const std::string& path);

/// The transactions of each run in `vine-run-info`, in the order of their names; none for any other path.
std::vector<std::string> VineRunsIn(const std::string& path);

/// Whether the first line of a file begins so; false: it cannot be read.
bool BeginsWithLine(const std::string& path, std::string_view beginning);

/// Reads transactions of an engine with these names for its tasks, and the performance log that is beside them or
/// follows in the same file. Errors: the file cannot be read.
absl::StatusOr<EngineReading> ReadVineLog(const std::string& path, const TaskNames& names = {});

/// Keeps both as `<name>.taskvine.log` in `directory`. Errors: a file cannot be read or written.
absl::Status KeepVineLog(const std::string& path, const std::string& directory, const std::string& name);

/// The process of the worker whose directory is in a path; nullopt: none does.
std::optional<int64_t> PidOfWorkerDirectory(std::string_view path);

/// Follows transactions. `engine` is what people call it: `TaskVine`. `log` is the file of the transactions. `run`
/// outlives it.
std::unique_ptr<EngineFeed> MakeVineFeed(std::string engine, const TaskNames& names, std::string log,
                                         LiveObserver* run);

/// `taskvine://HOST:PORT/NAME`: a catalog, and the name that a manager has there.
struct CatalogAddress {
  std::string server;   ///< `HOST:PORT`; the usual port where none was given
  std::string project;  ///< empty: all managers of the engine
};
CatalogAddress ParseCatalogAddress(std::string_view address);

/// The managers of this `type` and name in an answer to `/query.json`, as one line with a JSON list. Fails if the text
/// is not an answer of a catalog server.
absl::StatusOr<std::string> ManagersIn(const std::string& answer, std::string_view type, const std::string& project);

/// Takes lines of `ManagersIn`. `engine` is what people call it: `TaskVine`. `run` outlives it.
std::unique_ptr<EngineFeed> MakeCatalogFeed(std::string engine, LiveObserver* run);

}  // namespace crema
