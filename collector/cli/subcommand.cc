#include "collector/cli/subcommand.h"

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "collector/writers/display_text.h"
#include "fmt/format.h"

namespace crema {

CLI::Validator FiniteNumber(double least, double most) {
  const std::string range =
      most < kAnyNumber ? fmt::format("in [{} - {}]", least, most) : fmt::format("a number from {} on", least);
  return CLI::Validator(
      [least, most, range](const std::string& text) {
        double number = 0;
        const bool is_inside = absl::SimpleAtod(text, &number) && number >= least && number <= most;
        return is_inside ? std::string() : fmt::format("{} is not {}", text, range);
      },
      range);
}

CLI::Validator WholeNumber(int least, int most) {
  const std::string range = fmt::format("in [{} - {}]", least, most);
  return CLI::Validator(
      [least, most, range](const std::string& text) {
        int number = 0;
        const bool is_inside = absl::SimpleAtoi(text, &number) && number >= least && number <= most;
        return is_inside ? std::string() : fmt::format("{} is not a whole number {}", text, range);
      },
      range);
}

void PrintError(const std::string& message) {
  // names of files, and what stands in them, may hold anything
  std::fputs(("crema: " + PlainLine(message) + "\n").c_str(), stderr);
}

int PrintOut(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kDone;
  const bool nobody_reads = errno == EPIPE && signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  return nobody_reads ? kDone : ReportFailure(absl::ErrnoToStatus(errno, "stdout"));
}

int PrintBesideGate(const std::string& text) {
  signal(SIGPIPE, SIG_IGN);
  return PrintOut(text);
}

int ReportFailure(const absl::Status& status) {
  PrintError(std::string(status.message()));
  return kFailed;
}

}  // namespace crema
