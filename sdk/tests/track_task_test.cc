// Events that go from thread to thread: sums that are exact, however tasks nest, and whatever goes wrong.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/task_sums.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMs = 1000000;
thread_local bool t_reads_slowly = false;

}  // namespace
}  // namespace testing
}  // namespace crema

/// The C library's `pread`, which lasts 2 ms where a test asks for it: so long may any reading last on a machine that
/// has more to do. Its own name, because fortified headers define the other one.
extern "C" ssize_t SlowPread(int fd, void* buffer, size_t size, off_t offset) __asm__("pread");
ssize_t SlowPread(int fd, void* buffer, size_t size, off_t offset) {
  if (crema::testing::t_reads_slowly) crema::testing::SpinWall(2 * crema::testing::kMs);
  return syscall(SYS_pread64, fd, buffer, size, offset);
}

namespace crema {
namespace testing {
namespace {

/// The log of a child that ran `body`, which may end in any way and warn.
RecordLog RecordedAnyhow(const std::function<void()>& body, ChildResult* result = nullptr) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, body);
  if (result != nullptr) *result = child;
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  EXPECT_FALSE(logs.empty());
  for (const RecordLog& log : logs) {  // the first process's; a child of it has one of its own
    if (!FirstLineOfType(log, "task_sums").empty() || logs.size() == 1) return log;
  }
  return RecordLog();
}

void OnAnotherThread(const std::function<void()>& body) { std::thread(body).join(); }

TEST(TrackTask, AnEventGoesThroughThreadsAndEveryNanosecondHasItsPlace) {
  const SharedValue<std::int64_t> burnt_ns;
  const RecordLog log = Recorded([&] {
    TrackEvent event;
    OnAnotherThread([&] { event = TrackEvent({"raw", "f.root", 0, 1}); });
    for (const char* name : {"a", "b", "c"}) {
      OnAnotherThread([&] {
        TrackTask task(event.handle(), name);
        const std::int64_t start_ns = ThreadCpuNs();
        SpinCpu(20 * kMs);
        *burnt_ns += ThreadCpuNs() - start_ns;
      });
    }
    event.SetEvents(1);
    OnAnotherThread([&] { event.End(); });
  });
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_GE(sums.OfTasks("cpu_ns"), *burnt_ns);
  EXPECT_LE(sums.OfTasks("cpu_ns"), *burnt_ns + *burnt_ns / 50);
  EXPECT_EQ(sums.Event("raw", "active_ns"), sums.OfTasks("own_ns"));
  EXPECT_EQ(sums.Event("raw", "active_ns"), sums.Event("raw", "work_ns"));
  ASSERT_EQ(log.begins.size(), 1u);
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  EXPECT_EQ(chunk.duration_ns(), sums.Event("raw", "latency_ns"));
  EXPECT_EQ(chunk.duration_ns() - chunk.suspended_ns.value_or(0), sums.Event("raw", "active_ns"));
  EXPECT_EQ(chunk.helper_cpu_ns, sums.OfTasks("cpu_ns"));
  EXPECT_EQ(chunk.helper_scope_ns, sums.OfTasks("own_ns"));
  EXPECT_EQ(chunk.cpu_ns, 0);
  EXPECT_EQ(chunk.events, 1);
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(TrackTask, TasksAtOnceAreWorkOfTheirOwn) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent event("raw", kSummed);
    std::atomic<int> inside{0};
    const auto work = [&] {
      TrackTask task(event.handle(), "part");
      ++inside;
      while (inside < 2) std::this_thread::yield();
      Sleep(5 * kMs);
    };
    std::thread other(work);
    work();
    other.join();
  }));
  ExpectExactSums(sums);
  EXPECT_GE(sums.Event("raw", "work_ns"), sums.Event("raw", "active_ns") + 5 * kMs);
  EXPECT_EQ(sums.Module("part", "peak"), 2);
}

