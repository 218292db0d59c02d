// The live server: GET over HTTP/1.1, and a stream of server-sent events for each page.
#ifndef CREMA_COLLECTOR_SERVER_HTTP_SERVER_H_
#define CREMA_COLLECTOR_SERVER_HTTP_SERVER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "collector/server/live_service.h"

namespace crema {

/// One more is answered 503 at once.
inline constexpr size_t kMostClients = 32;

class HttpSession;

class HttpServer {
 public:
  /// An empty `token` asks for none. `context` and `service` outlive it.
  HttpServer(boost::asio::io_context* context, LiveService* service, std::string token);
  ~HttpServer();

  /// Begins to accept. `port` 0: a free one. Errors: no such address; the port is taken.
  absl::Status Listen(const std::string& address, uint16_t port);
  /// Ends every connection.
  void Stop();
  /// Sends every page what has changed.
  void Broadcast();

  /// `http://127.0.0.1:8080/`, of the port that was taken.
  std::string url() const;
  const std::string& token() const { return token_; }
  LiveService& service() { return *service_; }
  void Forget(HttpSession* session) { sessions_.erase(session); }

 private:
  void Accept();

  LiveService* service_;
  std::string token_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::set<HttpSession*> sessions_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_HTTP_SERVER_H_
