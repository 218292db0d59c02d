#include "collector/cli/shown_command.h"

#include <stdlib.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace crema {
namespace {

constexpr char kHidden[] = "***";

bool NamesSecret(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const char* word : {"token", "secret", "pass", "key", "cred"}) {
    if (absl::StrContains(lower, word)) return true;
  }
  return false;
}

// Where the value after the first name of a secret begins: `--token=`, `TOKEN=`, `--url=https://host/file?token=`.
size_t SecretValue(const std::string& argument) {
  for (size_t equals = argument.find('='); equals != std::string::npos; equals = argument.find('=', equals + 1)) {
    if (NamesSecret(argument.substr(0, equals))) return equals + 1;
  }
  return std::string::npos;
}

}  // namespace

std::vector<std::string> WithoutSecrets(const std::vector<std::string>& command) {
  std::vector<std::string> shown;
  bool value_is_secret = false;
  for (const std::string& argument : command) {
    const size_t value = SecretValue(argument);
    if (value_is_secret) {  // also one that begins with a dash: base64 may
      shown.emplace_back(kHidden);
    } else if (value != std::string::npos) {
      shown.push_back(argument.substr(0, value) + kHidden);
    } else {
      shown.push_back(argument);
    }
    const bool is_option = !argument.empty() && argument[0] == '-';
    value_is_secret = is_option && argument.find('=') == std::string::npos && NamesSecret(argument);
  }
  return shown;
}

std::vector<std::string> ShownCommand(const std::vector<std::string>& command) {
  const char* leave_out = secure_getenv("CREMA_NO_ARGUMENTS");
  if (leave_out != nullptr && std::string(leave_out) == "1") return {};
  return WithoutSecrets(command);
}

}  // namespace crema
