#include "collector/cli/subcommand.h"

#include <cerrno>
#include <cstdio>
#include <string>

#include "collector/writers/display_text.h"

namespace crema {

void PrintError(const std::string& message) {
  // names of files, and what stands in them, may hold anything
  std::fputs(("crema: " + PlainLine(message) + "\n").c_str(), stderr);
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
