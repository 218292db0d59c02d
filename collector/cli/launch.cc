#include "collector/cli/launch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fmt/format.h"

namespace crema {
namespace {

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

[[noreturn]] void BecomeOrReport(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                                 int report_descriptor) {
  for (const auto& [name, value] : changes) {
    if (value.has_value()) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  const int error = Become(command);
  [[maybe_unused]] const ssize_t written = write(report_descriptor, &error, sizeof error);
  _exit(StatusOfExecError(error));
}

}  // namespace

Launched Launch(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                const std::function<void()>& in_child) {
  Launched launched;
  int report[2];  // closed by a successful exec, else it carries errno
  if (pipe2(report, O_CLOEXEC) != 0) {
    launched.fork_errno = errno;
    return launched;
  }
  launched.pid = fork();
  if (launched.pid == 0) {
    in_child();
    BecomeOrReport(command, changes, report[1]);
  }
  if (launched.pid < 0) launched.fork_errno = errno;
  close(report[1]);
  ssize_t got = 0;
  do {
    got = read(report[0], &launched.exec_errno, sizeof launched.exec_errno);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof launched.exec_errno) launched.exec_errno = 0;
  close(report[0]);
  if (launched.exec_errno != 0) waitpid(launched.pid, nullptr, 0);
  return launched;
}

int Become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  return errno;
}

std::string DescribeExecError(const std::string& command, int exec_errno) {
  if (exec_errno == ENOENT) return fmt::format("{}: not found; check the name and PATH", command);
  return fmt::format("{}: cannot be executed ({}); check its permissions and format", command, strerror(exec_errno));
}

int StatusOfExecError(int exec_errno) { return exec_errno == ENOENT ? kNotFound : kNotExecutable; }

}  // namespace crema
