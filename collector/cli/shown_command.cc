#include "collector/cli/shown_command.h"

#include <stdlib.h>

#include "sdk/src/log/secret_filter.h"

namespace crema {

std::vector<std::string> WithoutSecrets(const std::vector<std::string>& command) {
  std::vector<std::string> shown;
  internal::SecretFilter filter;
  for (const std::string& argument : command) {
    const internal::SecretFilter::Shown next = filter.Next(argument);
    shown.push_back(std::string(next.text) + (next.hides_value ? "***" : "") + std::string(next.rest));
  }
  return shown;
}

std::vector<std::string> ShownCommand(const std::vector<std::string>& command) {
  const char* leave_out = secure_getenv("CREMA_NO_ARGUMENTS");
  if (leave_out != nullptr && std::string(leave_out) == "1") return {};
  return WithoutSecrets(command);
}

}  // namespace crema
