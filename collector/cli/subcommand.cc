#include "collector/cli/subcommand.h"

#include <cerrno>
#include <cstdio>
#include <string>

namespace crema {

void PrintError(const std::string& message) {
  std::string line = "crema: " + message;
  for (char& character : line) {
    if (character == '\n') character = ' ';
  }
  line.push_back('\n');
  std::fputs(line.c_str(), stderr);
}

int PrintOut(const std::string& text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return whole ? kDone : ReportFailure(absl::ErrnoToStatus(errno, "stdout"));
}

int ReportFailure(const absl::Status& status) {
  PrintError(std::string(status.message()));
  return kFailed;
}

}  // namespace crema
