#include "collector/server/access.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <cstdint>

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

/// `name`, `name:80`, `[::1]:80` without the port; empty where it is none of these.
std::string_view WithoutPort(std::string_view host) {
  const bool has_brackets = !host.empty() && host.front() == '[';
  const size_t end = has_brackets ? host.find(']') : host.find(':');
  const std::string_view name = has_brackets ? host.substr(0, end == host.npos ? 0 : end + 1) : host.substr(0, end);
  const std::string_view port = host.substr(name.size());
  if (port.empty()) return name;
  const bool is_port = port.front() == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_port ? name : std::string_view();
}

/// How a `Host` writes an address; an IPv4 address that came in by a socket for both kinds is one of IPv4.
std::string AsHost(std::string_view address) {
  boost::system::error_code error;
  auto parsed = boost::asio::ip::make_address(std::string(address), error);
  if (error) return "";
  if (parsed.is_v6() && parsed.to_v6().is_v4_mapped()) {
    parsed = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, parsed.to_v6());
  }
  return parsed.is_v6() ? "[" + parsed.to_string() + "]" : parsed.to_string();
}

bool IsSame(std::string_view token, std::string_view given) {
  unsigned difference = token.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < token.size(); ++i) {
    difference |=
        static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(given.empty() ? 0 : given[i % given.size()]);
  }
  return difference == 0;
}

/// Another port of this host may have set a cookie of the same name: one that is right is enough.
bool HasCookie(std::string_view cookies, std::string_view name, std::string_view token) {
  bool has = false;
  while (!cookies.empty()) {
    const size_t end = cookies.find(';');
    std::string_view cookie = cookies.substr(0, end);
    while (!cookie.empty() && cookie.front() == ' ') cookie.remove_prefix(1);
    const size_t equals = cookie.find('=');
    if (equals != std::string_view::npos && cookie.substr(0, equals) == name) {
      has |= IsSame(token, cookie.substr(equals + 1));
    }
    if (end == std::string_view::npos) break;
    cookies.remove_prefix(end + 1);
  }
  return has;
}

/// Names of schemes are of either case (RFC 9110, 11.1).
std::string_view BearerOf(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  const bool is_bearer = Lower(authorization.substr(0, kBearer.size())) == kBearer;
  return is_bearer ? authorization.substr(kBearer.size()) : std::string_view();
}

constexpr size_t kMostBytes = 1024;

absl::Status Failed(const std::string& path) {
  return absl::ErrnoToStatus(errno, fmt::format("{}: the token cannot be kept there", path));
}

absl::Status CheckPrivate(const std::string& path, int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return Failed(path);
  if (!S_ISREG(status.st_mode)) return absl::FailedPreconditionError(path + ": is no regular file for a token");
  if (status.st_uid != geteuid()) {
    return absl::FailedPreconditionError(path + ": belongs to another user, who knows the token; name a file of yours");
  }
  if ((status.st_mode & 0077) != 0) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: others can read or write the token (mode {:04o}); run chmod 600 on it", path, status.st_mode & 07777));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadOrMake(const std::string& path, int descriptor) {
  if (absl::Status status = CheckPrivate(path, descriptor); !status.ok()) return status;
  flock(descriptor, LOCK_EX);  // of two servers that begin together, one makes the token
  std::string text(kMostBytes, '\0');
  const ssize_t got = pread(descriptor, text.data(), text.size(), 0);
  if (got < 0) return Failed(path);
  text.resize(static_cast<size_t>(got));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty()) {
    text = MakeToken();
    const std::string line = text + "\n";
    if (pwrite(descriptor, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) return Failed(path);
  }
  if (!CanBeToken(text)) {
    return absl::InvalidArgumentError(path + ": holds no token: one line of 8 to 256 letters, digits and -._~");
  }
  return text;
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

std::vector<std::string> OwnHostNames(const std::vector<std::string>& given) {
  std::vector<std::string> names = {"localhost"};
  for (const std::string& name : given) names.push_back(Lower(name));
  char own[256] = "";
  if (gethostname(own, sizeof(own) - 1) == 0 && own[0] != '\0') {
    const std::string full = Lower(own);
    names.push_back(full.substr(0, full.find('.')));
    names.push_back(full);
  }
  return names;
}

bool IsOwnHost(std::string_view host, std::string_view address, const std::vector<std::string>& names) {
  const std::string name = Lower(WithoutPort(host));
  if (name.empty()) return false;
  if (name == "127.0.0.1" || name == "[::1]" || name == AsHost(address)) return true;
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool HasToken(std::string_view token, const HttpTarget& target, std::string_view authorization,
              std::string_view cookies) {
  if (token.empty()) return true;
  bool has = IsSame(token, BearerOf(authorization));
  if (const auto given = target.query.find("token"); given != target.query.end()) has |= IsSame(token, given->second);
  return has | HasCookie(cookies, TokenCookie(token), token);
}

std::string MakeToken() {
  unsigned char bytes[16] = {};
  while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool CanBeToken(std::string_view text) {
  constexpr size_t kLeast = 8, kMost = 256;
  const auto means_itself = [](char byte) {
    return absl::ascii_isalnum(static_cast<unsigned char>(byte)) ||
           std::string_view("-._~").find(byte) != std::string_view::npos;
  };
  return text.size() >= kLeast && text.size() <= kMost && std::all_of(text.begin(), text.end(), means_itself);
}

std::string TokenCookie(std::string_view token) {
  uint32_t hash = 2166136261;  // FNV-1a: who sees the name sees the value too, so it has nothing to hide
  for (const char byte : token) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619;
  return fmt::format("crema_{:08x}", hash);
}

absl::StatusOr<std::string> TokenOfFile(const std::string& path) {
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int descriptor = open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0600);
  if (descriptor < 0 && errno == EACCES) descriptor = open(path.c_str(), O_RDONLY | kFlags);  // 0400
  if (descriptor < 0) return Failed(path);
  absl::StatusOr<std::string> token = ReadOrMake(path, descriptor);
  close(descriptor);
  return token;
}

}  // namespace crema