TEST(TrackTask, WhatIsReadyIsQueuedAndWhatNobodyMarkedIsNot) {
  const TaskSums sums = SumsOf(Recorded([] {
    for (const bool is_marked : {true, false}) {
      TrackEvent event(is_marked ? "marked" : "not marked", kSummed);
      const Ready ready = is_marked ? MarkReady(event.handle(), "tracks") : Ready();
      Sleep(20 * kMs);
      OnAnotherThread([&] { TrackTask task(event.handle(), is_marked ? "tracks" : "other", ready); });
    }
  }));
  ExpectExactSums(sums);
  EXPECT_GE(sums.Event("marked", "queued_ns"), 20 * kMs);
  EXPECT_GE(sums.Event("marked", "critical_queue_ns"), 20 * kMs);
  EXPECT_EQ(sums.Event("marked", "queued_ns"), sums.Module("tracks", "queue_ns"));
  EXPECT_EQ(sums.Event("not marked", "queued_ns"), 0);
  EXPECT_GE(sums.Event("not marked", "rest_ns"), 20 * kMs);
  EXPECT_EQ(sums.Module("other", "queued"), 0);
}

TEST(TrackTask, ARequestEndsOnAnotherThreadAndIsExternal) {
  const SharedValue<std::int64_t> waited_ns;
  const RecordLog log = Recorded([&] {
    TrackEvent event({"raw", "f.root", 0, 1});
    TrackRequest request;
    std::int64_t begun_ns = 0;
    {
      TrackTask task(event.handle(), "infer acquire");
      request = TrackRequest(event.handle(), "triton://t4", "infer");
      request.AddBytes(1000);
      begun_ns = WallNs();
    }
    Sleep(20 * kMs);
    std::thread([&, moved = std::move(request)]() mutable { moved.End(); }).join();
    *waited_ns = WallNs() - begun_ns;
    TrackTask task(event.handle(), "infer");
  });
  const TaskSums sums = SumsOf(log);
  EXPECT_GE(sums.Event("raw", "external_ns"), 20 * kMs);
  EXPECT_LE(sums.Event("raw", "external_ns"), *waited_ns);
  EXPECT_LE(sums.Event("raw", "critical_external_ns"), *waited_ns);
  EXPECT_EQ(sums.Module("triton://t4", "count"), 1);
  ASSERT_EQ(log.chunks.size(), 1u);
  ASSERT_EQ(log.chunks[0].requests.size(), 1u);
  EXPECT_EQ(log.chunks[0].requests[0].bytes, 1000);
}

TEST(TrackTask, ARequestThatEndsInsideItsTaskIsNoExternalTime) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent event("raw", kSummed);
    TrackTask task(event.handle(), "asks and waits");
    {
      const TrackRequest request(event.handle(), "server", "ask");
      Sleep(5 * kMs);
    }
    Sleep(kMs);
  }));
  ExpectExactSums(sums);
  EXPECT_EQ(sums.Event("raw", "external_ns"), 0);
  EXPECT_EQ(sums.Event("raw", "critical_external_ns"), 0);
  EXPECT_GE(sums.Module("server", "own_ns"), 5 * kMs);
}

TEST(TrackTask, WhileOneEventIsExternalItsThreadWorksForAnother) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent one("one", kSummed), two("two", kSummed);
    TrackRequest request(one.handle(), "server", "ask");
    {
      TrackTask task(two.handle(), "task");
      Sleep(10 * kMs);
    }
    request.End();
  }));
  ExpectExactSums(sums);
  EXPECT_GE(sums.Event("one", "external_ns"), 10 * kMs);
  EXPECT_EQ(sums.Event("one", "active_ns"), 0);
  EXPECT_GE(sums.Event("two", "active_ns"), 10 * kMs);
  EXPECT_EQ(sums.Event("two", "external_ns"), 0);
}

TEST(TrackTask, ATaskOfAnotherEventInsideIsNotTheOuterOnesTime) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent one("one", kSummed), two("two", kSummed);
    TrackTask outer(one.handle(), "outer");
    SpinWall(10 * kMs);
    {
      TrackTask inner(two.handle(), "inner");
      SpinWall(10 * kMs);
      TrackTask part(two.handle(), "inner/part");
      SpinWall(10 * kMs);
    }
    SpinWall(10 * kMs);
    EXPECT_EQ(CurrentHandle().slot, one.handle().slot);
  }));
  EXPECT_GE(sums.Module("outer", "own_ns"), 20 * kMs);
  EXPECT_GE(sums.Module("outer", "stolen_ns"), 20 * kMs);
  EXPECT_LE(sums.Module("outer", "stolen_ns"), sums.Module("inner", "own_ns") + sums.Module("inner/part", "own_ns"));
  EXPECT_EQ(sums.Module("inner", "stolen_ns"), 0) << "a part of its own";
  EXPECT_EQ(sums.OfThreads("task_ns"), sums.OfTasks("own_ns"));
}

