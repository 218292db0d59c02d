#include "collector/server/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "collector/server/http_session.h"
#include "fmt/format.h"

namespace crema {

using boost::asio::ip::tcp;

namespace {

constexpr std::chrono::milliseconds kPauseAfterFailure(200);

/// What is left of the limit of descriptors besides logs, reports and the program itself.
size_t DescriptorsForClients() {
  constexpr rlim_t kForTheRest = 24, kLeast = 4;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return static_cast<size_t>(std::max(limit.rlim_cur, kForTheRest + kLeast) - kForTheRest);
}

}  // namespace

HttpServer::HttpServer(boost::asio::io_context* context, LiveService* service, ServerAccess access)
    : service_(service), access_(std::move(access)), acceptor_(*context), pause_(*context) {
  const size_t room = DescriptorsForClients() / 2;
  most_clients_ = std::min(kMostClients, room);
  most_strangers_ = std::min(kMostStrangers, room);
}

HttpServer::~HttpServer() = default;

absl::Status HttpServer::Listen(const std::string& address, uint16_t port) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error)
    return absl::InvalidArgumentError(fmt::format("{}: is no address (--bind takes 127.0.0.1, ::1, 0.0.0.0)", address));
  const tcp::endpoint endpoint(parsed, port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
  if (error) {
    return absl::UnavailableError(
        fmt::format("{} port {}: {}; choose another with --port, or 0 for a free one", address, port, error.message()));
  }
  Accept();
  return absl::OkStatus();
}

std::string HttpServer::url(const std::string& name) const {
  boost::system::error_code error;
  const tcp::endpoint endpoint = acceptor_.local_endpoint(error);
  std::string host = endpoint.address().to_string();
  if (endpoint.address().is_v6()) host = "[" + host + "]";
  if (endpoint.address().is_unspecified()) host = name;  // no browser goes to 0.0.0.0
  return fmt::format("http://{}:{}/", host, endpoint.port());
}

bool HttpServer::CloseFirst(const std::function<bool(const HttpSession&)>& is_the_one) {
  for (HttpSession* session : sessions_) {
    if (!is_the_one(*session)) continue;
    session->Close();
    return true;
  }
  return false;
}

void HttpServer::Accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error) {
      // no descriptor is left: who is silent gives his, and whoever comes waits
      const auto is_silent = [](const HttpSession& session) { return session.IsOpen() && session.IsSilent(); };
      CloseFirst(is_silent);
      return AcceptLater();
    }
    const auto is_stranger = [](const HttpSession& session) { return session.IsOpen() && !session.IsKnown(); };
    const auto strangers =
        std::count_if(sessions_.begin(), sessions_.end(), [&](const HttpSession* one) { return is_stranger(*one); });
    if (static_cast<size_t>(strangers) >= most_strangers_) CloseFirst(is_stranger);
    auto session = std::make_shared<HttpSession>(std::move(socket), this);
    sessions_.push_back(session.get());
    session->Start();
    Accept();
  });
}

void HttpServer::AcceptLater() {
  pause_.expires_after(kPauseAfterFailure);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error && acceptor_.is_open()) Accept();
  });
}

bool HttpServer::MakeRoomFor(const HttpSession* client) {
  const auto is_other_client = [client](const HttpSession& session) {
    return &session != client && session.IsOpen() && session.IsKnown();
  };
  const auto clients =
      std::count_if(sessions_.begin(), sessions_.end(), [&](const HttpSession* one) { return is_other_client(*one); });
  if (static_cast<size_t>(clients) < most_clients_) return true;
  return CloseFirst([&](const HttpSession& session) { return is_other_client(session) && session.IsSilent(); });
}

void HttpServer::MoveToEnd(HttpSession* session) {
  Forget(session);
  sessions_.push_back(session);
}

void HttpServer::Forget(HttpSession* session) {
  sessions_.erase(std::remove(sessions_.begin(), sessions_.end(), session), sessions_.end());
}

void HttpServer::Broadcast() {
  // a session that ends takes itself out
  const std::vector<HttpSession*> sessions = sessions_;
  for (HttpSession* session : sessions) session->Update();
}

void HttpServer::Stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  const std::vector<HttpSession*> sessions = sessions_;
  for (HttpSession* session : sessions) session->Close();
}

}  // namespace crema
