#include "priority_lock.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <functional>
#include <thread>

namespace crema {
namespace allocations {
namespace {

/// Runs `work` on the CPU of the test, at a real-time priority. Returns whether this is permitted.
bool RunAtPriority(int priority, const std::function<void()>& work) {
  bool may = true;
  std::thread thread([&] {
    sched_param parameters = {};
    parameters.sched_priority = priority;
    may = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
    if (may) work();
  });
  thread.join();
  return may;
}

TEST(PriorityLock, IsHadByAThreadThatKeepsItsHolderFromRunning) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  if (!RunAtPriority(1, [] {})) GTEST_SKIP() << "no right to real-time priorities (CAP_SYS_NICE)";

  PriorityLock lock;
  std::atomic<bool> wants{false}, has_tried{false};
  bool had = false;
  // There is one CPU: a thread runs only while no thread of higher priority can. The thread in the middle holds no lock
  // and never waits, as another part of the program may do.
  RunAtPriority(10, [&] {
    ASSERT_TRUE(lock.Lock());
    std::thread high([&] {
      sched_param parameters = {};
      parameters.sched_priority = 30;
      pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
      std::thread middle([&] {
        parameters.sched_priority = 20;
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
        while (!has_tried.load()) {
        }
      });
      wants.store(true);
      had = lock.Lock();
      if (had) lock.Unlock();
      has_tried.store(true);
      middle.join();
    });
    while (!wants.load()) sched_yield();
    lock.Unlock();
    high.join();
  });
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_TRUE(had) << "it gave up: its holder did not run meanwhile";
}

TEST(PriorityLock, ExcludesThreadsFromEachOther) {
  constexpr int kRounds = 20000;
  PriorityLock lock;
  long counted = 0, expected = 0;
  std::atomic<long> held{0};
  std::thread threads[4];
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      long times = 0;
      for (int i = 0; i < kRounds; ++i) {
        if (!lock.Lock()) continue;
        ++times;
        const long next = counted + 1;
        if (i % 100 == 0) sched_yield();  // so that others come to wait
        counted = next;
        lock.Unlock();
      }
      held.fetch_add(times);
    });
  }
  for (std::thread& thread : threads) thread.join();
  expected = held.load();
  EXPECT_EQ(counted, expected);
  EXPECT_EQ(expected, 4 * kRounds) << "nobody gives up while holders go on";
}

TEST(PriorityLock, IsGivenUpWhereItIsHeldForEver) {
  PriorityLock lock;
  std::thread([&] { EXPECT_TRUE(lock.Lock()); }).join();
  EXPECT_FALSE(lock.Lock());
  EXPECT_FALSE(lock.Lock());
  lock.StartAnew();
  EXPECT_TRUE(lock.Lock());
}

}  // namespace
}  // namespace allocations
}  // namespace crema