TEST(TrackTask, AModuleInsideItselfRunsOnce) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent event("raw", kSummed);
    TrackTask outer(event.handle(), "walk");
    TrackTask inner(event.handle(), "walk");
  }));
  EXPECT_EQ(sums.Module("walk", "peak"), 1);
  EXPECT_EQ(sums.Module("walk", "count"), 2);
}

TEST(TrackTask, AChunkInsideATaskAndATaskInsideAChunkCountOnce) {
  const SharedValue<std::int64_t> wall_ns;
  const RecordLog log = Recorded([&] {
    TrackEvent event("raw", kSummed);
    const std::int64_t start_ns = WallNs();
    {
      TrackTask task(event.handle(), "around");
      TrackMetrics chunk("inside a task");
      SpinWall(10 * kMs);
    }
    {
      TrackMetrics chunk("around a task");
      TrackSection section("section");
      TrackTask task(event.handle(), "inside");
      SpinWall(10 * kMs);
    }
    *wall_ns = WallNs() - start_ns;
  });
  const TaskSums sums = SumsOf(log);
  std::int64_t all_ns = sums.OfTasks("own_ns");
  for (const ChunkLine& chunk : log.chunks) {
    all_ns += chunk.duration_ns() - chunk.inner_ns.value_or(0);
    if (chunk.dataset == "around a task") {
      EXPECT_GE(chunk.inner_ns.value_or(0), 10 * kMs - CounterToleranceNs(10 * kMs));
    }
  }
  EXPECT_LE(all_ns, *wall_ns + CounterToleranceNs(*wall_ns));
  EXPECT_GE(sums.Module("inside", "own_ns"), 10 * kMs);
  EXPECT_LT(sums.Module("around", "own_ns"), *wall_ns - 20 * kMs) << "the chunk inside is not its";
}

TEST(TrackTask, WhatGuardsReadIsOfOnePlaceHoweverLongItLasts) {
  struct Walls {
    std::int64_t inside_ns = 0, around_ns = 0;
  };
  const auto recorded = [](const std::function<void(const EventHandle&, const std::function<void()>&)>& open) {
    const SharedValue<Walls> walls;
    const RecordLog log = Recorded([&] {
      TrackEvent event("raw", kSummed);
      const auto work = [&] {
        t_reads_slowly = false;
        SpinWall(5 * kMs);
        t_reads_slowly = true;
      };
      walls->around_ns = -WallNs();
      {
        TrackTask task(event.handle(), "around");
        walls->inside_ns = -WallNs();
        t_reads_slowly = true;
        open(event.handle(), work);
        t_reads_slowly = false;
        walls->inside_ns += WallNs();
      }
      walls->around_ns += WallNs();
    });
    std::int64_t all_ns = SumsOf(log).OfTasks("own_ns");
    for (const ChunkLine& chunk : log.chunks) {
      all_ns += chunk.dataset == "of another thread"
                    ? chunk.helper_scope_ns.value_or(0)
                    : chunk.duration_ns() - chunk.inner_ns.value_or(0) - chunk.suspended_ns.value_or(0);
    }
    EXPECT_GE(all_ns, walls->inside_ns - CounterToleranceNs(walls->inside_ns));
    EXPECT_LE(all_ns, walls->around_ns + CounterToleranceNs(walls->around_ns));
    return walls->inside_ns;
  };
  EXPECT_GT(recorded([](const EventHandle&, const std::function<void()>& work) {
              TrackMetrics chunk("inside");
              work();
            }),
            8 * kMs)
      << "nothing was read slowly";
  recorded([](const EventHandle&, const std::function<void()>& work) {
    TrackMetrics chunk("inside");
    work();
    chunk.Suspend();
    SpinWall(kMs);
    chunk.Resume();
    work();
  });
  recorded([](const EventHandle&, const std::function<void()>& work) {
    ChunkHandle handle;
    std::atomic<bool> is_open{false}, is_over{false};
    std::thread other([&] {
      TrackMetrics chunk("of another thread");
      handle = chunk.handle();
      is_open = true;
      while (!is_over) Sleep(kMs);
    });
    while (!is_open) Sleep(kMs / 10);
    {
      TrackHelper helper(handle);
      work();
    }
    is_over = true;
    other.join();
  });
  recorded([](const EventHandle& event, const std::function<void()>& work) {
    TrackMetrics chunk("inside");
    TrackTask task(event, "inside the chunk");
    work();
  });
}

