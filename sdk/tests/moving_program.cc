// A program that changes directory, as batch jobs do, before it records: `moving_program HOW`.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "crema/crema.h"

namespace {

void Move() {
  if (mkdir("scratch", 0700) != 0 || chdir("scratch") != 0) std::abort();
}

void Record() { crema::TrackMetrics metrics("moved"); }

/// Before main, where the program's name says so.
[[maybe_unused]] const bool kMoved = [] {
  const bool is_early = std::string(program_invocation_short_name) == "early";
  if (is_early) Move();
  return is_early;
}();

}  // namespace

int main(int, char** arguments) {
  const std::string how = arguments[1];
  if (!kMoved) Move();
  if (how == "guard") Record();
  if (how == "enable") crema::Enable(crema::Options()) ? Record() : std::abort();
  if (how == "enable here") {
    crema::Options options;
    options.directory = "records";
    crema::Enable(options) ? Record() : std::abort();
  }
  if (how == "thread") std::thread(Record).join();
  if (how == "exec") {
    if (chdir("..") != 0 || rmdir("scratch") != 0) std::abort();
    execl("/proc/self/exe", "moving_program", "guard", nullptr);
    std::abort();
  }
  if (how == "fork") {
    const pid_t pid = fork();
    if (pid == 0) {
      Move();
      Record();
      std::exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
  }
  return 0;
}
