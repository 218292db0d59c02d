// What a TaskVine manager writes into its run directory: `vine-run-info/<date>/vine-logs/`.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_LOG_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_LOG_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/engines/engine.h"
#include "collector/engines/taskvine/vine_transactions.h"

namespace crema {

/// What the name of a kept log ends with: the manager's transactions, and after them its performance log.
inline constexpr std::string_view kVineLogSuffix = ".taskvine.log";

/// The transactions of a run: `path` is the file, the directory that holds it, that of the run, or `vine-run-info` with
/// its runs. Of several runs the one that `most-recent` names, else the last by name. nullopt: it is none of these.
std::optional<std::string> FindVineLog(const std::string& path);

/// Whether the first line of a file begins so; false: it cannot be read.
bool BeginsWithLine(const std::string& path, std::string_view beginning);

/// Reads transactions of an engine with these names for its tasks, and the performance log that lies beside them or
/// follows in the same file. Errors: the file cannot be read.
absl::StatusOr<EngineReading> ReadVineLog(const std::string& path, const TaskNames& names = {});

/// Keeps both as `<name>.taskvine.log` in `directory`. Errors: a file cannot be read or written.
absl::Status KeepVineLog(const std::string& path, const std::string& directory, const std::string& name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_LOG_H_