TEST(TrackTask, ConditionsAreTasksOfNoEvent) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackTask task({}, "es:Geometry");
    EXPECT_EQ(CurrentHandle().slot, nullptr);
  }));
  EXPECT_EQ(sums.Module("es:Geometry", "count"), 1);
  EXPECT_TRUE(sums.events.empty());
}

/// A pool of threads that run tasks in the order in which they come.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stops_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void Push(std::function<void()> task) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void Run() {
    while (true) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stops_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

/// An event with random tasks, nested ones and requests, some of them marked as ready.
void RunRandomEvent(Pool* pool, unsigned seed, std::atomic<std::int64_t>* burnt_ns, std::function<void()> done) {
  struct Event {
    TrackEvent track;
    std::atomic<int> left{0};
  };
  static constexpr const char* kNames[] = {"p", "q", "r", "s"};
  std::mt19937 random(seed);
  auto event = std::make_shared<Event>();
  event->track = TrackEvent({"raw", "f.root", seed, seed + 1}, seed % 2 == 0 ? kSummed : kLine);
  const int tasks = 1 + static_cast<int>(random() % 9);
  event->left = tasks;
  const auto leave = [event, done = std::move(done)] {
    if (--event->left != 0) return;
    event->track.End();
    done();
  };
  for (int i = 0; i < tasks; ++i) {
    const char* const name = kNames[random() % 4];
    const std::int64_t ns = 1000 + random() % 50000;
    const bool nests = random() % 4 == 0, asks = random() % 3 == 0, is_marked = random() % 2 == 0;
    const Ready ready = is_marked ? MarkReady(event->track.handle(), name) : Ready();
    pool->Push([=] {
      auto request = std::make_shared<TrackRequest>();
      {
        TrackTask task(event->track.handle(), name, ready);
        SpinCpu(ns);
        *burnt_ns += ns;
        if (nests) {
          TrackTask inner(CurrentHandle(), "inner");
          SpinCpu(ns / 2);
          *burnt_ns += ns / 2;
        }
        if (asks) *request = TrackRequest(event->track.handle(), "server", "ask");
      }
      if (!asks) return leave();
      pool->Push([request, leave] {
        request->End();
        leave();
      });
    });
  }
}

