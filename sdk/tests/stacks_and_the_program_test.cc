// Native stacks do not change the program's signals, stacks and system calls (docs/reliability.md, "Stacks").
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/refused_calls.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/seen_stacks.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kMillisecond = 1'000'000;
const Environment kStacks = {{"CREMA_STACKS", "1000"}};

Seen Sampled(const std::function<void()>& body) { return StacksOf(Recorded(body, kStacks)); }

void SpinInChunk(std::int64_t ns) {
  TrackMetrics metrics("zjets");
  SpinCpu(ns);
}

TEST(StacksSignal, IsTakenOnlyWhenAskedFor) {
  if (std::getenv("CREMA_TEST_STACKS") != nullptr) GTEST_SKIP() << "CREMA_TEST_STACKS asks for them";
  const auto handled = [](int signal) {
    struct sigaction action = {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL;
  };
  const SharedValue<int> count;
  const SharedValue<bool> is_urgent;
  const auto program = [&] {
    TrackMetrics metrics("zjets");
    *count = 0;
    for (int signal = 1; signal <= SIGRTMAX; ++signal) *count += handled(signal) ? 1 : 0;
    *is_urgent = handled(SIGURG);
  };
  const Seen without = StacksOf(Recorded(program));
  const int before = *count;
  EXPECT_FALSE(*is_urgent);
  EXPECT_THAT(without.stacks, IsEmpty());
  EXPECT_THAT(without.refused, IsEmpty());
  Recorded(program, kStacks);
  EXPECT_EQ(*count, before + 1);
  EXPECT_TRUE(*is_urgent);
}

TEST(StacksSignal, LeavesTheProgramsOwnSignalsAndItsErrnoAlone) {
  struct Counts {
    int expected, seen, own_errno;
  };
  static std::atomic<int> own{0};
  const SharedValue<Counts> counts;
  const Seen seen = Sampled([&] {
    struct sigaction action = {};
    action.sa_handler = [](int) { ++own; };
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaction(signal, &action, nullptr);
    TrackMetrics metrics("signals");
    errno = 77;
    for (int i = 0; i < 300; ++i) {
      SpinCpu(kMillisecond);
      pthread_kill(pthread_self(), SIGRTMIN + i % (SIGRTMAX - SIGRTMIN + 1));
      ++counts->expected;
    }
    counts->own_errno = errno;
    counts->seen = own;
  });
  EXPECT_EQ(counts->seen, counts->expected);
  EXPECT_EQ(counts->own_errno, 77);
  EXPECT_GT(seen.Samples(), 100);
}

TEST(StacksSignal, MayBeResetByTheProgramAtAnyTime) {
  for (const bool is_in_chunk : {true, false}) {
    const Seen seen = Sampled([&] {
      const auto reset = [] {
        for (int signal = 1; signal <= SIGRTMAX; ++signal) ::signal(signal, SIG_DFL);
      };
      {
        TrackMetrics metrics("first");
        SpinCpu(50 * kMillisecond);
        if (is_in_chunk) reset();
        SpinCpu(50 * kMillisecond);
      }
      if (!is_in_chunk) reset();
      SpinInChunk(50 * kMillisecond);
    });
    EXPECT_THAT(seen.refused, ElementsAre(HasSubstr("has set another action for SIGURG")));
    EXPECT_GT(seen.Samples(), 2);  // 50 where the machine lets timers run
  }
}

TEST(StacksSignal, OfTheProgramIsNotTaken) {
  for (void (*handler)(int) : {SIG_IGN, static_cast<void (*)(int)>([](int) { std::abort(); })}) {
    const Seen seen = Sampled([handler] {
      signal(SIGURG, handler);
      SpinInChunk(50 * kMillisecond);
    });
    EXPECT_THAT(seen.stacks, IsEmpty());
    EXPECT_THAT(seen.refused, ElementsAre(HasSubstr("handles or ignores SIGURG (ROOT does: ")));
  }
}

TEST(StacksSignal, IsGivenUpWhereTheProgramTakesItLater) {
  static std::atomic<int> struck{0};
  for (const bool is_in_chunk : {true, false}) {
    const SharedValue<int> by_stacks;
    const Seen seen = Sampled([&] {
      const auto take = [] { signal(SIGURG, [](int) { ++struck; }); };
      {
        TrackMetrics first("first");
        SpinCpu(20 * kMillisecond);
        if (is_in_chunk) take();
        SpinCpu(100 * kMillisecond);
      }
      if (!is_in_chunk) take();
      std::thread([] { SpinInChunk(100 * kMillisecond); }).join();
      SpinInChunk(100 * kMillisecond);
      *by_stacks = struck;
    });
    EXPECT_LE(*by_stacks, is_in_chunk ? 2 : 0);  // the timer and the clock that ran then strike once
    EXPECT_THAT(seen.refused, ElementsAre(HasSubstr("has set another action for SIGURG")));
  }
}

TEST(StacksSignal, IsNotSentToAThreadThatBlocksIt) {
  const SharedValue<bool> is_pending;
  const Seen seen = Sampled([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    SpinInChunk(100 * kMillisecond);
    sigset_t pending;
    sigpending(&pending);
    *is_pending = sigismember(&pending, SIGURG) == 1;
  });
  EXPECT_FALSE(*is_pending);
  EXPECT_THAT(seen.refused, ElementsAre("a thread blocks SIGURG: it has no stacks"));
}

TEST(StacksSignal, IsNotPendingAfterAChunkThatBlockedIt) {
  const SharedValue<bool> is_pending;
  const Seen seen = Sampled([&] {
    {
      TrackMetrics metrics("zjets");
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      SpinCpu(100 * kMillisecond);
    }
    sigset_t pending;
    sigpending(&pending);
    *is_pending = sigismember(&pending, SIGURG) == 1;
  });
  EXPECT_FALSE(*is_pending);
  EXPECT_THAT(seen.refused, ElementsAre(HasSubstr("blocked SIGURG inside a chunk")));
  EXPECT_GE(seen.lost_samples, 90u);
}

TEST(StacksSignal, IsNotPendingAfterShortChunksThatBlockedIt) {
  const SharedValue<int> pending_count;
  const Seen seen = Sampled([&] {
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    for (int i = 0; i < 40; ++i) {
      pthread_sigmask(SIG_SETMASK, &none, nullptr);
      {
        TrackMetrics metrics("zjets");
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        SpinCpu(6 * kMillisecond);
      }
      sigset_t pending;
      sigpending(&pending);
      *pending_count += sigismember(&pending, SIGURG);
    }
  });
  EXPECT_EQ(*pending_count, 0);
  EXPECT_NEAR(static_cast<double>(seen.lost_samples) + seen.Samples(), 240, 24);
}

TEST(StacksSignal, ThatWasBlockedIsNotTheTimeOfWhoeverUnblocksIt) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer stands in for pthread_sigmask";
  const Seen seen = Sampled([&] {
    TrackMetrics metrics("zjets");
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    {
      TrackSection blocked("blocked");
      pthread_sigmask(SIG_SETMASK, &all, &before);
      SpinCpu(200 * kMillisecond);
    }
    TrackSection unblocking("unblocking");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    SpinCpu(20 * kMillisecond);
  });
  EXPECT_LT(seen.Samples("unblocking"), 40);
  EXPECT_GT(seen.lost_samples, 150u);
  EXPECT_THAT(seen.refused, ElementsAre(HasSubstr("blocked SIGURG inside a chunk")));
}

