// Guards leave the program around them alone; if recording is off, they do nothing at all.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

void UseGuards() {
  Span span("process");
  TrackActivity activity("outside");
  TrackMetrics metrics({"ttbar", "f", 0, 1});
  TrackSection section("read", kCpuTime);
  TrackMemory memory("jets");
  TrackIo io("io");
  TrackPageFaults faults("faults");
  TrackPerfCounters counters("counters");
  TrackRequest request("root://server", "read");
  TrackHelper helper(metrics.handle());
  RecordMetric("m", 1.5);
  RecordCut("c", 1, 2.5);
  metrics.SetEvents(1);
}

/// The program fails to load a library, uses a guard, and then asks for the error.
void ExpectErrorOfLoading(const char* missing, void (*use)()) {
  if (dlopen(missing, RTLD_NOW) != nullptr) std::abort();
  use();
  const char* const error = dlerror();
  if (error == nullptr || std::string(error).find(missing) == std::string::npos) {
    std::fprintf(stderr, "dlerror() is %s", error == nullptr ? "empty" : error);
    std::abort();
  }
  if (dlerror() != nullptr) std::abort();
  use();
  if (dlerror() != nullptr) std::abort();
}

void ExpectErrorsOfLoading() {
  ExpectErrorOfLoading("libmissing.so.1", UseGuards);
  ExpectErrorOfLoading("libmissing.so.2", UseGuards);
  std::thread([] { ExpectErrorOfLoading("libmissing.so.3", UseGuards); }).join();
  const pid_t pid = fork();
  if (pid == 0) {
    ExpectErrorOfLoading("libmissing.so.4", UseGuards);
    std::exit(0);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
  ExpectErrorOfLoading("libmissing.so.5", Flush);
  ExpectErrorOfLoading("libmissing.so.6", Disable);
  ExpectErrorOfLoading("libmissing.so.7", [] { Enable(Options()); });
}

void ExpectErrorsOfLoadingIn(const Environment& environment) {
  const ChildResult child = RunInChild(environment, ExpectErrorsOfLoading);
  EXPECT_EQ(child.exit_status, 0) << child.errors;
}

TEST(UntouchedHost, ErrorsOfLoadingAreKeptWhenOff) { ExpectErrorsOfLoadingIn({}); }

TEST(UntouchedHost, ErrorsOfLoadingAreKeptWhileRecording) {
  ExpectErrorsOfLoadingIn({{"CREMA_DIR", NewDirectory()}, {"CREMA_STACKS", "100"}, {"CREMA_ALLOCATIONS", "1"}});
}

TEST(UntouchedHost, ErrorsOfLoadingAreKeptWhereTheDirectoryCannotBeWritten) {
  ExpectErrorsOfLoadingIn({{"CREMA_DIR", "/dev/null/records"}});
}

/// Files, descriptors, memory, threads, signals: all of them take system calls.
TEST(UntouchedHost, WhenOffGuardsMakeNoSystemCall) {
  for (const Environment& environment :
       {Environment{}, Environment{{"CREMA_DIR", ""}}, Environment{{"CREMA_DIR", "records"}, {"CREMA_OFF", "1"}}}) {
    const ChildResult child = RunInChild(environment, [] {
      const ChunkHandle handle;
      if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) std::abort();  // now any call but read and write kills
      UseGuards();
      { TrackHelper helper(handle); }
      Flush();
      Disable();
      if (Enabled()) std::abort();
      syscall(SYS_exit, 0);
    });
    EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal << child.errors;
  }
}

}  // namespace
}  // namespace testing
}  // namespace crema
