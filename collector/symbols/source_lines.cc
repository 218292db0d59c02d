#include "collector/symbols/source_lines.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::chrono::seconds kLongest{20};  // of a library of a gigabyte; nobody waits longer for line numbers
constexpr int kNotFound = 127;

/// A program that writes into a pipe. It does not outlive this object.
class Program {
 public:
  explicit Program(std::vector<std::string> command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    output_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    if (posix_spawnp(&pid_, arguments.front(), &actions, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
  }
  ~Program() {
    Stop();
    if (output_ >= 0) close(output_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// All that it writes; nullopt: it took too long.
  std::optional<std::string> Output() {
    const auto end = std::chrono::steady_clock::now() + kLongest;
    std::string text;
    char buffer[1 << 16];
    while (pid_ > 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      if (left <= 0) return std::nullopt;
      pollfd waited = {output_, POLLIN, 0};
      if (poll(&waited, 1, static_cast<int>(left)) <= 0) continue;  // interrupted, or too late
      const ssize_t bytes = read(output_, buffer, sizeof buffer);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) break;
      text.append(buffer, static_cast<size_t>(bytes));
    }
    return text;
  }

  /// Its exit status once it has written all; 127: it was not found, or did not end by itself.
  int Status() {
    if (pid_ < 0) return kNotFound;
    int status = 0;
    pid_t ended = -1;
    do {
      ended = waitpid(pid_, &status, 0);
    } while (ended < 0 && errno == EINTR);
    pid_ = -1;
    return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : kNotFound;
  }

 private:
  void Stop() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    Status();
  }

  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace

std::optional<SourceLine> ParseSourceLine(std::string_view text) {
  text = text.substr(0, text.find(" (discriminator"));
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.substr(0, colon) == "??") return std::nullopt;
  SourceLine place{std::string(text.substr(0, colon)), 0};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, place.line);
  if (error != std::errc() || stop != end || place.line <= 0) return std::nullopt;
  return place;
}

absl::StatusOr<std::vector<std::optional<SourceLine>>> FindSourceLines(const std::string& file,
                                                                       const std::vector<uint64_t>& addresses) {
  std::vector<std::string> command = {"addr2line", "-e", file};
  for (const uint64_t address : addresses) command.push_back(fmt::format("{:#x}", address));
  Program program(std::move(command));
  const std::optional<std::string> output = program.Output();
  if (!output.has_value()) {
    return absl::DeadlineExceededError(fmt::format("addr2line took more than {} s to read {}", kLongest.count(), file));
  }
  if (program.Status() != 0) return absl::UnavailableError("addr2line does not run here (install binutils)");
  std::vector<std::optional<SourceLine>> lines;
  for (size_t at = 0; at < output->size();) {
    const size_t end = std::min(output->find('\n', at), output->size());
    lines.push_back(ParseSourceLine(std::string_view(*output).substr(at, end - at)));
    at = end + 1;
  }
  if (lines.size() != addresses.size()) {
    return absl::InternalError(fmt::format("addr2line does not answer for {}", file));
  }
  return lines;
}

}  // namespace crema