TEST(TrackTask, RandomTasksAddUpExactly) {
  constexpr int kEvents = 200;
  constexpr int kThreads = 4;
  const SharedValue<std::int64_t> burnt;
  const RecordLog log = Recorded([&] {
    std::atomic<std::int64_t> burnt_ns{0};
    std::atomic<int> left{kEvents};
    {
      Pool pool(kThreads);
      for (unsigned i = 0; i < kEvents; ++i) {
        pool.Push([&pool, &burnt_ns, &left, i] { RunRandomEvent(&pool, i, &burnt_ns, [&left] { --left; }); });
      }
      while (left != 0) Sleep(kMs);
    }
    *burnt = burnt_ns;
  });
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_EQ(sums.Event("raw", "count"), kEvents);
  EXPECT_EQ(sums.Event("raw", "not_divided"), 0);
  EXPECT_EQ(sums.Event("raw", "work_ns"), sums.OfTasks("own_ns"));
  EXPECT_GE(sums.OfTasks("cpu_ns"), *burnt);
  EXPECT_EQ(log.chunks.size() + static_cast<std::size_t>(SummedChunks(log)), static_cast<std::size_t>(kEvents));
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(TrackTask, InTraceModeEveryEventKeepsItsTasks) {
  constexpr unsigned kEvents = 40;
  const RecordLog log = Recorded(
      [] {
        std::atomic<std::int64_t> burnt_ns{0};
        std::atomic<unsigned> left{kEvents};
        Pool pool(3);
        for (unsigned i = 0; i < kEvents; ++i) RunRandomEvent(&pool, i, &burnt_ns, [&left] { --left; });
        while (left != 0) Sleep(kMs);
      },
      {{"CREMA_TRACE", "1"}});
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  std::map<std::string, std::int64_t> counts;
  std::int64_t active_ns = 0, queued_ns = 0;
  unsigned events = 0;
  for (const std::string& text : log.lines) {
    const Json line = Json::parse(text);
    if (line["type"] != "chunk") continue;
    ++events;
    EXPECT_EQ(line["trace_dropped"], 0);
    const std::int64_t latency_ns = line["stop_ns"].get<std::int64_t>() - line["start_ns"].get<std::int64_t>();
    // What of the latency a task covers, nanosecond by nanosecond of the borders.
    std::map<std::int64_t, std::pair<int, int>> changes = {{latency_ns, {0, 0}}};
    for (const Json& task : line["tasks"]) {
      const bool is_request = task.contains("operation");
      ++counts[task["name"].get<std::string>()];
      const std::int64_t start_ns = task["start_ns"], stop_ns = start_ns + task["duration_ns"].get<std::int64_t>();
      EXPECT_LE(stop_ns, latency_ns);
      EXPECT_LT(task.value("by", 0), static_cast<int>(line["tasks"].size()));
      EXPECT_EQ(task.contains("tid"), !is_request);
      if (is_request) continue;
      const std::int64_t ready_ns = task.value("ready_ns", start_ns);
      EXPECT_LE(ready_ns, start_ns);
      ++changes[start_ns].first, --changes[stop_ns].first;
      ++changes[ready_ns].second, --changes[start_ns].second;
    }
    int running = 0, ready = 0;
    for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
      running += at->second.first, ready += at->second.second;
      const std::int64_t length_ns = std::next(at)->first - at->first;
      if (running > 0) active_ns += length_ns;
      if (running == 0 && ready > 0) queued_ns += length_ns;
    }
  }
  EXPECT_EQ(events, kEvents) << "those that are summed otherwise, too";
  EXPECT_EQ(sums.Event("raw", "active_ns"), active_ns);
  EXPECT_EQ(sums.Event("raw", "queued_ns"), queued_ns);
  for (const auto& [name, row] : sums.modules) EXPECT_EQ(counts[name], row["count"]) << name;
}

TEST(TrackTask, TasksAndTheTimeBetweenThemAreTheThread) {
  const SharedValue<std::int64_t> cpu_ns, wall_ns;
  const RecordLog log = Recorded([&] {
    TrackEvent event("raw", kSummed);
    OnAnotherThread([&] {
      { TrackTask first(event.handle(), "first"); }
      const std::int64_t start_ns = ThreadCpuNs(), begun_ns = WallNs();
      for (int i = 0; i < 100; ++i) {
        TrackTask task(event.handle(), "task");
        SpinCpu(50000);
      }
      SpinCpu(5 * kMs);
      *wall_ns = WallNs() - begun_ns;
      *cpu_ns = ThreadCpuNs() - start_ns;
    });
  });
  const TaskSums sums = SumsOf(log);
  EXPECT_GE(sums.OfThreads("between_cpu_ns"), 5 * kMs);
  EXPECT_GE(sums.OfThreads("task_cpu_ns") + sums.OfThreads("between_cpu_ns"), *cpu_ns - kMs / 10);
  EXPECT_GE(sums.OfThreads("task_ns") + sums.OfThreads("between_ns"), *wall_ns);
}

/// Fault [guards]: a task is open when its event ends, or begins after that
/// Program: one warning
/// Recorded: both; the task's time stays in its module's and its thread's row; counted in `end.misused`
TEST(TaskFaults, ATaskThatOutlivesItsEventKeepsItsTime) {
  const RecordLog log = RecordedAnyhow([] {
    TrackEvent event("raw", kSummed);
    {
      TrackTask task(event.handle(), "late");
      event.End();
      SpinCpu(5 * kMs);
      TrackEvent next("next", kSummed);
      TrackTask other(next.handle(), "other");
    }
    TrackTask after(EventHandle(), "after");
  });
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_EQ(log.end->misused, 1);
  EXPECT_GE(sums.Module("late", "own_ns"), 5 * kMs);
  EXPECT_EQ(sums.Event("next", "count"), 1);
}

