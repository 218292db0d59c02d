// A scheduler without crema's plug-in: what every Dask scheduler tells of itself, at this moment.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "collector/records/schema.h"
#include "collector/sources/dask/dask_client.h"
#include "collector/sources/dask/http_connection.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::json;

// Prometheus's text: `name{task_prefix_name="process"} 12.5`.
std::map<std::string, double> ComputeSeconds(const std::string& metrics) {
  constexpr std::string_view kName = "dask_scheduler_tasks_compute_seconds_total{";
  std::map<std::string, double> seconds;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, kName.size(), kName) != 0) continue;
    const size_t open = line.find('"');
    const size_t close = line.find('"', open + 1);
    const size_t blank = line.rfind(' ');
    double value = 0;
    const bool is_good = open != std::string::npos && close != std::string::npos && blank > close &&
                         absl::SimpleAtod(line.substr(blank + 1), &value);
    if (is_good) seconds[line.substr(open + 1, close - open - 1)] = value;
  }
  return seconds;
}

}  // namespace

absl::Status DescribeBareScheduler(const std::string& address, const std::string& path) {
  constexpr int kAnswerSeconds = 30;
  HttpConnection scheduler(HostAndPort(address), kAnswerSeconds);
  const absl::StatusOr<HttpAnswer> counts = scheduler.Get("/json/counts.json");
  if (!counts.ok() || counts->status != 200) {
    return absl::NotFoundError(
        fmt::format("{}: is no Dask scheduler (no /json/counts.json); give the address of its dashboard, as "
                    "client.dashboard_link shows it",
                    address));
  }
  const Json numbers = Json::parse(counts->body, nullptr, /*allow_exceptions=*/false);
  const int64_t now_ns = absl::GetCurrentTimeNanos();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  // The same beginning as the plug-in's, so that it is known for what it is.
  file << fmt::format(R"({{"type":"cluster","schema":"{}","schema_minor":0,"epoch":{},"time_ns":{},"address":{}}})",
                      kDaskSchema, Json(fmt::format("bare {} {}", address, now_ns)).dump(), now_ns,
                      Json(address).dump())
       << '\n';
  const Json bare = {{"type", "bare"}, {"time_ns", now_ns}, {"counts", numbers.is_object() ? numbers : Json::object()}};
  file << bare.dump() << '\n';
  const absl::StatusOr<HttpAnswer> metrics = scheduler.Get("/metrics");
  if (metrics.ok() && metrics->status == 200) {
    Json rows = Json::array();
    for (const auto& [prefix, seconds] : ComputeSeconds(metrics->body)) {
      rows.push_back({{"prefix", prefix}, {"seconds", {{"compute", seconds}}}});
    }
    if (!rows.empty()) file << Json({{"type", "account"}, {"time_ns", now_ns}, {"rows", rows}}).dump() << '\n';
  }
  file.close();
  if (file.fail()) return absl::UnavailableError(fmt::format("{}: cannot be written ({})", path, strerror(errno)));
  return absl::OkStatus();
}

}  // namespace crema
