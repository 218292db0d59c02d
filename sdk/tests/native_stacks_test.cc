// Which functions the sections of native code spend their time in (docs/inside.md).
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "nlohmann/json.hpp"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/seen_stacks.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

using Json = nlohmann::json;

const Environment kStacks = {{"CREMA_STACKS", "1000"}};
std::atomic<std::uint64_t> g_result;

// Equal loops, so that shares are proportional to the numbers of rounds. They are not inlined, and differ in their
// code.
template <int kWhich>
__attribute__((noinline)) void Work(int rounds) {
  std::uint64_t value = kWhich;
  for (int i = 0; i < rounds; ++i) value = value * 6364136223846793005u + 1442695040888963407u + kWhich;
  g_result += value;
}

__attribute__((noinline)) void Recurse(int depth) {
  if (depth == 0) {
    for (int i = 0; i < 3000; ++i) Work<4>(100000);
  } else {
    Recurse(depth - 1);
  }
  g_result += 1;  // so that the call is none at the end
}

/// The address in the log's form, because the program is loaded elsewhere in each process.
std::string NameOf(void (*function)(int)) {
  Dl_info info{};
  link_map* map = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  if (dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return "";
  char name[64];
  std::snprintf(name, sizeof name, "native_stacks_test+0x%llx", static_cast<unsigned long long>(address - map->l_addr));
  return name;
}

void WorkSevenOfTen() {
  TrackMetrics metrics("zjets");
  TrackSection section("select");
  for (int i = 0; i < 4000; ++i) {
    Work<1>(70000);
    Work<2>(30000);
  }
}

TEST(NativeStacks, AFirstChunkMayBeginLongAfterRecording) {
  Environment environment = kStacks;
  environment.emplace_back("CREMA_INTERVAL",
                           "1");  // the sampler looks whether something is due, which it is after ten seconds
  const auto late = [] {
    { const TrackSection set_up("set up"); }
    std::this_thread::sleep_for(std::chrono::milliseconds(11'500));
    WorkSevenOfTen();
  };
  const Seen seen = StacksOf(Recorded(late, environment));
  EXPECT_THAT(seen.refused, ::testing::IsEmpty());
  EXPECT_GT(seen.Samples("select"), 100);
}

TEST(NativeStacks, SharesOfASectionAreThoseOfItsCpuTime) {
  const Seen seen = StacksOf(Recorded(WorkSevenOfTen, kStacks));
  ASSERT_GT(seen.Samples("select"), 100);
  EXPECT_EQ(seen.stacks.front().dataset, "zjets");
  const double share = seen.Share("select", NameOf(Work<1>));
  EXPECT_NEAR(share, 0.7, 4.5 * seen.Error("select", 0.7) + 0.01);
  EXPECT_NEAR(seen.Share("select", NameOf(Work<2>)), 1 - share, 0.02);
}

TEST(NativeStacks, AreAllOfTheCallsFromTheOutermostOne) {
  constexpr int kDepth = 20;
  const Seen seen = StacksOf(Recorded(
      [] {
        TrackMetrics metrics("recursion");
        Recurse(kDepth);
      },
      kStacks));
  double whole = 0;
  for (const SeenStack& stack : seen.stacks) {
    int calls = 0;
    for (const std::string& function : stack.functions) calls += function == NameOf(Recurse) ? 1 : 0;
    const bool is_whole =
        calls == kDepth + 1 && stack.functions.front() != "(outer frames)" && stack.functions.size() > kDepth + 3;
    if (is_whole && stack.functions.back() == NameOf(Work<4>)) whole += static_cast<double>(stack.samples);
  }
  EXPECT_GT(whole, 0.9 * seen.Samples(""));
}

TEST(NativeStacks, CountEachPeriodOfCpuTimeOnceWhateverTheThreads) {
  constexpr int kThreads = 64;
  const RecordLog log = Recorded(
      [] {
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i) {
          threads.emplace_back([i] {
            TrackMetrics metrics("thread " + std::to_string(i));
            for (int j = 0; j < 300; ++j) Work<1>(100000);
          });
        }
        for (std::thread& thread : threads) thread.join();
      },
      kStacks);
  std::map<std::string, double> samples;
  for (const SeenStack& stack : StacksOf(log).stacks) samples[stack.dataset] += static_cast<double>(stack.samples);
  double all = 0;
  double all_ns = 0;
  for (const ChunkLine& chunk : log.chunks) {
    all += samples[chunk.dataset.value()];
    all_ns += static_cast<double>(chunk.cpu_ns.value());
  }
  ASSERT_EQ(samples.size(), kThreads);
  // Samples that are due when a thread ends are lost: at most a tick of the kernel's clock, 10 ms.
  EXPECT_LE(all, all_ns * 1e-6 + kThreads);
  EXPECT_GE(all, all_ns * 1e-6 - 11 * kThreads);
}

TEST(NativeStacks, OfThreadsWithTheSmallestStacksTakeNothingOfThem) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs more than the smallest stack that a thread may have";
  const Seen seen = StacksOf(Recorded(
      [] {
        { TrackMetrics begins_recording("main"); }  // which needs more
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 16384);
        pthread_t thread;
        const auto work = [](void*) -> void* {
          TrackMetrics metrics("small");
          TrackSection section("select");
          for (int i = 0; i < 2000; ++i) Work<1>(100000);
          return nullptr;
        };
        if (pthread_create(&thread, &attributes, work, nullptr) != 0) std::abort();
        pthread_join(thread, nullptr);
        pthread_attr_destroy(&attributes);
      },
      kStacks));
  EXPECT_GT(seen.Share("select", NameOf(Work<1>)), 0.9);
}

