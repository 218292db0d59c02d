#include "collector/sources/dask/dask_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace crema {
namespace {

constexpr std::string_view kScheme = "dask://";
constexpr int kConnectSeconds = 5;
constexpr int kAnswerSeconds = 60;  // a scheduler may be busy, and a flush waits for workers

absl::Status NoAnswer(const std::string& address, httplib::Error error) {
  return absl::UnavailableError(fmt::format(
      "{}: no answer ({}); give the address of the scheduler's dashboard, as client.dashboard_link shows it", address,
      httplib::to_string(error)));
}

}  // namespace

bool IsDaskAddress(std::string_view source) { return source.substr(0, kScheme.size()) == kScheme; }

std::string HostAndPort(const std::string& address) { return address.substr(kScheme.size()); }

absl::Status PullDaskLog(const std::string& address, const std::string& path) {
  httplib::Client client("http://" + HostAndPort(address));
  client.set_connection_timeout(kConnectSeconds);
  client.set_read_timeout(kAnswerSeconds);
  client.set_keep_alive(true);
  const httplib::Result flushed = client.Get("/crema/v1/flush");
  if (!flushed) return NoAnswer(address, flushed.error());
  if (flushed->status == 404) {
    return absl::NotFoundError(
        fmt::format("{}: the scheduler has no crema plug-in; attach it with crema_hep.attach(client)", address));
  }
  if (flushed->status != 200) {
    return absl::UnavailableError(fmt::format("{}: answered {} to /crema/v1/flush", address, flushed->status));
  }

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::string since = "0";
  std::string epoch;
  while (true) {
    const httplib::Result page = client.Get("/crema/v1/records?since=" + since);
    if (!page) return NoAnswer(address, page.error());
    if (page->status != 200) {
      return absl::UnavailableError(fmt::format("{}: answered {} to /crema/v1/records", address, page->status));
    }
    const std::string answered_by = page->get_header_value("X-Crema-Epoch");
    if (!epoch.empty() && answered_by != epoch) since = "0";  // the scheduler was restarted
    const bool is_restart = !epoch.empty() && answered_by != epoch;
    epoch = answered_by;
    if (is_restart) continue;
    if (page->body.empty()) break;
    file << page->body;
    since = page->get_header_value("X-Crema-Next");
  }
  file.close();
  if (file.fail()) return absl::UnavailableError(fmt::format("{}: cannot be written ({})", path, strerror(errno)));
  return absl::OkStatus();
}

}  // namespace crema
