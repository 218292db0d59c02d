#include "collector/engines/taskvine/catalog_follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "boost/asio/error.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "collector/engines/http/server_name.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kUsualPort = "9097";
constexpr std::chrono::seconds kPause(10);
constexpr std::chrono::seconds kMostAnswer(5);
constexpr size_t kMostBytes = size_t{64} << 20;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// `my%20run` is `my run`.
std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexDigit(text[i + 2]);
    decoded += low < 0 ? text[i] : static_cast<char>(16 * high + low);
    if (low >= 0) i += 2;
  }
  return decoded;
}

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The body of an answer to a plain request. Catalogs end the lines of their headers with a line feed alone, which a
/// strict reader of HTTP refuses.
absl::StatusOr<std::string> Get(const ServerName& server, const std::string& target) {
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(kMostAnswer);
  stream.connect(server.host, server.port);
  stream << "GET " << target << " HTTP/1.0\r\nHost: " << server.HostField() << "\r\nConnection: close\r\n\r\n"
         << std::flush;
  std::string answer;
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
    answer.append(block.data(), static_cast<size_t>(stream.gcount()));
    if (answer.size() > kMostBytes) return absl::UnavailableError("its answer is too long");
  }
  if (stream.error() && stream.error() != boost::asio::error::eof) {
    return absl::UnavailableError(fmt::format("no answer ({})", stream.error().message()));
  }
  const std::string status = answer.substr(std::min(answer.find(' ') + 1, answer.size()), 3);
  if (status != "200") return absl::UnavailableError(fmt::format("it answered {} to {}", status, target));
  const size_t strict = answer.find("\r\n\r\n"), plain = answer.find("\n\n");
  if (std::min(strict, plain) == std::string::npos) return absl::UnavailableError("its answer has no end of headers");
  return strict < plain ? answer.substr(strict + 4) : answer.substr(plain + 2);
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
  parsed.project = Decoded(address.substr(std::min(slash + 1, address.size())));
  return parsed;
}

absl::StatusOr<std::string> ManagersIn(const std::string& answer, std::string_view type, const std::string& project) {
  const Json services = Json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!services.is_array()) return absl::InvalidArgumentError("its answer is no list of services");
  Json managers = Json::array();
  for (const Json& service : services) {
    if (!service.is_object() || TextOf(service, "type") != type) continue;
    if (project.empty() || TextOf(service, "project") == project) managers.push_back(service);
  }
  if (managers.empty()) {
    return absl::NotFoundError(project.empty() ? fmt::format("it knows no {}", type)
                                               : fmt::format("it knows no {} of the name {}", type, project));
  }
  return managers.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

CatalogFollower::CatalogFollower(const std::string& address, std::string type)
    : address_(ParseCatalogAddress(address)), type_(std::move(type)), thread_([this] { Follow(); }) {}

CatalogFollower::~CatalogFollower() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

EngineNews CatalogFollower::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  EngineNews news = news_;
  news_.pages.clear();
  return news;
}

void CatalogFollower::Follow() {
  const ServerName server(address_.server);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    absl::StatusOr<std::string> managers = Get(server, "/query.json");
    if (managers.ok()) managers = ManagersIn(*managers, type_, address_.project);
    lock.lock();
    news_.answers = managers.ok();
    news_.problem =
        managers.ok() ? "" : fmt::format("catalog {}: {}", address_.server, std::string(managers.status().message()));
    // what nobody took is older than this
    if (managers.ok()) news_.pages.assign(1, *std::move(managers));
    wake_.wait_for(lock, kPause, [this] { return stopping_; });
  }
}

}  // namespace crema