TEST(StacksSignal, OfSomebodyElseStaysPendingAfterSuchAChunk) {
  const SharedValue<bool> is_pending;
  Sampled([&] {
    {
      TrackMetrics metrics("zjets");
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      pthread_kill(pthread_self(), SIGURG);
      SpinCpu(100 * kMillisecond);
    }
    sigset_t pending;
    sigpending(&pending);
    *is_pending = sigismember(&pending, SIGURG) == 1;
  });
  EXPECT_TRUE(*is_pending);
}

/// Sets a stack of `bytes` for handlers between two chunks. Returns how many bytes below it changed.
Seen SampledWithHandlerStack(std::size_t bytes, std::size_t* changed) {
  const SharedValue<std::size_t> count;
  Seen seen = Sampled([&] {
    { TrackMetrics first("first"); }
    constexpr std::size_t kBelow = 65536;
    std::vector<char> memory(kBelow + bytes, 0x5a);
    stack_t stack = {};
    stack.ss_sp = memory.data() + kBelow;
    stack.ss_size = bytes;
    if (sigaltstack(&stack, nullptr) != 0) std::abort();
    SpinInChunk(300 * kMillisecond);
    for (std::size_t i = 0; i < kBelow; ++i) *count += memory[i] != 0x5a ? 1 : 0;
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
    SpinInChunk(20 * kMillisecond);
  });
  *changed = *count;
  return seen;
}

TEST(StacksHandler, LeavesASmallStackForHandlersAlone) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a stack for handlers of its own";
  std::size_t changed = 1;
  const Seen seen = SampledWithHandlerStack(static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)), &changed);
  EXPECT_EQ(changed, 0u);
  EXPECT_THAT(seen.refused, ElementsAre(HasSubstr("too small to share it")));
  EXPECT_LT(seen.Samples(), 50);
}

