#include "collector/engines/dask/dask_client.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "collector/engines/http/http_connection.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int kAnswerSeconds = 60;  // a scheduler may be busy, and a flush waits for workers

absl::Status NoAnswer(const std::string& address, const absl::Status& status) {
  return absl::UnavailableError(fmt::format(
      "{}: no answer ({}); give the address of the scheduler's dashboard, as client.dashboard_link shows it", address,
      std::string(status.message())));
}

}  // namespace

std::string HostAndPort(const std::string& address) { return address.substr(kDaskScheme.size()); }

absl::Status WithoutPlugin(const std::string& address, HttpConnection* scheduler) {
  const absl::StatusOr<HttpAnswer> counts = scheduler->Get("/json/counts.json");
  if (!counts.ok()) return NoAnswer(address, counts.status());
  if (counts->status == 200 && nlohmann::json::parse(counts->body, nullptr, /*allow_exceptions=*/false).is_object()) {
    return absl::NotFoundError(
        fmt::format("{}: the scheduler has no crema plug-in; attach it with crema_hep.attach(client)", address));
  }
  return absl::NotFoundError(
      fmt::format("{}: is no Dask scheduler (no /json/counts.json); give the address of its dashboard, as "
                  "client.dashboard_link shows it",
                  address));
}

absl::Status PullDaskLog(const std::string& address, const std::string& path) {
  HttpConnection scheduler(HostAndPort(address), kAnswerSeconds);
  const absl::StatusOr<HttpAnswer> flushed = scheduler.Get("/crema/v1/flush");
  if (!flushed.ok()) return NoAnswer(address, flushed.status());
  if (flushed->status == 404) return WithoutPlugin(address, &scheduler);
  if (flushed->status != 200) {
    return absl::UnavailableError(fmt::format("{}: answered {} to /crema/v1/flush", address, flushed->status));
  }

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::string since = "0";
  std::string epoch;
  while (true) {
    absl::StatusOr<HttpAnswer> page = scheduler.Get("/crema/v1/records?since=" + since);
    if (!page.ok()) return NoAnswer(address, page.status());
    if (page->status != 200) {
      return absl::UnavailableError(fmt::format("{}: answered {} to /crema/v1/records", address, page->status));
    }
    const std::string answered_by = page->headers["x-crema-epoch"];
    if (!epoch.empty() && answered_by != epoch) since = "0";  // the scheduler was restarted
    const bool is_restart = !epoch.empty() && answered_by != epoch;
    epoch = answered_by;
    if (is_restart) continue;
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

}  // namespace crema
