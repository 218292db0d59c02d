// What threads are seen waiting for. Each wait lasts until it was seen often enough, so a busy machine does not matter.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/child_process.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/refused_calls.h"
#include "sdk/tests/shared_value.h"

/// ThreadSanitizer knows nothing of the lock under which ld.so frees what another thread's dlopen(3) allocated.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT(readability-identifier-naming): its name
  return "race:_dl_close_worker\n";
}

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMillisecond = 1000000;
constexpr std::int64_t kLongEnough = 500 * kMillisecond;  // some 50 looks; on a busy machine fewer
constexpr uid_t kNobody = 65534;
const Environment kOften = {{"CREMA_WAITS", "100"}};

/// Samples of a section by kind, without those in which it ran.
std::vector<WaitRow> WaitsIn(const ChunkLine& chunk, const std::string& path) {
  std::vector<WaitRow> waits;
  for (const WaitRow& row : chunk.waits) {
    if (row.path == path && row.kind != "running") waits.push_back(row);
  }
  return waits;
}

/// The chunk in which a section waited in this way, again and again until it was long enough.
ChunkLine ChunkThatWaits(const std::function<void()>& wait, const Environment& environment = kOften) {
  return RecordedChunk(
      [&] {
        TrackMetrics metrics("ttbar");
        const std::int64_t until = WallNs() + kLongEnough;
        TrackSection section("wait");
        while (WallNs() < until) wait();
      },
      environment);
}

/// Samples of this kind and object.
std::int64_t SamplesOf(const ChunkLine& chunk, const std::string& kind, const MaybeText& object) {
  std::int64_t samples = 0;
  for (const WaitRow& row : WaitsIn(chunk, "wait")) {
    if (row.kind == kind && row.object == object) samples += row.samples;
  }
  return samples;
}

/// Checks that other waits are rare: threads that begin and end wait for the kernel, too.
void ExpectMostly(const ChunkLine& chunk, const std::string& kind) {
  std::int64_t of_kind = 0;
  std::int64_t of_others = 0;
  for (const WaitRow& row : WaitsIn(chunk, "wait")) {
    (row.kind == kind ? of_kind : of_others) += row.samples;
    EXPECT_TRUE(row.kind != kind || row.object.value_or("held").rfind("held", 0) == 0);
  }
  EXPECT_GT(of_kind, of_others);
}

TEST(Waits, OfASleepAreSleep) {
  ExpectMostly(ChunkThatWaits([] { Sleep(100 * kMillisecond); }), "sleep");
  ExpectMostly(ChunkThatWaits([] { poll(nullptr, 0, 100); }), "sleep");
}

TEST(Waits, OfAPipeAreReadsOfAPipe) {
  const ChunkLine chunk = ChunkThatWaits([] {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    std::thread writer([&] {
      Sleep(100 * kMillisecond);
      if (write(ends[1], "x", 1) != 1) std::abort();
    });
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1) std::abort();
    writer.join();
    close(ends[0]);
    close(ends[1]);
  });
  EXPECT_GE(SamplesOf(chunk, "read", "pipe"), 1);
}

TEST(Waits, OfANamedPipeAreReadsOfAPipe) {
  const std::string path = "/tmp/crema_waits_test_pipe." + std::to_string(getpid());
  if (mkfifo(path.c_str(), 0600) != 0) std::abort();
  const ChunkLine chunk = ChunkThatWaits([&path] {
    const int end = open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::thread writer([&] {
      Sleep(100 * kMillisecond);
      if (write(end, "x", 1) != 1) std::abort();
    });
    char byte = 0;
    if (read(end, &byte, 1) != 1) std::abort();
    writer.join();
    close(end);
  });
  unlink(path.c_str());
  EXPECT_GE(SamplesOf(chunk, "read", "pipe"), 1);
}

/// Reads what a thread sends over a TCP connection after a while. Returns the port of that end.
class Connection {
 public:
  Connection() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    const bool listens = bind(listener, any, size) == 0 && listen(listener, 1) == 0;
    if (!listens || getsockname(listener, any, &size) != 0) std::abort();
    port_ = ntohs(address.sin_port);
    reader_ = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(reader_, any, size) != 0) std::abort();
    writer_ = accept(listener, nullptr, nullptr);
    close(listener);
  }
  int port() const { return port_; }
  void Wait() const {
    std::thread writer([this] {
      Sleep(100 * kMillisecond);
      if (write(writer_, "x", 1) != 1) std::abort();
    });
    char byte = 0;
    if (read(reader_, &byte, 1) != 1) std::abort();
    writer.join();
  }

 private:
  int port_ = 0;
  int reader_ = -1;
  int writer_ = -1;
};

TEST(Waits, OfAConnectionNameItsOtherEnd) {
  const SharedValue<int> port;
  const ChunkLine chunk = RecordedChunk(
      [&] {
        const Connection connection;
        *port = connection.port();
        TrackMetrics metrics("ttbar");
        const std::int64_t until = WallNs() + 3 * kLongEnough;  // one that is looked up has to come
        TrackSection section("wait");
        while (WallNs() < until) connection.Wait();
      },
      kOften);
  EXPECT_GE(SamplesOf(chunk, "network", "tcp:127.0.0.1:" + std::to_string(*port)), 1);
}

