#include "collector/engines/dask/bare_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <string_view>

#include "absl/strings/numbers.h"
#include "collector/engines/dask/dask_log.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::string Line(const Json& fields) { return fields.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::optional<std::map<std::string, int64_t>> ParseCounts(const std::string& body) {
  const Json numbers = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!numbers.is_object()) return std::nullopt;
  std::map<std::string, int64_t> counts;
  for (const auto& [name, value] : numbers.items()) {
    if (value.is_number_integer()) counts[name] = value.get<int64_t>();
  }
  return counts;
}

// Prometheus's text: `name{task_prefix_name="process"} 12.5`.
std::map<std::string, double> ParseComputeSeconds(const std::string& metrics) {
  constexpr std::string_view kName = "dask_scheduler_tasks_compute_seconds_total{";
  std::map<std::string, double> seconds;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, kName.size(), kName) != 0) continue;
    const size_t open = line.find('"');
    const size_t close = line.find('"', open + 1);
    const size_t blank = line.rfind(' ');
    double value = 0;
    const bool is_good = open != std::string::npos && close != std::string::npos && blank != std::string::npos &&
                         blank > close && absl::SimpleAtod(line.substr(blank + 1), &value) && std::isfinite(value);
    if (is_good) seconds[line.substr(open + 1, close - open - 1)] = value;
  }
  return seconds;
}

std::string BareClusterLine(const std::string& address, int64_t time_ns) {
  return fmt::format(R"({{"type":"cluster","schema":"{}","schema_minor":0,"epoch":{},"time_ns":{},"address":{}}})"
                     "\n",
                     kDaskSchema, Json(fmt::format("bare {} {}", address, time_ns)).dump(), time_ns,
                     Json(address).dump());
}

std::string BareLine(int64_t time_ns, const std::map<std::string, int64_t>& counts, const Json& more) {
  Json fields = {{"type", "bare"}, {"time_ns", time_ns}, {"counts", counts}};
  fields.update(more);
  return Line(fields);
}

std::string ComputeSecondsLine(int64_t time_ns, const std::map<std::string, double>& seconds_of_prefix) {
  Json rows = Json::array();
  for (const auto& [prefix, seconds] : seconds_of_prefix) {
    rows.push_back({{"prefix", prefix}, {"seconds", {{"compute", seconds}}}});
  }
  return Line({{"type", "account"}, {"time_ns", time_ns}, {"rows", rows}});
}

}  // namespace crema