TEST(StacksHandler, TakesLittleOfALargeStackForHandlers) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a stack for handlers of its own";
  std::size_t changed = 1;
  const Seen seen = SampledWithHandlerStack(65536, &changed);
  EXPECT_EQ(changed, 0u);
  EXPECT_THAT(seen.refused, IsEmpty());
  EXPECT_GT(seen.Samples(), 100);  // 300 where the machine lets timers run
}

TEST(StacksHandler, BringsNoStackWhereHandlersOfTheProgramAskForOne) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a stack for handlers of its own";
  const SharedValue<bool> is_there;
  const Seen seen = Sampled([&] {
    struct sigaction action = {};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, nullptr);
    TrackMetrics metrics("zjets");
    SpinCpu(50 * kMillisecond);
    stack_t now = {};
    *is_there = sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0;
  });
  EXPECT_FALSE(*is_there);
  EXPECT_GT(seen.Samples(), 3);  // 50 where the machine lets timers run
}

TEST(StacksHandler, LeavesRoomForHandlersOfTheProgramThatNeedMuch) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a stack for handlers of its own";
  const SharedValue<bool> was_handled;
  Sampled([&] {
    struct sigaction action = {};
    action.sa_flags = SA_ONSTACK;  // and it has no stack of its own
    action.sa_handler = [](int) {
      volatile char large[1 << 20];
      for (std::size_t i = 0; i < sizeof large; i += 64) large[i] = 1;
    };
    sigaction(SIGUSR1, &action, nullptr);
    TrackMetrics metrics("zjets");
    SpinCpu(20 * kMillisecond);
    raise(SIGUSR1);
    *was_handled = true;
  });
  EXPECT_TRUE(*was_handled);
}

TEST(StacksHandler, LeavesALimitOfTheProgramsDataToTheProgram) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts";
  constexpr int kThreads = 8;
  constexpr std::size_t kStackBytes = std::size_t{8} << 20;
  constexpr std::size_t kOwnBytes = std::size_t{1} << 20;  // of crema, for a thread
  constexpr std::size_t kWanted = std::size_t{30} << 20;
  const SharedValue<bool> is_given;
  const Seen seen = Sampled([&] {
    std::ifstream status("/proc/self/status");
    std::size_t used_kb = 0;
    for (std::string word; status >> word;) {
      if (word == "VmData:") status >> used_kb;
    }
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = used_kb * 1024 + kThreads * (kStackBytes + kOwnBytes) + kWanted * 3 / 2;
    if (used_kb == 0 || setrlimit(RLIMIT_DATA, &limit) != 0) std::abort();
    static pthread_barrier_t all;
    pthread_barrier_init(&all, nullptr, kThreads + 1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    std::vector<pthread_t> threads(kThreads);
    const auto run = [](void*) -> void* {
      SpinInChunk(20 * kMillisecond);
      pthread_barrier_wait(&all);
      pthread_barrier_wait(&all);
      return nullptr;
    };
    for (pthread_t& thread : threads) {
      if (pthread_create(&thread, &attributes, run, nullptr) != 0) std::abort();
    }
    pthread_barrier_wait(&all);
    void* const block = std::malloc(kWanted);
    *is_given = block != nullptr;
    std::free(block);
    pthread_barrier_wait(&all);
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  });
  EXPECT_TRUE(*is_given);
  EXPECT_THAT(seen.refused, IsEmpty());
  EXPECT_GT(seen.Samples(), 10 * kThreads);
}

class TrappedCalls : public ::testing::TestWithParam<bool> {};

TEST_P(TrappedCalls, DoNotEndAThreadWhoseStacksAreTaken) {
  if (kSanitized && GetParam()) GTEST_SKIP() << "a sanitizer has a stack for handlers of its own";
  const SharedValue<bool> is_over;
  const SharedValue<int> trapped;
  Sampled([&] {
    static int* const kTrapped = &*trapped;
    static char memory[65536];
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    if (GetParam() && sigaltstack(&stack, nullptr) != 0) std::abort();
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | (GetParam() ? SA_ONSTACK : 0);
    action.sa_sigaction = [](int, siginfo_t*, void*) { ++*kTrapped; };  // the call's result is its number
    sigaction(SIGSYS, &action, nullptr);
    TrackMetrics metrics("zjets");
    SpinCpu(20 * kMillisecond);
    TrapCalls({SYS_timer_settime});
    SpinCpu(50 * kMillisecond);
    *is_over = true;
  });
  EXPECT_TRUE(*is_over);
  EXPECT_GT(*trapped, 0);
}

