#include "sdk/tests/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace crema {
namespace testing {
namespace {

/// A file that is gone when it is closed.
class UnnamedFile {
 public:
  UnnamedFile() : file_(std::tmpfile()) {}
  ~UnnamedFile() { std::fclose(file_); }
  int descriptor() const { return fileno(file_); }
  std::string Text() const {
    std::string text;
    char part[4096];
    std::rewind(file_);
    for (std::size_t size; (size = std::fread(part, 1, sizeof part, file_)) > 0;) text.append(part, size);
    return text;
  }

 private:
  std::FILE* file_;
};

/// For the standard error: recording never writes into a file that replaced it.
class RoomyPipe {
 public:
  RoomyPipe() {
    if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) ADD_FAILURE() << "no pipe";
    fcntl(ends_[1], F_SETPIPE_SZ, kBytes);
    fcntl(ends_[1], F_SETFL, 0);
  }
  ~RoomyPipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  RoomyPipe(const RoomyPipe&) = delete;
  RoomyPipe& operator=(const RoomyPipe&) = delete;
  int descriptor() const { return ends_[1]; }
  /// The contents; the writer has ended.
  std::string Text() const {
    std::string text;
    char part[4096];
    for (ssize_t size; (size = read(ends_[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(size));
    return text;
  }

 private:
  static constexpr int kBytes = 1 << 20;
  int ends_[2] = {-1, -1};
};

}  // namespace

ChildResult RunInChild(const Environment& environment, const std::function<void()>& body) {
  ChildResult result;
  const UnnamedFile output;
  const RoomyPipe errors;
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) {
    ADD_FAILURE() << "fork failed";
    return result;
  }
  if (pid == 0) {
    dup2(output.descriptor(), STDOUT_FILENO);
    dup2(errors.descriptor(), STDERR_FILENO);
    for (const char* name : {"CREMA_DIR",
                             "CREMA_OFF",
                             "CREMA_RUN_ID",
                             "CREMA_PASS",
                             "CREMA_THREADS",
                             "CREMA_INTERVAL",
                             "CREMA_STACKS",
                             "CREMA_WAITS",
                             "CREMA_ALLOCATIONS",
                             "CREMA_TRACE",
                             "CREMA_TOTAL_EVENTS",
                             "CREMA_SUMMARY",
                             "CREMA_NO_ARGUMENTS",
                             "CORES",
                             "VINE_SANDBOX",
                             "WORK_QUEUE_SANDBOX",
                             "WORKER_TMPDIR",
                             "SLURM_JOB_ID",
                             "_CONDOR_SLOT",
                             "_CONDOR_JOB_AD",
                             "OMPI_COMM_WORLD_RANK",
                             "PMIX_RANK",
                             "PMI_RANK"}) {
      unsetenv(name);
    }
    // runs every test again while crema looks into its threads
    if (const char* hertz = getenv("CREMA_TEST_STACKS"); hertz != nullptr) setenv("CREMA_STACKS", hertz, 1);
    if (const char* hertz = getenv("CREMA_TEST_WAITS"); hertz != nullptr) setenv("CREMA_WAITS", hertz, 1);
    if (getenv("CREMA_TEST_ALLOCATIONS") != nullptr) setenv("CREMA_ALLOCATIONS", "1", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    body();
    std::exit(0);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.output = output.Text();
  result.errors = errors.Text();
  return result;
}

bool RunsWithOptions() {
  return getenv("CREMA_TEST_STACKS") != nullptr || getenv("CREMA_TEST_WAITS") != nullptr ||
         getenv("CREMA_TEST_ALLOCATIONS") != nullptr;
}

std::string NewDirectory() {
  std::string name = ::testing::TempDir() + "/records-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot make " << name;
  return name;
}

}  // namespace testing
}  // namespace crema