TEST(Waits, NameNothingOnceTheProgramHasAFilter) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        int ends[2];
        if (pipe(ends) != 0) std::abort();
        { TrackSection begin("set up"); }
        FilterCalls({SYS_readlink, SYS_readlinkat}, SECCOMP_RET_KILL_PROCESS);
        TrackMetrics metrics("ttbar");
        TrackSection section("wait");
        std::thread writer([&] {
          Sleep(kLongEnough);
          if (write(ends[1], "x", 1) != 1) std::abort();
        });
        char byte = 0;
        if (read(ends[0], &byte, 1) != 1) std::abort();
        writer.join();
      },
      kOften);
  EXPECT_EQ(SamplesOf(chunk, "read", "pipe"), 0);
  EXPECT_GE(SamplesOf(chunk, "read", {}), 1);
}

TEST(Waits, OfAMutexAreLocks) {
  const ChunkLine chunk = ChunkThatWaits([] {
    std::mutex mutex;
    std::atomic<bool> is_held{false};
    std::thread holder([&] {
      const std::lock_guard<std::mutex> lock(mutex);
      is_held = true;
      Sleep(100 * kMillisecond);
    });
    while (!is_held) sched_yield();
    mutex.lock();
    mutex.unlock();
    holder.join();
  });
  ExpectMostly(chunk, "lock or condition");
  EXPECT_GE(SamplesOf(chunk, "lock or condition", "held by a thread without guards"), 1);
}

constexpr char kLockFile[] = "/tmp/crema_waits_test.";  ///< with the process's number

/// Lets another process hold `take`'s lock of the file for a while, and takes it after it.
void WaitForLockOfFile(const std::function<void(int)>& take) {
  const std::string path = kLockFile + std::to_string(getpid());
  const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  int is_held[2];
  if (file < 0 || pipe(is_held) != 0) std::abort();
  const pid_t holder = fork();
  if (holder == 0) {
    take(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (write(is_held[1], "x", 1) != 1) std::abort();
    Sleep(100 * kMillisecond);
    _exit(0);
  }
  char byte = 0;
  if (read(is_held[0], &byte, 1) != 1) std::abort();
  take(file);
  waitpid(holder, nullptr, 0);
  for (const int fd : {file, is_held[0], is_held[1]}) close(fd);
  unlink(path.c_str());
}

TEST(Waits, OfALockOfAFileAreLocksAndNameTheFile) {
  const auto by_flock = [](int file) { flock(file, LOCK_EX); };
  const auto by_fcntl = [](int file) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    fcntl(file, F_SETLKW, &lock);
  };
  for (const std::function<void(int)>& take : {std::function<void(int)>(by_flock), {by_fcntl}}) {
    MaybeText file;
    const ChunkLine chunk = ChunkThatWaits([&take] { WaitForLockOfFile(take); });
    for (const WaitRow& row : WaitsIn(chunk, "wait")) {
      if (row.kind == "lock or condition") file = row.object;
    }
    EXPECT_EQ(file.value_or("").rfind(kLockFile, 0), 0u) << file.value_or("none");
  }
}

/// Whether most samples of this kind have a stack with `text` in it.
bool StacksHave(const ChunkLine& chunk, const std::string& kind, const std::string& text) {
  std::int64_t with = 0;
  std::int64_t without = 0;
  for (const WaitRow& row : WaitsIn(chunk, "wait")) {
    if (row.kind != kind) continue;
    (row.stack.value_or("").find(text) == std::string::npos ? without : with) += row.samples;
  }
  return with > without;
}

TEST(Waits, HaveTheFunctionsThatWait) {
  const ChunkLine chunk = ChunkThatWaits([] { Sleep(100 * kMillisecond); });
  EXPECT_TRUE(StacksHave(chunk, "sleep", "/libc.so."));
  EXPECT_TRUE(StacksHave(chunk, "sleep", "waits_test\n"));
}

TEST(Waits, HaveNoFunctionsOnceTheProgramHasAFilter) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        { TrackSection begin("set up"); }
        FilterCalls({SYS_process_vm_readv, SYS_madvise, SYS_pread64}, SECCOMP_RET_ERRNO | EPERM);
        TrackMetrics metrics("ttbar");
        TrackSection section("wait");
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_FALSE(StacksHave(chunk, "sleep", "+0x"));
}

TEST(Waits, SayWhoHoldsAMutex) {
  const RecordLog log = Recorded(
      [] {
        std::mutex mutex;
        std::atomic<bool> is_held{false};
        std::thread holder([&] {
          TrackMetrics metrics("holder");
          TrackSection outer("merge");
          TrackSection inner("fill");
          const std::lock_guard<std::mutex> lock(mutex);
          is_held = true;
          Sleep(kLongEnough);
        });
        while (!is_held) sched_yield();
        {
          TrackMetrics metrics("ttbar");
          TrackSection section("wait");
          const std::lock_guard<std::mutex> lock(mutex);
        }
        holder.join();
      },
      kOften);
  EXPECT_GE(SamplesOf(ChunkOf(log, "ttbar"), "lock or condition", "held by section merge/fill"), 1);
}

