#include "collector/cli/shown_command.h"

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace crema {
namespace {

constexpr char kHidden[] = "***";
constexpr std::string_view kSecretWords[] = {"token", "secret", "pass", "key", "cred", "auth", "cookie", "bearer"};
// Schemes of authentication: the word that follows is the secret.
constexpr std::string_view kSchemes[] = {"bearer", "basic"};
// Options whose value may be `name:password`.
constexpr std::string_view kUserOptions[] = {"-u", "--user", "--proxy-user"};

// Who wrote something is no secret, who may is one.
bool IsAuthor(std::string_view text) {
  return absl::StartsWith(absl::string_view(text.data(), text.size()), "author") &&
         !absl::StartsWith(absl::string_view(text.data(), text.size()), "authoriz");
}

bool NamesSecret(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(absl::string_view(name.data(), name.size()));
  for (const std::string_view word : kSecretWords) {
    for (size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
      if (!IsAuthor(std::string_view(lower).substr(at))) return true;
    }
  }
  return false;
}

template <size_t kSize>
bool IsAmong(const std::string& text, const std::string_view (&words)[kSize]) {
  const std::string lower = absl::AsciiStrToLower(text);
  return std::find(std::begin(words), std::end(words), lower) != std::end(words);
}

// Where the value after the first name of a secret begins: `--token=`, `TOKEN=`, `--url=https://host/file?token=`, and
// of a header: `X-Api-Key: `.
size_t SecretValue(const std::string& argument) {
  const size_t colon = argument.find(':');
  const bool is_header =
      colon != std::string::npos &&
      std::all_of(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(colon),
                  [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; });
  if (is_header && NamesSecret(std::string_view(argument).substr(0, colon))) {
    return argument.find_first_not_of(' ', colon + 1);
  }
  for (size_t equals = argument.find('='); equals != std::string::npos; equals = argument.find('=', equals + 1)) {
    if (NamesSecret(std::string_view(argument).substr(0, equals))) return equals + 1;
  }
  return std::string::npos;
}

// `Bearer abc`, wherever it stands.
void HideAfterSchemes(std::string& argument) {
  for (const std::string_view scheme : kSchemes) {
    const std::string lower = absl::AsciiStrToLower(argument);
    for (size_t at = lower.find(scheme); at != std::string::npos; at = lower.find(scheme, at + 1)) {
      const size_t value = at + scheme.size() + 1;
      const bool is_word = at == 0 || !absl::ascii_isalnum(static_cast<unsigned char>(lower[at - 1]));
      if (!is_word || value >= argument.size() || argument[value - 1] != ' ') continue;
      argument.resize(value);
      argument += kHidden;
      return;
    }
  }
}

// The password in `scheme://user:password@host`, of each address.
void HidePasswords(std::string& argument) {
  for (size_t at = argument.find("://"); at != std::string::npos; at = argument.find("://", at + 3)) {
    const size_t begin = at + 3;
    const size_t end = std::min(argument.find_first_of("/?# \t", begin), argument.size());
    const size_t host = argument.rfind('@', end == argument.size() ? std::string::npos : end);
    if (host == std::string::npos || host < begin) continue;
    const size_t colon = argument.find(':', begin);
    if (colon < host) argument.replace(colon + 1, host - colon - 1, kHidden);
  }
}

}  // namespace

std::vector<std::string> WithoutSecrets(const std::vector<std::string>& command) {
  std::vector<std::string> shown;
  bool value_is_secret = false;
  bool value_is_user = false;
  for (const std::string& argument : command) {
    const size_t value = SecretValue(argument);
    std::string& hidden = shown.emplace_back(argument);
    if (value_is_secret) {  // also one that begins with a dash: base64 may
      hidden = kHidden;
    } else if (value != std::string::npos) {
      hidden = argument.substr(0, value) + kHidden;
    } else {
      HideAfterSchemes(hidden);
      HidePasswords(hidden);
    }
    const bool is_given_user = value_is_user || absl::StartsWith(argument, "--user=");
    const size_t colon = argument.find(':');
    if (is_given_user && colon != std::string::npos) hidden = argument.substr(0, colon + 1) + kHidden;
    const bool is_option = !argument.empty() && argument[0] == '-';
    const bool is_header = !argument.empty() && argument.back() == ':';
    const bool stands_alone = argument.find('=') == std::string::npos;
    // `Authorization: Bearer abc` may be three arguments.
    value_is_secret =
        ((is_option || is_header) && stands_alone && NamesSecret(argument)) || IsAmong(argument, kSchemes);
    value_is_user = IsAmong(argument, kUserOptions);
  }
  return shown;
}

std::vector<std::string> ShownCommand(const std::vector<std::string>& command) {
  const char* leave_out = secure_getenv("CREMA_NO_ARGUMENTS");
  if (leave_out != nullptr && std::string(leave_out) == "1") return {};
  return WithoutSecrets(command);
}

}  // namespace crema
