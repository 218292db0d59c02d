#include "collector/engines/http/http_connection.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

constexpr std::chrono::seconds kConnectTimeout(5);
constexpr int kHttp11 = 11;
// A page of records is some megabytes, and a scheduler's own pages less.
constexpr std::uint64_t kLargestBodyMebibytes = 64;

}  // namespace

struct HttpConnection::Stream {
  boost::asio::io_context context;
  beast::tcp_stream tcp{context};
  beast::flat_buffer buffer;
  beast::error_code error;

  /// Begins an operation, which ends by calling what it is given, and waits for its end. Only operations that are begun
  /// so obey a time limit.
  template <class Begin>
  bool Run(std::chrono::seconds limit, const Begin& begin) {
    tcp.expires_after(limit);
    begin([this](const beast::error_code& outcome, const auto&...) { error = outcome; });
    context.run();
    context.restart();
    return !error;
  }
};

HttpConnection::HttpConnection(const std::string& host_and_port, int answer_seconds)
    : server_(host_and_port), answer_seconds_(answer_seconds) {}

HttpConnection::~HttpConnection() = default;

absl::StatusOr<HttpAnswer> HttpConnection::Get(const std::string& target) {
  const bool is_new = stream_ == nullptr;
  if (is_new) {
    stream_ = std::make_unique<Stream>();
    tcp::resolver resolver(stream_->context);
    const auto addresses = resolver.resolve(server_.host, server_.port, stream_->error);
    if (stream_->error) {
      const std::string reason = stream_->error.message();
      stream_ = nullptr;
      return absl::UnavailableError(reason);
    }
    stream_->Run(kConnectTimeout, [&](auto done) { stream_->tcp.async_connect(addresses, done); });
  }
  const std::chrono::seconds limit(answer_seconds_);
  http::request<http::empty_body> request(http::verb::get, target, kHttp11);
  request.set(http::field::host, server_.HostField());
  http::response_parser<http::string_body> answer;
  answer.body_limit(kLargestBodyMebibytes << 20);
  const bool has_answered = !stream_->error && stream_->Run(limit, [&](auto done) {
    http::async_write(stream_->tcp, request, done);
  }) && stream_->Run(limit, [&](auto done) { http::async_read(stream_->tcp, stream_->buffer, answer, done); });
  if (!has_answered) {
    const std::string reason = stream_->error.message();
    const bool is_too_large = stream_->error == http::error::body_limit;
    stream_ = nullptr;
    if (is_too_large) {
      return absl::ResourceExhaustedError(
          fmt::format("its answer to {} is larger than {} MiB", target, kLargestBodyMebibytes));
    }
    // A server may close a connection that was idle.
    return is_new ? absl::StatusOr<HttpAnswer>(absl::UnavailableError(reason)) : Get(target);
  }
  HttpAnswer result;
  result.status = static_cast<int>(answer.get().result_int());
  for (const auto& field : answer.get()) {
    result.headers[absl::AsciiStrToLower(std::string(field.name_string()))] = std::string(field.value());
  }
  result.body = std::move(answer.get().body());
  if (!answer.get().keep_alive()) stream_ = nullptr;
  return result;
}

}  // namespace crema