TEST(TaskFaults, EventsEndWhileTasksOfThemBeginOnOtherThreads) {
  constexpr int kEvents = 300;
  const RecordLog log = RecordedAnyhow([] {
    std::mutex mutex;
    EventHandle current;
    std::atomic<bool> stops{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (!stops) {
          EventHandle handle;
          {
            const std::lock_guard<std::mutex> lock(mutex);
            handle = current;
          }
          TrackTask task(handle, "task", MarkReady(handle, "task"));
          TrackTask part(CurrentHandle(), "task/part");
          const TrackRequest request(handle, "server", "ask");
        }
      });
    }
    for (int i = 0; i < kEvents; ++i) {
      TrackEvent event("raw", i % 2 == 0 ? kSummed : kLine);
      {
        const std::lock_guard<std::mutex> lock(mutex);
        current = event.handle();
      }
      SpinWall(50000);
    }
    stops = true;
    for (std::thread& thread : threads) thread.join();
  });
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_EQ(sums.Event("raw", "count"), kEvents);
  EXPECT_EQ(sums.Module("task", "count"), sums.Module("task/part", "count"));
}

TEST(TaskFaults, ATaskAfterItsEventIsOfNone) {
  const RecordLog log = RecordedAnyhow([] {
    TrackEvent event("raw", kSummed);
    const EventHandle handle = event.handle();
    event.End();
    event.End();
    TrackEvent next("next", kSummed);
    TrackTask task(handle, "late");
    TrackRequest request(handle, "server", "ask");
  });
  const TaskSums sums = SumsOf(log);
  EXPECT_EQ(log.end->misused, 2);
  EXPECT_EQ(sums.Module("late", "count"), 1);
  EXPECT_EQ(sums.Event("next", "tasks"), 0);
}

/// Fault [guards]: a task ended on another thread
/// Program: one warning
/// Recorded: the task, until its own thread goes on; counted in `end.misused`
TEST(TaskFaults, ATaskThatEndsOnAnotherThreadEndsWithTheNextOne) {
  const RecordLog log = RecordedAnyhow([] {
    TrackEvent event("raw", kSummed);
    auto task = std::make_unique<TrackTask>(event.handle(), "wanders");
    OnAnotherThread([&] { task.reset(); });
    { TrackTask next(event.handle(), "next"); }
  });
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_EQ(log.end->misused, 1);
  EXPECT_EQ(sums.Module("wanders", "count"), 1);
}

TEST(TaskFaults, ATaskThatEndsBeforeOneInsideItEndsBoth) {
  const RecordLog log = RecordedAnyhow([] {
    TrackEvent event("raw", kSummed);
    auto outer = std::make_unique<TrackTask>(event.handle(), "outer");
    auto inner = std::make_unique<TrackTask>(event.handle(), "inner");
    outer.reset();
    inner.reset();
  });
  ExpectExactSums(SumsOf(log));
  EXPECT_EQ(log.end->misused, 1);
}

/// Fault [guards]: a thread ends inside a task
/// Program: one warning
/// Recorded: the task until then; counted in `end.misused`
TEST(TaskFaults, AThreadThatEndsInsideATaskEndsIt) {
  const RecordLog log = RecordedAnyhow([&] {
    TrackEvent event("raw", kSummed);
    TrackTask* task = nullptr;
    OnAnotherThread([&] { task = new TrackTask(event.handle(), "left open"); });
    delete task;
  });
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_EQ(log.end->misused, 1);
  EXPECT_EQ(sums.Module("left open", "count"), 1);
}

