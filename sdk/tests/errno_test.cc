// Guards leave errno as the program had it, whatever happens to recording.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/resource.h>

#include <cstdlib>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

constexpr int kErrno = 4711;  // no system call sets it

void ExpectErrno(const char* where) {
  if (errno == kErrno) return;
  const int error = errno;
  std::fprintf(stderr, "errno is %d after %s\n", error, where);
  std::abort();
}

/// Every guard's begin and end, and every function.
void UseEverything() {
  errno = kErrno;
  {
    Span span("process");
    ExpectErrno("a span's begin");
    TrackSection outside("outside");
    ExpectErrno("a section outside chunks");
    {
      TrackMetrics metrics({"ttbar", "f", 0, 1});
      ExpectErrno("a chunk's begin");
      {
        TrackSection section("read", kCpuTime);
        ExpectErrno("a section's begin");
        TrackMemory memory("jets");
        ExpectErrno("a memory guard's begin");
        TrackMetrics nested("nested");
        ExpectErrno("a nested chunk's begin");
      }
      ExpectErrno("the end of guards in a chunk");
      metrics.SetEvents(1);
      metrics.AddBytesRead(1, 2);
      metrics.SetAttribute("a", "b");
      metrics.Fail("no");
      RecordMetric("m", 1.5);
      RecordCut("c", 1, 2.5);
      ExpectErrno("the chunk's functions");
      const ChunkHandle handle = metrics.handle();
      std::thread([&] {
        errno = kErrno;
        {
          TrackHelper helper(handle);
          ExpectErrno("a helper scope's begin");
          TrackSection section("work");
        }
        ExpectErrno("a helper scope's end");
      }).join();
      errno = kErrno;
    }
    ExpectErrno("a chunk's end");
  }
  ExpectErrno("a span's end");
  Flush();
  ExpectErrno("Flush");
  RecordMetric("outside", 1);
  ExpectErrno("a metric outside a chunk");
  Disable();
  ExpectErrno("Disable");
  Enable(Options());
  ExpectErrno("Enable");
}

void ExpectErrnoIsKept(
    const Environment& environment, const std::function<void()>& before = [] {}) {
  const ChildResult child = RunInChild(environment, [&] {
    before();
    UseEverything();
    UseEverything();
  });
  EXPECT_EQ(child.exit_status, 0) << child.errors;
}

TEST(Errno, IsKeptWhileRecording) { ExpectErrnoIsKept({{"CREMA_DIR", NewDirectory()}, {"CREMA_INTERVAL", "0.01"}}); }

TEST(Errno, IsKeptWhenOff) { ExpectErrnoIsKept({}); }

TEST(Errno, IsKeptWhereTheDirectoryCannotBeWritten) { ExpectErrnoIsKept({{"CREMA_DIR", "/dev/null/records"}}); }

TEST(Errno, IsKeptWhenTheLogIsFull) {
  ExpectErrnoIsKept({{"CREMA_DIR", NewDirectory()}, {"CREMA_INTERVAL", "0"}}, [] {
    const rlimit limit{1000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
}

TEST(Errno, IsKeptWithoutDescriptors) {
  ExpectErrnoIsKept({{"CREMA_DIR", NewDirectory()}, {"CREMA_INTERVAL", "0"}}, [] {
    { TrackSection section("opens the log"); }
    const rlimit limit{3, RLIM_INFINITY};
    setrlimit(RLIMIT_NOFILE, &limit);
  });
}

}  // namespace
}  // namespace testing
}  // namespace crema
