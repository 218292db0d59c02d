// What every Dask scheduler tells, plug-in or not, as lines of a Dask log (docs/dask_log.md).
#ifndef CREMA_COLLECTOR_ENGINES_DASK_BARE_LINES_H_
#define CREMA_COLLECTOR_ENGINES_DASK_BARE_LINES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "nlohmann/json.hpp"

namespace crema {

/// `/json/counts.json`: those of its numbers that are whole. nullopt: it is malformed.
std::optional<std::map<std::string, int64_t>> ParseCounts(const std::string& body);

/// `/metrics`: seconds that finished tasks have computed since the scheduler began, by prefix. A scheduler without the
/// package prometheus_client tells none; nor does one that has finished no task.
std::map<std::string, double> ParseComputeSeconds(const std::string& metrics);

/// The first line: begins as the plug-in's does, so that a file is known for what it is.
std::string BareClusterLine(const std::string& address, int64_t time_ns);

/// Type `bare`; `more` are fields beside `counts`.
std::string BareLine(int64_t time_ns, const std::map<std::string, int64_t>& counts,
                     const nlohmann::ordered_json& more = nlohmann::ordered_json::object());

/// Type `account`.
std::string ComputeSecondsLine(int64_t time_ns, const std::map<std::string, double>& seconds_of_prefix);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_BARE_LINES_H_
