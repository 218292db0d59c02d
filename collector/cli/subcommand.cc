#include "collector/cli/subcommand.h"

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

int ReportFailure(const absl::Status& status) {
  PrintError(std::string(status.message()));
  return kFailed;
}

}  // namespace crema
