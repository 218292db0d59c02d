#include "collector/server/access.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "absl/strings/ascii.h"
#include "fmt/format.h"

namespace crema {
namespace {

std::string Lower(std::string_view text) { return absl::AsciiStrToLower(absl::string_view(text.data(), text.size())); }

int HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0) {
      decoded += static_cast<char>(16 * HexDigit(text[i + 1]) + HexDigit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string_view WithoutPort(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool IsAddress(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

bool IsSame(std::string_view token, std::string_view given) {
  unsigned difference = token.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < token.size(); ++i) {
    difference |=
        static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(given.empty() ? 0 : given[i % given.size()]);
  }
  return difference == 0;
}

std::string_view CookieOf(std::string_view cookies) {
  while (!cookies.empty()) {
    const size_t end = cookies.find(';');
    std::string_view cookie = cookies.substr(0, end);
    while (!cookie.empty() && cookie.front() == ' ') cookie.remove_prefix(1);
    const size_t equals = cookie.find('=');
    if (equals != std::string_view::npos && cookie.substr(0, equals) == kTokenCookie) return cookie.substr(equals + 1);
    if (end == std::string_view::npos) break;
    cookies.remove_prefix(end + 1);
  }
  return "";
}

}  // namespace

HttpTarget ParseTarget(std::string_view target) {
  HttpTarget parsed;
  const size_t question = target.find('?');
  parsed.path = std::string(target.substr(0, question));
  if (question == std::string_view::npos) return parsed;
  std::string_view query = target.substr(question + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const size_t equals = pair.find('=');
    parsed.query[Decoded(pair.substr(0, equals))] =
        equals == std::string_view::npos ? "" : Decoded(pair.substr(equals + 1));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return parsed;
}

bool IsOwnHost(std::string_view host) {
  const std::string name = Lower(WithoutPort(host));
  if (name.empty()) return false;
  if (name == "localhost" || IsAddress(name)) return true;
  char own[256] = "";
  if (gethostname(own, sizeof(own) - 1) != 0) return false;
  const std::string full = Lower(own);
  return name == full || name == full.substr(0, full.find('.')) || name.substr(0, name.find('.')) == full;
}

bool IsLoopback(std::string_view address) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(std::string(address), error);
  return !error && parsed.is_loopback();
}

bool HasToken(std::string_view token, const HttpTarget& target, std::string_view authorization,
              std::string_view cookies) {
  if (token.empty()) return true;
  constexpr std::string_view kBearer = "Bearer ";
  bool has = false;
  if (authorization.substr(0, kBearer.size()) == kBearer) has |= IsSame(token, authorization.substr(kBearer.size()));
  if (const auto given = target.query.find("token"); given != target.query.end()) has |= IsSame(token, given->second);
  return has | IsSame(token, CookieOf(cookies));
}

std::string MakeToken() {
  unsigned char bytes[16] = {};
  while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace crema