TEST(NativeStacks, OfALibraryThatIsGoneWhenTheyAreWrittenHaveItsName) {
  const Seen seen = StacksOf(Recorded(
      [] {
        void* const library = dlopen("libz.so.1", RTLD_NOW);
        using Checksum = unsigned long (*)(unsigned long, const unsigned char*, unsigned);
        const auto checksum = reinterpret_cast<Checksum>(library == nullptr ? nullptr : dlsym(library, "adler32"));
        if (checksum == nullptr) std::abort();
        TrackMetrics metrics("plug-in");
        const std::vector<unsigned char> bytes(100000);
        for (int i = 0; i < 10000; ++i) g_result += checksum(1, bytes.data(), static_cast<unsigned>(bytes.size()));
        dlclose(library);
        if (dlopen("libz.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr) std::abort();
      },
      kStacks));
  double samples = 0;
  for (const SeenStack& stack : seen.stacks) {
    if (stack.functions.back().rfind("libz.so.1+0x", 0) == 0) samples += static_cast<double>(stack.samples);
  }
  EXPECT_GT(samples, 0.9 * seen.Samples(""));
  const auto is_it = [](const Json& module) {
    return module.at(0) == "libz.so.1" && module.at(1).get<std::string>().front() == '/' && module.at(2).is_string();
  };
  EXPECT_EQ(std::count_if(seen.modules.begin(), seen.modules.end(), is_it), 1);
}

#if defined(__x86_64__)
TEST(NativeStacks, GoOnByTheFramePointerWhereCodeHasNoTables) {
  const Seen seen = StacksOf(Recorded(
      [] {
        // push %rbp; mov %rsp, %rbp; mov %rdi, %rax; mov %esi, %edi; call *%rax; pop %rbp; ret
        static constexpr unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                                  0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
        void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) std::abort();
        std::memcpy(page, kCode, sizeof kCode);
        if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) std::abort();
        using Call = void (*)(void (*)(int), int);
        const auto call = reinterpret_cast<Call>(page);
        TrackMetrics metrics("generated");
        for (int i = 0; i < 3000; ++i) call(Work<1>, 100000);
      },
      kStacks));
  double samples = 0;
  for (const SeenStack& stack : seen.stacks) {
    const std::size_t depth = stack.functions.size();
    const bool is_it = depth > 4 && stack.functions[depth - 1] == NameOf(Work<1>) &&
                       stack.functions[depth - 2] == "(generated code)" && stack.functions[0] != "(outer frames)";
    if (is_it) samples += static_cast<double>(stack.samples);
  }
  EXPECT_GT(samples, 0.9 * seen.Samples(""));
}
#endif

