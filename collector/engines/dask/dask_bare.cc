// A scheduler without crema's plug-in: what every Dask scheduler tells of itself, at this moment.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "absl/time/clock.h"
#include "collector/engines/dask/bare_lines.h"
#include "collector/engines/dask/dask_client.h"
#include "collector/engines/http/http_connection.h"

namespace crema {

absl::Status DescribeBareScheduler(const std::string& address, const std::string& path) {
  constexpr int kAnswerSeconds = 30;
  HttpConnection scheduler(HostAndPort(address), kAnswerSeconds);
  const absl::StatusOr<HttpAnswer> counts = scheduler.Get("/json/counts.json");
  if (!counts.ok() || counts->status != 200) return NoSchedulerAt(address);
  const int64_t now_ns = absl::GetCurrentTimeNanos();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << BareClusterLine(address, now_ns);
  file << BareLine(now_ns, ParseCounts(counts->body).value_or(std::map<std::string, int64_t>()));
  const absl::StatusOr<HttpAnswer> metrics = scheduler.Get("/metrics");
  if (metrics.ok() && metrics->status == 200) {
    const std::map<std::string, double> seconds = ParseComputeSeconds(metrics->body);
    if (!seconds.empty()) file << ComputeSecondsLine(now_ns, seconds);
  }
  file.close();
  if (file.fail()) return absl::UnavailableError(fmt::format("{}: cannot be written ({})", path, strerror(errno)));
  return absl::OkStatus();
}

}  // namespace crema