TEST(Waits, SurviveLibrariesThatAreUnloaded) {
  const RecordLog log = Recorded(
      [] {
        const auto wait_in_library = [] {
          const std::int64_t until = WallNs() + 3 * kLongEnough;
          TrackMetrics metrics("ttbar");
          TrackSection section("wait");
          while (WallNs() < until) {
            void* const library = dlopen("sdk/tests/waiting_library.so", RTLD_NOW);
            if (library == nullptr) std::abort();
            reinterpret_cast<int (*)(int, unsigned)>(dlsym(library, "WaitBelow"))(5, 300);
            dlclose(library);
          }
        };
        std::thread other(wait_in_library);
        wait_in_library();
        other.join();
      },
      kOften);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_TRUE(StacksHave(log.chunks.at(0), "sleep", "/waiting_library.so\n"));
}

TEST(Waits, OfAChildAreForAChildProcess) {
  const ChunkLine chunk = ChunkThatWaits([] {
    const pid_t child = fork();
    if (child == 0) {
      Sleep(100 * kMillisecond);
      _exit(0);
    }
    if (waitpid(child, nullptr, 0) != child) std::abort();
  });
  ExpectMostly(chunk, "child process");
}

TEST(Waits, StandInTheSectionThatIsOpen) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        {
          TrackSection outer("outer");
          TrackSection inner("a/b");
          Sleep(kLongEnough);
        }
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_EQ(WaitsIn(chunk, "outer/a%2Fb").size(), 1u);
  EXPECT_EQ(WaitsIn(chunk, "").size(), 1u);
  EXPECT_EQ(WaitsIn(chunk, "outer").size(), 0u);
}

TEST(Waits, OfAHelperStandBelowItsChunksSection) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        TrackSection section("infer");
        const ChunkHandle handle = metrics.handle();
        std::thread([&] {
          TrackHelper helper(handle);
          TrackSection part("part");
          Sleep(kLongEnough);
        }).join();
      },
      kOften);
  ASSERT_EQ(WaitsIn(chunk, "infer/part").size(), 1u);
  EXPECT_EQ(WaitsIn(chunk, "infer/part")[0].kind, "sleep");
}

TEST(Waits, AreOffWhereItIsAskedFor) {
  for (const char* off : {"off", "0"}) {
    const ChunkLine chunk = ChunkThatWaits([] { Sleep(100 * kMillisecond); }, {{"CREMA_WAITS", off}});
    EXPECT_TRUE(chunk.waits.empty());
  }
}

TEST(Waits, EndWhenRecordingIsSwitchedOff) {
  const RecordLog log = Recorded(
      [] {
        TrackMetrics metrics("ttbar");
        Disable();
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_NE(log.lines.back().find("\"wait_samples\":0"), std::string::npos) << log.lines.back();
}

// A race: it has to strike between two stores. So this shows that nothing breaks, not that nothing ever did.
TEST(Waits, OfAnOuterChunkNameNoSectionOfChunksInsideIt) {
  const RecordLog log = Recorded(
      [] {
        TrackMetrics outer({"outer", "f", 0, 1});
        for (int i = 0; i < 500; ++i) {
          TrackMetrics inner({"inner", "f", i, i + 1});
          for (int j = 0; j < 20; ++j) TrackSection section("inner " + std::to_string(i % 40 * 20 + j));
        }
      },
      {{"CREMA_WAITS", "1000"}});
  for (const WaitRow& row : ChunkOf(log, "outer").waits) EXPECT_EQ(row.path, "");
}

TEST(Waits, AreRefusedToAProcessThatIsNotDumpable) {
  // Root may read the file in any case, unless it becomes another user.
  const auto be_another = [] { return geteuid() != 0 || setresuid(kNobody, kNobody, kNobody) == 0; };
  if (RunInChild({}, [&] { std::_Exit(be_another() ? 0 : 1); }).exit_status != 0) GTEST_SKIP() << "there is no other";
  const RecordLog log = Recorded(
      [&] {
        { const TrackMetrics opens_the_log("ttbar"); }
        ASSERT_TRUE(be_another());
        prctl(PR_SET_DUMPABLE, 0);
        TrackMetrics metrics("ttbar");
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_NE(log.lines.back().find("does not let this process see"), std::string::npos) << log.lines.back();
}

TEST(Waits, AreRefusedWhereThereIsNoFileOfThem) {
  const auto hide_proc = [] {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("tmpfs", "/proc", "tmpfs", 0, nullptr) == 0;
  };
  if (RunInChild({}, [&] { std::_Exit(hide_proc() ? 0 : 1); }).exit_status != 0) GTEST_SKIP() << "not allowed to mount";
  const RecordLog log = Recorded(
      [&] {
        ASSERT_TRUE(hide_proc());
        TrackMetrics metrics("ttbar");
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_NE(log.lines.back().find("this kernel does not show"), std::string::npos) << log.lines.back();
}

}  // namespace
}  // namespace testing
}  // namespace crema
