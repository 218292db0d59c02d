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
constexpr std::string_view kText = "text/plain; charset=utf-8";

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

void HttpSession::Close() {
  beast::error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

void HttpSession::Read() {
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(0);  // nothing is ever taken from a client
  is_silent_ = true;
  stream_.expires_after(kRequestLimit);
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, size_t) {
    if (!error) return self->Handle();
    self->HandleUnreadable(error);
  });
}

void HttpSession::HandleUnreadable(beast::error_code error) {
  is_silent_ = false;
  const bool has_body = error == http::error::body_limit || error == http::error::unexpected_body;
  if (has_body || error == http::error::header_limit) return Reply(413, kText, "too large\n");
  const bool has_gone = error == http::error::end_of_stream || error == http::error::partial_message;
  if (!has_gone && error.category() == http::make_error_code(http::error::bad_method).category()) {
    return Reply(400, kText, "no request of HTTP\n");
  }
  Close();
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
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  return response;
}

void HttpSession::Reply(int status, std::string_view type, std::string body, std::string_view policy) {
  auto response = std::make_shared<Response>(MakeResponse(status, type));
  if (!policy.empty()) response->set("Content-Security-Policy", Beast(policy));
  if (parser_->get().method() != http::verb::head) response->body() = std::move(body);
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

LiveReply HttpSession::Objection(const HttpTarget& target) const {
  const auto& request = parser_->get();
  const auto field = [&request](auto name) { return View(request[name]); };
  if (request.count(http::field::host) != 1 || target.path.empty() || target.path.front() != '/') {
    return {400, kText, "a request has one Host, and a path\n"};
  }
  beast::error_code error;
  const std::string address = stream_.socket().local_endpoint(error).address().to_string();
  if (!IsOwnHost(field(http::field::host), address, server_->access().host_names)) {
    return {403, kText, "the Host of the request is no name of this server; crema serve --host NAME adds one\n"};
  }
  // a page may be opened from anywhere, its parts are asked for by itself
  const std::string_view site = field("Sec-Fetch-Site");
  if ((site == "cross-site" || site == "same-site") && field("Sec-Fetch-Mode") != "navigate") {
    return {403, kText, "asked for by another site's page\n"};
  }
  if (request.method() != http::verb::get) return {405, kText, "only GET\n"};
  if (!HasToken(server_->access().token, target, field(http::field::authorization), field(http::field::cookie))) {
    return {401, kText, "a token is needed: open the address that crema serve has printed\n"};
  }
  return {};
}

/// The page's own requests carry the token as a cookie, and it does not stay in the address bar.
void HttpSession::WelcomeWithCookie() {
  // Of a page that another site has led to, a browser sends no strict cookie with what a redirection asks for. That
  // page goes on by itself.
  const bool is_led_here = View(parser_->get()["Sec-Fetch-Site"]) == "cross-site";
  auto response = std::make_shared<Response>(MakeResponse(is_led_here ? 200 : 303, "text/html; charset=utf-8"));
  if (is_led_here) {
    response->body() = "<!doctype html><meta http-equiv=refresh content=\"0;url=/\"><a href=\"/\">crema</a>\n";
  } else {
    response->set(http::field::location, "/");
  }
  const std::string& token = server_->access().token;
  response->set(http::field::set_cookie,
                fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", TokenCookie(token), token));
  response->keep_alive(parser_->get().keep_alive());
  Send(response);
}

void HttpSession::Handle() {
  is_silent_ = false;
  const auto& request = parser_->get();
  const HttpTarget target = ParseTarget(View(request.target()));
  if (LiveReply objection = Objection(target); objection.status != 200) {
    return Reply(objection.status, objection.type, std::move(objection.body));
  }
  is_known_ = true;
  server_->MoveToEnd(this);
  if (!server_->MakeRoomFor(this)) {
    is_known_ = false;
    return Reply(503, kText, "the server has no room for another client\n");
  }
  if (target.path == "/" && !server_->access().token.empty() && target.query.count("token") > 0) {
    return WelcomeWithCookie();
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
