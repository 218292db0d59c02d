#include "collector/server/http_server.h"

#include <sys/resource.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <charconv>

namespace crema {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

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

constexpr std::chrono::milliseconds kPauseAfterFailure(200);

/// What is left of the limit of descriptors besides logs, reports and the program itself.
size_t DescriptorsForClients() {
  constexpr rlim_t kForTheRest = 24, kLeast = 4;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return static_cast<size_t>(std::max(limit.rlim_cur, kForTheRest + kLeast) - kForTheRest);
}

}  // namespace

/// One connection of the live server. Keeps itself alive while an operation of it is under way. Every operation has a
/// time limit: a client that is silent, or does not take what it asked for, is dropped.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(tcp::socket socket, HttpServer* server) : stream_(std::move(socket)), server_(server) {}
  ~HttpSession() { server_->Forget(this); }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void Start() { Read(); }
  bool IsOpen() const { return stream_.socket().is_open(); }
  /// Whether it has shown that it may ask.
  bool IsKnown() const { return is_known_; }
  /// Whether it owes a request.
  bool IsSilent() const { return is_silent_; }

  /// Where a page listens: sends it what has changed, unless it has not taken the last message yet.
  void Update() {
    if (!is_events_ || is_sending_ || !stream_.socket().is_open()) return;
    const int64_t now = server_->service().now();
    const std::string delta = server_->service().Delta(sent_);
    sent_ = now;
    SendText(fmt::format("id: {}\ndata: {}\n\n", now, delta));
  }

  void Close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  using Response = http::response<http::string_body>;

  void Read() {
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

  void Handle() {
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
      if (since.empty()) since = ValueOr(target.query, "since", "");
      int64_t number = 0;
      std::from_chars(since.data(), since.data() + since.size(), number);
      return BeginEvents(number);
    }
    LiveReply reply = server_->service().Answer(target);
    Reply(reply.status, reply.type, std::move(reply.body), reply.policy);
  }

  void HandleUnreadable(beast::error_code error) {
    is_silent_ = false;
    const bool has_body = error == http::error::body_limit || error == http::error::unexpected_body;
    if (has_body || error == http::error::header_limit) return Reply(413, kText, "too large\n");
    const bool has_gone = error == http::error::end_of_stream || error == http::error::partial_message;
    if (!has_gone && error.category() == http::make_error_code(http::error::bad_method).category()) {
      return Reply(400, kText, "not an HTTP request\n");
    }
    Close();
  }

  /// What stands against an answer; status 200 where nothing does.
  LiveReply Objection(const HttpTarget& target) const {
    const auto& request = parser_->get();
    const auto field = [&request](auto name) { return View(request[name]); };
    if (request.count(http::field::host) != 1 || target.path.empty() || target.path.front() != '/') {
      return {400, kText, "a request has one Host, and a path\n"};
    }
    beast::error_code error;
    const std::string address = stream_.socket().local_endpoint(error).address().to_string();
    if (!IsOwnHost(field(http::field::host), address, server_->access().host_names)) {
      return {403, kText, "unknown Host header; add the name with crema serve --host NAME\n"};
    }
    // a page may be opened from anywhere, its parts are asked for by itself
    const std::string_view site = field("Sec-Fetch-Site");
    if ((site == "cross-site" || site == "same-site") && field("Sec-Fetch-Mode") != "navigate") {
      return {403, kText, "refused: a page of another site asked\n"};
    }
    if (request.method() != http::verb::get) return {405, kText, "only GET\n"};
    if (!HasToken(server_->access().token, target, field(http::field::authorization), field(http::field::cookie))) {
      return {401, kText, "a token is needed: open the address that crema serve has printed\n"};
    }
    return {};
  }

  /// The page's own requests carry the token as a cookie, and it does not stay in the address bar.
  void WelcomeWithCookie() {
    // Where another site has led to the page, a browser follows a redirection without the strict cookie. Such a page
    // goes on by itself.
    const bool is_led_here = View(parser_->get()["Sec-Fetch-Site"]) == "cross-site";
    auto response = std::make_shared<Response>(MakeResponse(is_led_here ? 200 : 303, "text/html; charset=utf-8"));
    if (is_led_here) {
      response->body() = "<!doctype html><meta http-equiv=refresh content=\"0;url=./\"><a href=\"./\">crema</a>\n";
    } else {
      response->set(http::field::location, "./");  // behind a proxy the page has a prefix
    }
    const std::string& token = server_->access().token;
    response->set(http::field::set_cookie,
                  fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", TokenCookie(token), token));
    response->keep_alive(parser_->get().keep_alive());
    Send(response);
  }

  /// An empty `policy` is that of the live page.
  void Reply(int status, std::string_view type, std::string body, std::string_view policy = "") {
    auto response = std::make_shared<Response>(MakeResponse(status, type));
    if (!policy.empty()) response->set("Content-Security-Policy", Beast(policy));
    if (parser_->get().method() != http::verb::head) response->body() = std::move(body);
    response->keep_alive(status == 200 && parser_->get().keep_alive());
    if (status == 405) response->set(http::field::allow, "GET");
    if (status == 503) response->set(http::field::retry_after, "5");
    if (status == 401) response->set(http::field::www_authenticate, "Bearer");
    Send(response);
  }

  void Send(const std::shared_ptr<Response>& response) {
    response->prepare_payload();
    stream_.expires_after(kAnswerLimit);
    http::async_write(stream_, *response, [self = shared_from_this(), response](beast::error_code error, size_t) {
      if (error || !response->keep_alive()) return self->Close();
      self->Read();
    });
  }

  Response MakeResponse(int status, std::string_view type) const {
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

  void BeginEvents(int64_t since) {
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

  void SendText(std::string text) {
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

  /// A client that goes away is noticed at once, not at the next message.
  void WatchForEnd() {
    stream_.socket().async_wait(tcp::socket::wait_read,
                                [self = shared_from_this()](const beast::error_code&) { self->Close(); });
  }

  beast::tcp_stream stream_;
  HttpServer* server_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  bool is_known_ = false;
  bool is_silent_ = true;
  bool is_events_ = false;
  bool is_sending_ = false;
  int64_t sent_ = 0;  ///< the last change that the page was sent
  std::string text_;  ///< being sent
};

HttpServer::HttpServer(boost::asio::io_context* context, LiveService* service, ServerAccess access)
    : service_(service), access_(std::move(access)), acceptor_(*context), pause_(*context) {
  const size_t room = DescriptorsForClients() / 2;
  most_clients_ = std::min(kMostClients, room);
  most_strangers_ = std::min(kMostStrangers, room);
}

absl::Status HttpServer::Listen(const std::string& address, uint16_t port) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error)
    return absl::InvalidArgumentError(
        fmt::format("{}: not an address (--bind takes 127.0.0.1, ::1, 0.0.0.0)", address));
  const tcp::endpoint endpoint(parsed, port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
  if (error) {
    return absl::UnavailableError(
        fmt::format("{} port {}: {}; choose another {}", address, port, error.message(),
                    error.value() == EADDRNOTAVAIL ? "address with --bind" : "with --port, or 0 for a free one"));
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
    const auto strangers = absl::c_count_if(sessions_, [&](const HttpSession* one) { return is_stranger(*one); });
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
  const auto clients = absl::c_count_if(sessions_, [&](const HttpSession* one) { return is_other_client(*one); });
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
