#include "log/secret_filter.h"

#include <strings.h>

#include <cctype>
#include <cstddef>

namespace crema {
namespace internal {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool BeginsWith(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && strncasecmp(text.data(), word.data(), word.size()) == 0;
}

bool IsWord(std::string_view text, std::string_view word) {
  return text.size() == word.size() && BeginsWith(text, word);
}

bool IsScheme(std::string_view text) { return IsWord(text, "bearer") || IsWord(text, "basic"); }

bool IsUserOption(std::string_view text) {
  return IsWord(text, "-u") || IsWord(text, "--user") || IsWord(text, "--proxy-user");
}

/// Where the first word from `from` on that names a secret ends; npos: there is none. Who wrote something is no secret,
/// who may is one.
std::size_t EndOfSecretWord(std::string_view text, std::size_t from = 0) {
  for (std::size_t i = from; i < text.size(); ++i) {
    const std::string_view here = text.substr(i);
    for (const std::string_view word :
         {"token", "secret", "pass", "key", "cred", "auth", "cookie", "bearer", "pwd", "jwt"}) {
      if (!BeginsWith(here, word)) continue;
      if (BeginsWith(here, "author") && !BeginsWith(here, "authoriz")) continue;
      return i + word.size();
    }
  }
  return kNone;
}

/// Where the value begins whose name ends with a colon, perhaps quoted, behind `at`: `X-Api-Key: `, `{"token": `; npos:
/// there is none.
std::size_t ValueAfterColon(std::string_view argument, std::size_t at) {
  const auto skip = [&](const char* characters) {
    at = argument.find_first_not_of(characters, at);
    return at != kNone;
  };
  if (!skip("-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") || !skip("\"'") || !skip(" ")) {
    return kNone;
  }
  if (argument[at] != ':' || argument.substr(at, 3) == "://") return kNone;
  return argument.find_first_not_of(' ', at + 1);
}

/// Where the value after the first name of a secret begins: `--token=`, `TOKEN=`, `--url=https://host/file?token=`, and
/// with a colon; npos: there is none.
std::size_t SecretValue(std::string_view argument) {
  const std::size_t word_end = EndOfSecretWord(argument);
  if (word_end == kNone) return kNone;
  const std::size_t equals = argument.find('=', word_end);
  const std::size_t value = equals == kNone ? kNone : equals + 1;
  for (std::size_t at = word_end; at < value; at = EndOfSecretWord(argument, at)) {
    const std::size_t after_colon = ValueAfterColon(argument, at);
    if (after_colon < value) return after_colon;
  }
  return value;
}

/// Where the word after `Bearer ` begins; npos: there is none.
std::size_t ValueAfterScheme(std::string_view argument) {
  for (std::size_t i = 0; i < argument.size(); ++i) {
    if (i != 0 && std::isalnum(static_cast<unsigned char>(argument[i - 1])) != 0) continue;
    for (const std::string_view scheme : {"bearer ", "basic "}) {
      const std::size_t value = i + scheme.size();
      if (value < argument.size() && BeginsWith(argument.substr(i), scheme)) return value;
    }
  }
  return kNone;
}

/// `https://user:` and `@host` of the first address with a password; of what follows nothing, where there is another.
SecretFilter::Shown WithoutPassword(std::string_view argument) {
  for (std::size_t at = argument.find("://"); at != kNone; at = argument.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = argument.find_first_of("/?# \t", begin);
    const std::size_t host = argument.substr(0, end).rfind('@');
    const std::size_t colon = argument.find(':', begin);
    if (host == kNone || host < begin || colon >= host) continue;
    const std::string_view rest = argument.substr(host);
    const bool has_another = WithoutPassword(rest).hides_value;
    return {argument.substr(0, colon + 1), true, has_another ? std::string_view() : rest};
  }
  return {argument, false, {}};
}

}  // namespace

SecretFilter::Shown SecretFilter::Next(std::string_view argument) noexcept {
  const std::size_t value = SecretValue(argument);
  const std::size_t after_scheme = ValueAfterScheme(argument);
  const bool is_given_user = value_is_user_ || BeginsWith(argument, "--user=");
  const std::size_t colon = argument.find(':');
  Shown shown;
  if (value_is_secret_) {  // also one that begins with a dash: base64 may
    shown = {"", true, {}};
  } else if (value != kNone) {
    shown = {argument.substr(0, value), true, {}};
  } else if (is_given_user && colon != kNone) {
    shown = {argument.substr(0, colon + 1), true, {}};
  } else if (after_scheme != kNone) {
    shown = {argument.substr(0, after_scheme), true, {}};
  } else {
    shown = WithoutPassword(argument);
  }
  const bool is_option = !argument.empty() && argument[0] == '-';
  const bool is_header = !argument.empty() && argument.back() == ':';
  const bool stands_alone = argument.find('=') == kNone;
  // `Authorization: Bearer abc` may be three arguments.
  const bool names_secret = EndOfSecretWord(argument) != kNone;
  value_is_secret_ = ((is_option || is_header) && stands_alone && names_secret) || IsScheme(argument);
  value_is_user_ = IsUserOption(argument);
  return shown;
}

ServerName ServerName::Of(std::string_view server) noexcept {
  const std::size_t colon = server.find("://");
  const std::size_t host = colon == kNone ? 0 : colon + 3;
  std::string_view rest = server.substr(host);
  // A mount is a path: these characters may be in its name.
  if (colon != kNone) rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
  return {server.substr(0, host), at == kNone ? rest : rest.substr(at + 1)};
}

}  // namespace internal
}  // namespace crema