/// Fault [guards]: `fork` inside a task
/// Program: nothing
/// Recorded: the parent's event and task; nothing of them in the child
TEST(TaskFaults, AForkInsideATaskLeavesTheParentsAlone) {
  const RecordLog log = RecordedAnyhow([] {
    TrackEvent event("raw", kSummed);
    TrackTask task(event.handle(), "forks");
    const pid_t child = fork();
    if (child == 0) {
      unsetenv("CREMA_DIR");
      { TrackTask inner(event.handle(), "child"); }
      event.End();
      _exit(0);  // its own log has no sums then
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
  const TaskSums sums = SumsOf(log);
  EXPECT_EQ(sums.Event("raw", "count"), 1);
  EXPECT_EQ(sums.Module("forks", "count"), 1);
  EXPECT_EQ(sums.Module("child", "count"), -1);
}

/// Fault [guards]: events are open at exit
/// Program: nothing
/// Recorded: their `begin` lines, if they have lines; `end.open` and `task_sums` count them
TEST(TaskFaults, EventsThatAreOpenAtExitAreOpen) {
  ChildResult child;
  const RecordLog log = RecordedAnyhow(
      [] {
        static auto* open = new TrackEvent({"raw", "f.root", 0, 1});  // never destroyed
        static auto* summed = new TrackEvent("raw", kSummed);
        EXPECT_NE(open, nullptr);
        static TrackTask task(summed->handle(), "at exit");
      },
      &child);
  EXPECT_EQ(child.exit_status, 0);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->open, 1);
  EXPECT_EQ(log.begins.size(), 1u);
  EXPECT_TRUE(log.chunks.empty());
}

TEST(TaskFaults, AKilledProcessLeavesWhatBegan) {
  ChildResult child;
  const RecordLog log = RecordedAnyhow(
      [] {
        TrackEvent event({"raw", "f.root", 0, 1});
        TrackTask task(event.handle(), "killed");
        kill(getpid(), SIGKILL);
      },
      &child);
  EXPECT_EQ(child.signal, SIGKILL);
  EXPECT_EQ(log.begins.size(), 1u);
  EXPECT_FALSE(log.end.has_value());
}

TEST(TaskFaults, AnEventBegunAgainInItsPlaceEndsTheOneBefore) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent event("raw", kSummed);
    event = TrackEvent("raw", kSummed);
  }));
  EXPECT_EQ(sums.Event("raw", "count"), 2);
}

TEST(TaskFaults, AnExceptionMakesTheTaskFailedNotTheEvent) {
  const TaskSums sums = SumsOf(Recorded([] {
    TrackEvent event("raw", kSummed), failed("failed", kSummed);
    try {
      TrackTask task(event.handle(), "throws");
      throw 1;
    } catch (int) {
    }
    failed.Fail("no calibration");
  }));
  EXPECT_EQ(sums.Module("throws", "failed"), 1);
  EXPECT_EQ(sums.Event("raw", "failed"), 0);
  EXPECT_EQ(sums.Event("failed", "failed"), 1);
}

TEST(TaskFaults, WhatAThreadLeftOpenWhileSwitchedOffIsNotTheNextThreads) {
  const TaskSums sums = SumsOf(RecordedAnyhow([] {
    TrackEvent event("raw", kSummed);
    std::unique_ptr<TrackTask> left;
    std::thread([&] {
      left = std::make_unique<TrackTask>(event.handle(), "left");
      Disable();
    }).join();
    Options options;
    options.directory = getenv("CREMA_DIR");
    Enable(options);
    std::thread([&] {
      { TrackTask task(event.handle(), "first"); }
      SpinWall(20 * kMs);
      TrackTask task(event.handle(), "last");
    }).join();
    left.reset();
    event.End();
  }));
  EXPECT_EQ(sums.Module("left", "count"), -1);
  EXPECT_EQ(sums.Module("left", "own_ns"), -1);
  EXPECT_EQ(sums.Module("last", "count"), 1);
  EXPECT_GE(sums.OfThreads("between_ns"), 20 * kMs);
  ExpectExactSums(sums);
}

TEST(TaskFaults, WhatIsSwitchedOffIsNotMeasured) {
  const RecordLog log = RecordedAnyhow([] {
    TrackEvent event("raw", kSummed), other("other", kSummed);
    {
      TrackTask task(event.handle(), "before");
      Disable();
    }
    event.End();
    Options options;
    options.directory = getenv("CREMA_DIR");
    Enable(options);
    { TrackTask task(other.handle(), "after"); }
    other.End();
  });
  const TaskSums sums = SumsOf(log);
  ExpectExactSums(sums);
  EXPECT_EQ(sums.Module("before", "count"), -1);
  EXPECT_EQ(sums.Module("after", "count"), 1);
  EXPECT_EQ(sums.Event("raw", "count"), -1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
