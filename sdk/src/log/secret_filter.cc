#include "log/secret_filter.h"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <initializer_list>

namespace crema::internal {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool BeginsWith(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && strncasecmp(text.data(), word.data(), word.size()) == 0;
}

bool IsWord(std::string_view text, std::string_view word) {
  return text.size() == word.size() && BeginsWith(text, word);
}

/// Whether `matches` holds for the text and one of the words.
bool IsAny(std::string_view text, std::initializer_list<std::string_view> words,
           bool (*matches)(std::string_view text, std::string_view word) = IsWord) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return matches(text, word); });
}

bool IsScheme(std::string_view text) { return IsAny(text, {"bearer", "basic"}); }

bool IsUserOption(std::string_view text) { return IsAny(text, {"-u", "--user", "--proxy-user"}); }

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
    if (const std::size_t after_colon = ValueAfterColon(argument, at); after_colon < value) return after_colon;
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

/// Whether the texts are the same but for `-`, `_`, `.` and case.
bool IsSameName(std::string_view text, std::string_view letters) {
  for (const char character : text) {
    if (std::strchr("-_.", character) != nullptr) continue;
    if (letters.empty() || std::tolower(static_cast<unsigned char>(character)) != letters[0]) return false;
    letters.remove_prefix(1);
  }
  return letters.empty();
}

bool EndsWith(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && IsWord(text.substr(text.size() - word.size()), word);
}

/// Whether the whole name of a parameter, or its last word (`eos_token`), names a secret. `dataset_key` says which
/// file.
bool IsSecretName(std::string_view name) {
  const std::initializer_list<std::string_view> words = {
      "pwd",  "jwt",   "auth",       "authz",       "authorization", "bearer", "cookie",
      "cred", "creds", "credential", "credentials", "apikey",        "passwd", "passphrase"};
  return IsAny(name.substr(name.find_last_of("-_.") + 1), words) || IsAny(name, words, IsSameName) ||
         IsAny(name, {"token", "secret", "password", "signature"}, EndsWith) ||
         IsAny(name,
               {"xapikey", "accesskey", "secretkey", "secretaccesskey", "privatekey", "accountkey", "subscriptionkey",
                "sharedkey", "accesskeyid", "awsaccesskeyid", "ossaccesskeyid", "keyid", "keypairid", "userpass"},
               IsSameName);
}

/// Names of parameters that sign an address, or say until when: of Amazon's S3 and its kin, Google, Azure, EOS and
/// others.
bool IsSecretParameter(std::string_view parameter, bool is_of_azure) {
  const std::size_t equals = parameter.find('=');
  if (equals == kNone) return false;
  const std::string_view name = parameter.substr(0, equals);
  return IsSecretName(name) ||
         IsAny(name, {"x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-ms-", "q-ak", "q-sign", "q-key", "cap."},
               BeginsWith) ||
         IsAny(name, {"key", "sig", "expires", "expiry", "policy", "googleaccessid", "user", "username", "ticket",
                      "session", "sessionid", "jsessionid", "phpsessid", "macaroon", "hmac", "sas"}) ||
         (is_of_azure && IsAny(name, {"se", "sp", "sv", "sr", "st", "ss", "srt", "spr", "sip", "skoid", "sktid", "skt",
                                      "ske", "sks", "skv"}));
}

constexpr std::string_view kAfterAddress = " \t\r\n\"'`<>\\()[]{}|";
constexpr std::string_view kBeforeParameters = "?&;#";

/// The parameters of the first address in the text, with the character before each: `?a=1&b=2#c`; empty: it has none.
std::string_view ParametersOf(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == kNone) return {};
  std::string_view address = text.substr(scheme, text.find_first_of(kAfterAddress, scheme) - scheme);
  address = address.substr(0, address.find("://", 3));  // `root://cache//root://host//file?…`
  return address.substr(std::min(address.find_first_of("?;#"), address.size()));
}

/// The first of these parameters.
std::string_view FirstOf(std::string_view parameters) {
  return parameters.substr(1, parameters.find_first_of(kBeforeParameters, 1) - 1);
}

bool IsOfAzure(std::string_view parameters) {
  return parameters.find("?sig=") != kNone || parameters.find("&sig=") != kNone;
}

/// Where the value of the first secret parameter of an address begins; npos: there is none.
std::size_t SecretParameterValue(std::string_view argument) {
  std::string_view parameters = ParametersOf(argument);
  for (const bool is_of_azure = IsOfAzure(parameters); !parameters.empty();) {
    const std::string_view parameter = FirstOf(parameters);
    if (IsSecretParameter(parameter, is_of_azure)) {
      return static_cast<std::size_t>(parameter.data() - argument.data()) + parameter.find('=') + 1;
    }
    parameters.remove_prefix(1 + parameter.size());
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
  char opening = 0;  // of a query whose first parameters are taken out
  for (std::size_t left = parameters.size(); left > 0;) {
    const std::string_view rest = text->rest().substr(0, left);
    const std::string_view parameter = FirstOf(rest);
    const std::size_t size = parameter.size();
    const char before = rest[0];
    const bool is_secret = IsSecretParameter(parameter, is_of_azure);
    // `authz=Bearer abc`: the token is the next word
    const bool is_split = is_secret && left == 1 + size && IsScheme(parameter.substr(parameter.find('=') + 1));
    if (before == '?' || before == '#') opening = before;
    text->Skip(1);
    left -= 1 + size;
    if (is_secret) {
      text->Skip(size);
      if (is_split) text->Skip(std::min(text->rest().find_first_of(kAfterAddress, 1), text->rest().size()));
    } else {
      text->Put(opening != 0 ? opening : before);
      opening = 0;
      text->Keep(size);
    }
  }
}

/// The name that ends before `end`, perhaps in quotes.
std::string_view NameBefore(std::string_view text, std::size_t end) {
  const std::size_t last = text.substr(0, end).find_last_not_of("\"'\\ ");
  if (last == kNone) return {};
  std::size_t begin = last + 1;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                       std::strchr("-_.", text[begin - 1]) != nullptr)) {
    --begin;
  }
  return text.substr(begin, last + 1 - begin);
}

