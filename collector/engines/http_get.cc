#include "collector/engines/http_get.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "boost/asio/error.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::chrono::seconds kConnectLimit(5);
constexpr size_t kMostMebibytes = 64;  // a page of records is some megabytes

/// The lines before the body; npos: they have no end. Catalogs end each with a line feed alone, which a strict reader
/// of HTTP refuses.
size_t TakeHead(const std::string& text, HttpAnswer* answer) {
  for (size_t begin = 0;;) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) return end;
    const std::string line(absl::StripAsciiWhitespace(text.substr(begin, end - begin)));
    const size_t colon = line.find(':');
    if (begin == 0) {
      const size_t code = std::min(line.find(' ') + 1, line.size());
      if (!absl::SimpleAtoi(line.substr(code, 3), &answer->status)) answer->status = 0;
    } else if (colon != std::string::npos) {
      answer->headers[absl::AsciiStrToLower(line.substr(0, colon))] =
          std::string(absl::StripLeadingAsciiWhitespace(line.substr(colon + 1)));
    }
    begin = end + 1;
    if (line.empty()) return begin;
  }
}

}  // namespace

absl::StatusOr<HttpAnswer> HttpGet(const std::string& server, const std::string& target, std::chrono::seconds limit) {
  const size_t colon = server.rfind(':');
  std::string host = server.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::string port = colon == std::string::npos ? "" : server.substr(colon + 1);
  port = port.substr(0, port.find('/'));
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(std::min(kConnectLimit, limit));
  stream.connect(host, port);
  stream.expires_after(limit);
  // HTTP/1.0, so that the answer comes in one piece, and its end is that of the connection.
  stream << "GET " << target << " HTTP/1.0\r\nHost: " << host << ":" << port << "\r\nConnection: close\r\n\r\n"
         << std::flush;
  std::string text;
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(stream.gcount()));
    if (text.size() <= kMostMebibytes << 20) continue;
    return absl::ResourceExhaustedError(fmt::format("its answer to {} is larger than {} MiB", target, kMostMebibytes));
  }
  if (stream.error() && stream.error() != boost::asio::error::eof) {
    return absl::UnavailableError(stream.error().message());
  }
  HttpAnswer answer;
  const size_t body = TakeHead(text, &answer);
  if (body == std::string::npos) return absl::UnavailableError("its answer has no end of headers");
  answer.body = text.substr(body);
  size_t bytes = 0;
  if (absl::SimpleAtoi(answer.headers["content-length"], &bytes) && answer.body.size() < bytes) {
    return absl::UnavailableError("its answer ends early");
  }
  return answer;
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const at = text.data() + i;
    const bool is_code = *at == '%' && i + 2 < text.size() && std::from_chars(at + 1, at + 3, byte, 16).ptr == at + 3;
    decoded += is_code ? static_cast<char>(byte) : *at;
    if (is_code) i += 2;
  }
  return decoded;
}

}  // namespace crema