TEST(NativeStacks, OfAForkedChildAreItsOwn) {
  const std::string directory = NewDirectory();
  const ChildResult result =
      RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}, {"CREMA_STACKS", "1000"}}, [] {
        TrackMetrics metrics("parent");
        for (int i = 0; i < 1000; ++i) Work<1>(100000);
        const pid_t pid = fork();
        if (pid == 0) {
          {
            TrackMetrics child("child");
            for (int i = 0; i < 1000; ++i) Work<2>(100000);
          }
          exit(0);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (status != 0) std::abort();
        char name[] = "/bin/true";
        char* const arguments[] = {name, nullptr};
        pid_t spawned = 0;  // by vfork
        if (posix_spawn(&spawned, name, nullptr, nullptr, arguments, environ) != 0) {
          std::abort();
        }
        waitpid(spawned, &status, 0);
        for (int i = 0; i < 1000; ++i) Work<1>(100000);
      });
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  ASSERT_EQ(logs.size(), 2u);
  for (const RecordLog& log : logs) {
    ASSERT_EQ(log.chunks.size(), 1u);
    const bool is_child = log.chunks[0].dataset.value() == "child";
    const Seen seen = StacksOf(log);
    EXPECT_GT(seen.Share("", NameOf(is_child ? Work<2> : Work<1>)), 0.9);
    for (const SeenStack& stack : seen.stacks) EXPECT_EQ(stack.dataset, log.chunks[0].dataset.value());
  }
}

TEST(NativeStacks, OfAChildThatAThreadForkedAreWhole) {
  if (kSanitized) GTEST_SKIP() << "the leak check of such a child does not see its parent's first stack";
  const std::string directory = NewDirectory();
  const ChildResult result =
      RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}, {"CREMA_STACKS", "1000"}}, [] {
        std::thread([] {
          const pid_t pid = fork();
          if (pid == 0) {
            {
              TrackMetrics child("child");
              Recurse(20);
            }
            exit(0);
          }
          int status = 0;
          waitpid(pid, &status, 0);
          if (status != 0) std::abort();
        }).join();
      });
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  ASSERT_EQ(logs.size(), 1u);
  const Seen seen = StacksOf(logs[0]);
  double whole = 0;
  for (const SeenStack& stack : seen.stacks) {
    if (stack.functions.front() != "(outer frames)") whole += static_cast<double>(stack.samples);
  }
  ASSERT_GT(seen.Samples(), 100);
  EXPECT_GT(whole, 0.9 * seen.Samples());
}

TEST(NativeStacks, ChangeNoOtherRecord) {
  if (std::getenv("CREMA_TEST_STACKS") != nullptr) GTEST_SKIP() << "CREMA_TEST_STACKS asks for them";
  const RecordLog without = Recorded(WorkSevenOfTen);
  const RecordLog with = Recorded(WorkSevenOfTen, kStacks);
  EXPECT_TRUE(StacksOf(without).stacks.empty());
  EXPECT_FALSE(StacksOf(with).stacks.empty());
  ASSERT_EQ(with.chunks.size(), without.chunks.size());
  EXPECT_EQ(Section(with.chunks[0].sections, "select").count, Section(without.chunks[0].sections, "select").count);
  EXPECT_EQ(with.end->chunks, without.end->chunks);
  EXPECT_EQ(with.end->dropped, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