INSTANTIATE_TEST_SUITE_P(WithAStackForHandlers, TrappedCalls, ::testing::Bool());

TEST(StacksHandler, GivesTheStackForHandlersBackWhenTheThreadEnds) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a stack for handlers of its own";
  const SharedValue<bool> is_there;
  Sampled([&] {
    static pthread_key_t key;
    static bool* const kResult = &*is_there;
    pthread_key_create(&key, [](void*) {
      stack_t now = {};
      *kResult = sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0;
      static int rounds = 0;
      if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(key, &rounds);  // after ours
    });
    std::thread([] {
      pthread_setspecific(key, &key);
      SpinInChunk(20 * kMillisecond);
    }).join();
  });
  EXPECT_FALSE(*is_there);
}

TEST(Disabling, GivesTheSignalBackAndCountsWhatIsLostInOpenChunks) {
  const SharedValue<bool> is_default;
  const Seen seen = Sampled([&] {
    {
      TrackMetrics chunk("open");
      SpinCpu(50 * kMillisecond);
      Disable();
      struct sigaction action = {};
      sigaction(SIGURG, nullptr, &action);
      *is_default = action.sa_handler == SIG_DFL;
      if (!Enable(Options())) std::abort();
      SpinCpu(50 * kMillisecond);
    }
    SpinInChunk(50 * kMillisecond);
  });
  EXPECT_TRUE(*is_default);
  EXPECT_THAT(seen.refused, ElementsAre("recording was switched off inside a chunk"));
  // On a busy machine the kernel ends a turn without a tick, and a part of it is seen by no timer.
  EXPECT_NEAR(static_cast<double>(seen.lost_samples) + seen.Samples(), 150, 50);
}

/// Ends the process without any other system call, because the kernel would kill it.
[[noreturn]] void LeaveStrictly() {
  syscall(SYS_exit, 0);
  for (;;) {
  }
}

TEST(Disabling, LetsAProgramForbidItselfAllSystemCalls) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes system calls of its own";
  const std::vector<std::function<void()>> programs = {
      [] {
        TrackMetrics chunk("open to the end");
        SpinCpu(20 * kMillisecond);
        Disable();
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        volatile double value = 1;
        for (int i = 0; i < 100'000'000; ++i) value = value * 1.0000001 + 0.1;
        LeaveStrictly();
      },
      [] {
        {
          TrackSection outside("outside");
          TrackMetrics chunk("ends meanwhile");
          TrackSection section("section");
          TrackSection with_cpu("cpu", kCpuTime);
          TrackActivity activity("activity");
          TrackMemory memory("memory");
          TrackIo io("io");
          TrackPageFaults faults("faults");
          TrackPerfCounters counters("counters");
          TrackRequest request("server", "read");
          Span span("span");
          TrackMetrics same("ends meanwhile");
          TrackMetrics inside({"inside", "f", 0, 1});
          TrackHelper helper(chunk.handle());
          SpinCpu(20 * kMillisecond);
          Disable();
          prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        }
        {
          TrackMetrics off("off");
          TrackSection section("section");
          RecordMetric("metric", 1);
          Flush();
        }
        LeaveStrictly();
      },
      [] {
        TrackMetrics chunk("suspended");
        Disable();
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        chunk.Suspend();
        chunk.Resume();
        LeaveStrictly();
      },
  };
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (const char* hertz : {"0", "1000"}) {
      const ChildResult result =
          RunInChild({{"CREMA_DIR", NewDirectory()}, {"CREMA_INTERVAL", "0"}, {"CREMA_STACKS", hertz}}, programs[i]);
      EXPECT_EQ(result.exit_status, 0) << "program " << i << " with stacks " << hertz << ": signal " << result.signal;
    }
  }
}

TEST(Stacks, ThatFindNoRoomInTheLogAreCountedWithTheReason) {
  const RecordLog log = Recorded(
      [] {
        for (int i = 0; i < 200; ++i) {
          TrackMetrics metrics({"zjets", "file", i, i + 1});
          SpinCpu(kMillisecond);
        }
      },
      {{"CREMA_STACKS", "1000"}, {"CREMA_MAX_LOG_BYTES", "60000"}});
  const Seen seen = StacksOf(log);
  EXPECT_THAT(seen.refused, ElementsAre(HasSubstr("the log has no room for more stacks")));
  EXPECT_GE(static_cast<double>(seen.lost_samples) + seen.Samples(), 120);  // 200 where no other program has turns
  EXPECT_GT(seen.lost_samples, 0u);
  EXPECT_EQ(log.end->dropped, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
