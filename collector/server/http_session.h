// One connection of the live server.
#ifndef CREMA_COLLECTOR_SERVER_HTTP_SESSION_H_
#define CREMA_COLLECTOR_SERVER_HTTP_SESSION_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "collector/server/access.h"
#include "collector/server/http_server.h"
#include "collector/server/live_reply.h"

namespace crema {

/// Keeps itself alive while an operation of it is under way. Every operation has a time limit: a client that is silent,
/// or does not take what it asked for, is dropped.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(boost::asio::ip::tcp::socket socket, HttpServer* server);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void Start() { Read(); }
  bool IsOpen() const { return stream_.socket().is_open(); }
  /// Whether it has shown that it may ask.
  bool IsKnown() const { return is_known_; }
  /// Whether it owes a request.
  bool IsSilent() const { return is_silent_; }
  /// Where a page listens: sends it what has changed, unless it has not taken the last message yet.
  void Update();
  void Close();

 private:
  using Request = boost::beast::http::request<boost::beast::http::empty_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void Read();
  void Handle();
  void HandleUnreadable(boost::beast::error_code error);
  /// What stands against an answer; status 200 where nothing does.
  LiveReply Objection(const HttpTarget& target) const;
  void WelcomeWithCookie();
  /// An empty `policy` is that of the live page.
  void Reply(int status, std::string_view type, std::string body, std::string_view policy = "");
  void Send(const std::shared_ptr<Response>& response);
  Response MakeResponse(int status, std::string_view type) const;
  void BeginEvents(int64_t since);
  void SendText(std::string text);
  void WatchForEnd();

  boost::beast::tcp_stream stream_;
  HttpServer* server_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  bool is_known_ = false;
  bool is_silent_ = true;
  bool is_events_ = false;
  bool is_sending_ = false;
  int64_t sent_ = 0;  ///< the last change that the page was sent
  std::string text_;  ///< being sent
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_HTTP_SESSION_H_
