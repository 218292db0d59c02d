#include "collector/server/http_server.h"

#include <boost/asio/ip/address.hpp>
#include <utility>
#include <vector>

#include "collector/server/http_session.h"
#include "fmt/format.h"

namespace crema {

using boost::asio::ip::tcp;

HttpServer::HttpServer(boost::asio::io_context* context, LiveService* service, std::string token)
    : service_(service), token_(std::move(token)), acceptor_(*context) {}

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

std::string HttpServer::url() const {
  boost::system::error_code error;
  const tcp::endpoint endpoint = acceptor_.local_endpoint(error);
  const std::string address = endpoint.address().to_string();
  return fmt::format("http://{}:{}/", endpoint.address().is_v6() ? "[" + address + "]" : address, endpoint.port());
}

void HttpServer::Accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!error) {
      const bool is_one_too_many = sessions_.size() >= kMostClients;
      auto session = std::make_shared<HttpSession>(std::move(socket), this);
      sessions_.insert(session.get());
      session->Start(is_one_too_many);
    }
    Accept();
  });
}

void HttpServer::Broadcast() {
  // a session that ends takes itself out
  const std::vector<HttpSession*> sessions(sessions_.begin(), sessions_.end());
  for (HttpSession* session : sessions) session->Update();
}

void HttpServer::Stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  const std::vector<HttpSession*> sessions(sessions_.begin(), sessions_.end());
  for (HttpSession* session : sessions) session->Close();
}

}  // namespace crema
