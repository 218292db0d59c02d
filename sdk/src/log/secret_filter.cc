#include "log/secret_filter.h"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <initializer_list>

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

bool IsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return IsWord(text, word); });
}

/// Whether the texts are the same but for `-`, `_`, `.` and case.
bool IsSameName(std::string_view text, std::string_view letters) {
  for (const char character : text) {
    if (std::strchr("-_.", character) != nullptr) continue;
    if (letters.empty() || std::tolower(static_cast<unsigned char>(character)) != letters[0]) return false;
    letters.remove_prefix(1);
  }
  return letters.empty();
}

/// Whether the whole name of a parameter, or its last word (`eos_token`), names a secret. `dataset_key` says which
/// file.
bool IsSecretName(std::string_view name) {
  const std::string_view last_word = name.substr(name.find_last_of("-_.") + 1);
  for (const std::string_view word :
       {"token", "secret", "password", "passwd", "passphrase", "pwd", "jwt", "auth", "authz", "authorization", "bearer",
        "cookie", "cred", "creds", "credential", "credentials", "apikey"}) {
    if (IsWord(last_word, word) || IsSameName(name, word)) return true;
  }
  for (const std::string_view letters :
       {"key",          "xapikey",         "accesskey",   "secretkey",    "secretaccesskey", "privatekey",
        "accountkey",   "subscriptionkey", "sharedkey",   "accesskeyid",  "awsaccesskeyid",  "ossaccesskeyid",
        "keyid",        "keypairid",       "accesstoken", "authtoken",    "idtoken",         "refreshtoken",
        "sessiontoken", "securitytoken",   "apitoken",    "clientsecret", "userpass"}) {
    if (IsSameName(name, letters)) return true;
  }
  return false;
}

/// Names of parameters that sign an address, or say until when: of Amazon's S3 and its kin, Google, Azure and others.
bool IsSecretParameter(std::string_view parameter, bool is_of_azure) {
  const std::string_view name = parameter.substr(0, parameter.find('='));
  for (const std::string_view prefix : {"x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-ms-"}) {
    if (BeginsWith(name, prefix)) return true;
  }
  return IsSecretName(name) ||
         IsAny(name, {"sig", "signature", "expires", "expiry", "policy", "googleaccessid", "user", "username", "ticket",
                      "session", "sessionid", "macaroon"}) ||
         (is_of_azure && IsAny(name, {"se", "sp", "sv", "sr", "st", "ss", "srt", "spr", "sip", "skoid", "sktid", "skt",
                                      "ske", "sks", "skv"}));
}

constexpr std::string_view kAfterAddress = " \t\r\n\"'`<>\\()[]{}|";

/// The parameters of the first address in the text, behind its `?`; empty: it has none.
std::string_view ParametersOf(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == kNone) return {};
  const std::string_view address = text.substr(scheme, text.find_first_of(kAfterAddress, scheme) - scheme);
  const std::size_t query = address.find('?');
  const std::size_t next = address.find("://", 3);  // `root://cache//root://host//file?…`
  return query == kNone || next < query ? std::string_view()
                                        : address.substr(query + 1, address.find('#', query) - query - 1);
}

bool IsOfAzure(std::string_view parameters) {
  return BeginsWith(parameters, "sig=") || parameters.find("&sig=") != kNone;
}

/// Where the value of the first secret parameter of an address begins; npos: there is none.
std::size_t SecretParameterValue(std::string_view argument) {
  const std::string_view parameters = ParametersOf(argument);
  for (std::size_t at = 0; at < parameters.size();) {
    const std::string_view parameter = parameters.substr(at, parameters.find('&', at) - at);
    if (IsSecretParameter(parameter, IsOfAzure(parameters))) {
      return static_cast<std::size_t>(parameters.data() - argument.data()) + at + parameter.find('=') + 1;
    }
    at += parameter.size() + 1;
  }
  return kNone;
}

/// Moves what is kept of a text to its front.
class Compaction {
 public:
  Compaction(char* text, std::size_t size) : text_(text), size_(size) {}
  std::string_view rest() const { return {text_ + read_, size_ - read_}; }
  std::size_t kept() const { return kept_; }
  void Skip(std::size_t bytes) { read_ += bytes; }
  void Keep(std::size_t bytes) {
    std::memmove(text_ + kept_, text_ + read_, bytes);
    kept_ += bytes;
    read_ += bytes;
  }
  void Put(char character) { text_[kept_++] = character; }

 private:
  char* text_;
  std::size_t size_;
  std::size_t read_ = 0;
  std::size_t kept_ = 0;
};

void KeepParameters(std::string_view parameters, Compaction* text) {
  const bool is_of_azure = IsOfAzure(parameters);
  std::size_t left = parameters.size();
  char before = '?';
  text->Skip(1);
  while (left > 0) {
    const std::string_view rest = text->rest().substr(0, left);
    const std::string_view parameter = rest.substr(0, rest.find('&'));
    const std::size_t taken = std::min(parameter.size() + 1, left);  // with what separates it from the next
    if (IsSecretParameter(parameter, is_of_azure)) {
      text->Skip(parameter.size());
      // `authz=Bearer abc`: the token is the next word
      if (parameter.size() > 7 && left == parameter.size() && IsScheme(parameter.substr(parameter.find('=') + 1))) {
        text->Skip(std::min(text->rest().find_first_of(kAfterAddress, 1), text->rest().size()));
      }
    } else {
      text->Put(before);
      before = '&';
      text->Keep(parameter.size());
    }
    text->Skip(taken - parameter.size());
    left -= taken;
  }
}

}  // namespace

std::size_t TakeSecretsOut(char* text, std::size_t size) noexcept {
  Compaction kept(text, size);
  for (std::size_t scheme = kept.rest().find("://"); scheme != kNone; scheme = kept.rest().find("://")) {
    const std::string_view parameters = ParametersOf(kept.rest());
    kept.Keep(scheme + 3);
    const std::string_view address = kept.rest();
    const std::size_t user = address.substr(0, address.find_first_of("/?# \t\"'\\")).rfind('@');
    if (user != kNone) kept.Skip(user + 1);
    if (parameters.empty()) continue;
    kept.Keep(static_cast<std::size_t>(parameters.data() - kept.rest().data()) - 1);
    KeepParameters(parameters, &kept);
  }
  kept.Keep(kept.rest().size());
  return kept.kept();
}

SecretFilter::Shown SecretFilter::Next(std::string_view argument) noexcept {
  if (!value_is_secret_ && argument.find_first_of(" \t\n;") != kNone) {  // a command inside a shell string
    SecretFilter inside;
    for (std::size_t begin = 0; begin < argument.size();) {
      const std::size_t end = std::min(argument.find_first_of(" \t\n;", begin), argument.size());
      const Shown word = inside.Next(argument.substr(begin, end - begin));
      if (word.hides_value) {
        value_is_user_ = false;
        return {argument.substr(0, begin + word.text.size()), true, {}};
      }
      begin = end + 1;
    }
  }
  const std::size_t value = SecretValue(argument);
  const std::size_t after_scheme = ValueAfterScheme(argument);
  const std::size_t of_address = SecretParameterValue(argument);
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
  } else if (of_address != kNone) {
    shown = {argument.substr(0, of_address), true, {}};
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
