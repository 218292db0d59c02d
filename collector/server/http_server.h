// The live server: GET over HTTP/1.1, and a stream of server-sent events for each page.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "collector/server/live_service.h"

namespace crema {

/// Clients that have shown that they may ask; one more is answered 503.
inline constexpr size_t kMostClients = 32;
/// Connections that have not. One more drops the one that has been silent for longest, so that nobody can fill the
/// server without the token.
inline constexpr size_t kMostStrangers = 32;

/// Who may ask.
struct ServerAccess {
  std::string token;                    ///< empty: whoever reaches the server
  std::vector<std::string> host_names;  ///< of OwnHostNames
};

class HttpSession;

class HttpServer {
 public:
  /// `context` and `service` outlive it.
  HttpServer(boost::asio::io_context* context, LiveService* service, ServerAccess access);

  /// Begins to accept. `port` 0: a free one. Errors: no such address; the port is taken.
  absl::Status Listen(const std::string& address, uint16_t port);
  /// Ends every connection.
  void Stop();
  /// Sends every page what has changed.
  void Broadcast();

  /// `http://127.0.0.1:8080/`, of the port that was taken. Where it listens at all addresses, `name` stands for them.
  std::string url(const std::string& name) const;
  const ServerAccess& access() const { return access_; }
  LiveService& service() { return *service_; }

  /// Makes room for one more client; false where all that are there are busy.
  bool MakeRoomFor(const HttpSession* client);
  /// It was used just now.
  void MoveToEnd(HttpSession* session);
  void Forget(HttpSession* session);

 private:
  void Accept();
  void AcceptLater();
  bool CloseFirst(const std::function<bool(const HttpSession&)>& is_the_one);

  LiveService* service_;
  ServerAccess access_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  size_t most_clients_ = kMostClients;
  size_t most_strangers_ = kMostStrangers;
  std::vector<HttpSession*> sessions_;  ///< those that were used last are last
};

}  // namespace crema
