#include "collector/server/http_session.h"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>
#include <utility>

#include "collector/server/access.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::chrono::seconds kRequestLimit(20);  // also between two requests of one connection
constexpr std::chrono::seconds kAnswerLimit(10);
constexpr uint32_t kMostHeaderBytes = 16 << 10;

// No script or style but the server's own, and no connection to anybody else.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }
beast::string_view Beast(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

HttpSession::HttpSession(boost::asio::ip::tcp::socket socket, HttpServer* server)
    : stream_(std::move(socket)), server_(server) {}

HttpSession::~HttpSession() { server_->Forget(this); }

void HttpSession::Start(bool turn_away) {
  turn_away_ = turn_away;
  Read();
}

void HttpSession::Close() {
  beast::error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

void HttpSession::Read() {
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(0);  // nothing is ever taken from a client
  stream_.expires_after(kRequestLimit);
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, size_t) {
    if (!error) return self->Handle();
    if (error == http::error::body_limit || error == http::error::header_limit) {
      return self->Reply(413, "text/plain; charset=utf-8", "too large\n");
    }
    self->Close();
  });
}

HttpSession::Response HttpSession::MakeResponse(int status, std::string_view type) const {
  Response response{static_cast<http::status>(status), 11};
  response.set(http::field::content_type, Beast(type));
  response.set(http::field::cache_control, "no-store");
  response.set("Content-Security-Policy", kPolicy);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

void HttpSession::Reply(int status, std::string_view type, std::string body, std::string_view policy) {
  auto response = std::make_shared<Response>(MakeResponse(status, type));
  if (!policy.empty()) response->set("Content-Security-Policy", Beast(policy));
  response->body() = std::move(body);
  response->keep_alive(status == 200 && parser_->get().keep_alive());
  if (status == 405) response->set(http::field::allow, "GET");
  if (status == 503) response->set(http::field::retry_after, "5");
  if (status == 401) response->set(http::field::www_authenticate, "Bearer");
  Send(response);
}

void HttpSession::Send(const std::shared_ptr<Response>& response) {
  response->prepare_payload();
  stream_.expires_after(kAnswerLimit);
  http::async_write(stream_, *response, [self = shared_from_this(), response](beast::error_code error, size_t) {
    if (error || !response->keep_alive()) return self->Close();
    self->Read();
  });
}

void HttpSession::Handle() {
  constexpr std::string_view kText = "text/plain; charset=utf-8";
  const auto& request = parser_->get();
  if (turn_away_) return Reply(503, kText, fmt::format("{} clients are served already\n", kMostClients));
  if (request.method() != http::verb::get) return Reply(405, kText, "only GET\n");
  if (!IsOwnHost(View(request[http::field::host]))) {
    return Reply(403, kText, "the Host of the request is not this machine\n");
  }
  const HttpTarget target = ParseTarget(View(request.target()));
  if (!HasToken(server_->token(), target, View(request[http::field::authorization]),
                View(request[http::field::cookie]))) {
    return Reply(401, kText, "a token is needed: open the address that crema serve has printed\n");
  }
  if (target.path == "/" && !server_->token().empty() && target.query.count("token") > 0) {
    // the page's own requests carry it as a cookie, and it does not stay in the address bar
    auto response = std::make_shared<Response>(MakeResponse(303, kText));
    response->set(http::field::location, "/");
    response->set(http::field::set_cookie,
                  fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", kTokenCookie, server_->token()));
    response->keep_alive(request.keep_alive());
    return Send(response);
  }
  if (target.path == "/events") {
    std::string since(View(request["Last-Event-ID"]));
    if (const auto given = target.query.find("since"); since.empty() && given != target.query.end()) {
      since = given->second;
    }
    int64_t number = 0;
    std::from_chars(since.data(), since.data() + since.size(), number);
    return BeginEvents(number);
  }
  LiveReply reply = server_->service().Answer(target);
  Reply(reply.status, reply.type, std::move(reply.body), reply.policy);
}

void HttpSession::BeginEvents(int64_t since) {
  is_events_ = true;
  sent_ = since;
  Response head = MakeResponse(200, "text/event-stream");
  head.set(http::field::connection, "close");  // the stream ends with the connection
  head.set("X-Accel-Buffering", "no");
  std::string text = "HTTP/1.1 200 OK\r\n";
  for (const auto& field : head) {
    text += fmt::format("{}: {}\r\n", View(field.name_string()), View(field.value()));
  }
  WatchForEnd();
  SendText(text + "\r\nretry: 2000\n\n");
}

/// A client that goes away is noticed at once, not at the next message.
void HttpSession::WatchForEnd() {
  stream_.socket().async_wait(boost::asio::ip::tcp::socket::wait_read,
                              [self = shared_from_this()](const beast::error_code&) { self->Close(); });
}

void HttpSession::Update() {
  if (!is_events_ || is_sending_ || !stream_.socket().is_open()) return;
  const int64_t now = server_->service().now();
  const std::string delta = server_->service().Delta(sent_);
  sent_ = now;
  SendText(fmt::format("id: {}\ndata: {}\n\n", now, delta));
}

void HttpSession::SendText(std::string text) {
  is_sending_ = true;
  text_ = std::move(text);
  stream_.expires_after(kAnswerLimit);
  boost::asio::async_write(stream_, boost::asio::buffer(text_),
                           [self = shared_from_this()](beast::error_code error, size_t) {
                             self->is_sending_ = false;
                             self->stream_.expires_never();
                             if (error) return self->Close();
                             // what changed meanwhile, or the whole state after the head
                             if (self->sent_ < self->server_->service().now()) self->Update();
                           });
}

}  // namespace crema