/// The word of the text at or behind `at`, which quotes and blanks may precede, up to what ends an address or a list.
std::string_view WordAt(std::string_view text, std::size_t at) {
  const std::size_t begin = std::min(text.find_first_not_of(" \"'\\", at), text.size());
  return text.substr(begin,
                     std::min(text.find_first_of(kAfterAddress, begin), text.find_first_of(",;&", begin)) - begin);
}

/// Whether an error says, behind this name and a colon, what is wrong with it.
bool IsNameInErrors(std::string_view name) {
  return IsAny(
      name, {"token", "auth", "authz", "bearer", "cred", "creds", "credential", "credentials", "secret", "signature"});
}

/// The first secret in the text that is not part of an address: `Bearer abc.def`, `password=abc`, `Cookie: abc`.
std::string_view SecretIn(std::string_view text) {
  for (std::size_t at = text.find_first_of("=: "); at != kNone; at = text.find_first_of("=: ", at + 1)) {
    const std::string_view name = NameBefore(text, at);
    std::string_view word = WordAt(text, at + 1);
    const bool is_scheme = text[at] == ' ' && IsScheme(name);
    if (is_scheme) {
      if (std::any_of(word.begin() + !word.empty(), word.end(), [](char c) { return c < 'a' || c > 'z'; })) return word;
    } else if (text[at] != ' ' && IsSecretName(name) && (text[at] == '=' || !IsNameInErrors(name))) {
      if (IsScheme(word)) word = WordAt(text, static_cast<std::size_t>(word.data() - text.data()) + word.size());
      if (!word.empty()) return word;
    }
  }
  return {};
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
    kept.Keep(static_cast<std::size_t>(parameters.data() - kept.rest().data()));
    KeepParameters(parameters, &kept);
  }
  kept.Keep(kept.rest().size());
  return kept.kept();
}

std::size_t TakeSecretsOutOfText(char* text, std::size_t size) noexcept {
  Compaction kept(text, TakeSecretsOut(text, size));
  for (std::string_view secret = SecretIn(kept.rest()); !secret.empty(); secret = SecretIn(kept.rest())) {
    kept.Keep(static_cast<std::size_t>(secret.data() - kept.rest().data()));
    const std::size_t bytes = secret.size();
    kept.Skip(bytes);
    for (std::size_t i = 0; i < std::min<std::size_t>(bytes, 3); ++i) kept.Put('*');
  }
  kept.Keep(kept.rest().size());
  return kept.kept();
}

SecretFilter::Shown SecretFilter::Next(std::string_view argument) noexcept {
  if (!value_is_secret_ && argument.find_first_of(" \t\n;") != kNone) {  // a command inside a shell string
    SecretFilter inside;
    for (std::size_t begin = 0; begin < argument.size();) {
      const std::size_t end = std::min(argument.find_first_of(" \t\n;", begin), argument.size());
      if (const Shown word = inside.Next(argument.substr(begin, end - begin)); word.hides_value) {
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
  const std::size_t end = value_is_secret_                  ? 0  // also one that begins with a dash: base64 may
                          : value != kNone                  ? value
                          : is_given_user && colon != kNone ? colon + 1
                          : after_scheme != kNone           ? after_scheme
                                                            : of_address;
  const Shown shown = end == kNone ? WithoutPassword(argument) : Shown{argument.substr(0, end), true, {}};
  const bool is_option = !argument.empty() && argument[0] == '-';
  const bool is_header = !argument.empty() && argument.back() == ':';
  const bool stands_alone = argument.find('=') == kNone;
  // `Authorization: Bearer abc` may be three arguments.
  const bool names_secret = EndOfSecretWord(argument) != kNone;
  value_is_secret_ = ((is_option || is_header) && stands_alone && names_secret) || IsScheme(argument);
  value_is_user_ = IsUserOption(argument);
  return shown;
}

std::string_view ServerWithoutUser(std::string_view server, char* memory, std::size_t capacity) noexcept {
  const std::size_t colon = server.find("://");
  const std::size_t host = colon == kNone ? 0 : colon + 3;
  std::string_view rest = server.substr(host);
  // A mount is a path: these characters may be in its name.
  if (colon != kNone) rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
  if (at != kNone) rest = rest.substr(at + 1);
  if (host + rest.size() == server.size()) return server;
  const std::size_t size = server.substr(0, host).copy(memory, capacity);
  return {memory, size + rest.copy(memory + size, capacity - size)};
}

}  // namespace crema::internal
