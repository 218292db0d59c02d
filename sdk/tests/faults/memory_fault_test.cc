// Memory is refused, from any allocation on.
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/c_api/crema_c.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/limited_heap.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

constexpr int kChunks = 2;
constexpr int kChunksOfBoth = 2 * kChunks;  ///< threads

/// Two chunks with everything that a chunk can hold, and records outside chunks. Allocates nothing itself.
void RecordEverything(const char* dataset) {
  Span phase("selection");
  for (int i = 0; i < kChunks; ++i) {
    TrackMetrics metrics({dataset, "/data/events.root", i, i + 1});
    metrics.SetEvents(100);
    metrics.AddColumn("Jet_pt");
    metrics.SetFileInfo(10, 1000, 100);
    metrics.SetAttribute("generator", "pythia");
    TrackSection section("read");
    TrackSection inner("decompress", kCpuTime);
    TrackMemory memory("jets");
    TrackActivity activity("read");
    RecordMetric("jets", 3, "count");
    RecordCut("pt", 50);
    RecordActivity("decompress", 0.5, "seconds");
    const ChunkHandle handle = metrics.handle();
    TrackHelper helper(handle);
    Span part("vertices");
  }
}

/// The same through the C API.
void RecordEverythingInC(const char* dataset) {
  crema_options options{};
  options.size = sizeof options;
  options.directory = std::getenv("CREMA_DIR");
  options.run_id = "a name that is longer than what a string of the standard library keeps in place";
  crema_enable(&options);
  crema_scope* phase = crema_span_begin("selection");
  for (int i = 0; i < kChunks; ++i) {
    const crema_chunk_info info{sizeof info, dataset, "/data/events.root", nullptr, nullptr, i, i + 1};
    crema_chunk* chunk = crema_chunk_begin(&info);
    crema_chunk_set_events(chunk, 100);
    crema_chunk_add_column(chunk, "Jet_pt");
    crema_chunk_set_file_info(chunk, 10, 1000, 100);
    crema_chunk_set_attribute(chunk, "generator", "pythia");
    const std::int32_t section = crema_section_open("read");
    crema_scope* inner = crema_cpu_section_begin("decompress");
    crema_scope* memory = crema_memory_begin("jets");
    crema_scope* activity = crema_activity_begin("read");
    crema_record_metric("jets", 3, "count");
    crema_record_cut("pt", 50);
    crema_record_activity("decompress", 0.5, "seconds");
    crema_scope* part = crema_span_begin("vertices");
    crema_scope_end(part);
    crema_scope_end(activity);
    crema_scope_end(memory);
    crema_scope_end(inner);
    crema_section_close(section);
    crema_chunk_end(chunk);
  }
  crema_scope_end(phase);
}

void RecordChunk(const char* dataset) {
  TrackMetrics metrics({dataset, "/data/events.root", 0, 1});
  TrackSection section("read");
}

using Record = void (*)(const char* dataset);

/// Runs two threads that have `bytes` of memory left when recording begins. Returns what they record.
FaultRun RunWithMemory(std::int64_t bytes, Record record, const Environment& environment) {
  return RunWithFault(
      NewDirectory(),
      [bytes, record] {
        std::atomic<bool> is_limited{false};
        std::thread other([&is_limited, record] {
          while (!is_limited) std::this_thread::yield();
          record("other");
        });
        LimitHeap(bytes);
        record("main");
        Flush();
        is_limited = true;
        other.join();
      },
      environment);
}

template <class Rows, class Name>
bool OnlyKnown(const Rows& rows, Name name, const std::vector<std::string>& known) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return std::find(known.begin(), known.end(), name(row)) != known.end(); });
}

/// Checks that everything in the log has the right names and values. If there was no memory for a name, its row is
/// missing.
void ExpectTrue(const ChunkLine& chunk) {
  EXPECT_TRUE(chunk.dataset == "main" || chunk.dataset == "other");
  EXPECT_EQ(chunk.file, "/data/events.root");
  EXPECT_EQ(chunk.events, 100);
  EXPECT_TRUE(chunk.span == std::nullopt || chunk.span == "selection") << *chunk.span;
  const auto path = [](const auto& row) { return row.path; };
  const auto name = [](const auto& row) { return row.name; };
  EXPECT_TRUE(OnlyKnown(chunk.sections, path, {"read", "read/decompress"}));
  EXPECT_TRUE(OnlyKnown(chunk.memory_sections, path, {"read/decompress/jets", "read/jets", "jets"}));
  EXPECT_TRUE(OnlyKnown(chunk.metrics, name, {"jets"}));
  EXPECT_TRUE(OnlyKnown(chunk.cuts, name, {"pt"}));
  EXPECT_TRUE(OnlyKnown(chunk.activities, [](const auto& row) { return row.label; }, {"read", "decompress"}));
  for (const auto& [attribute, value] : chunk.attributes) EXPECT_EQ(attribute + "=" + value, "generator=pythia");
  for (const std::string& column : chunk.columns.value_or(std::vector<std::string>())) EXPECT_EQ(column, "Jet_pt");
}

/// Whether everything that the program gave a chunk is in its record.
bool IsWhole(const ChunkLine& chunk) {
  return chunk.span.has_value() && chunk.sections.size() == 2 && chunk.memory_sections.size() == 1 &&
         chunk.metrics.size() == 1 && chunk.cuts.size() == 1 && chunk.activities.size() == 2 &&
         chunk.attributes.size() == 1 && chunk.columns.value_or(std::vector<std::string>()).size() == 1;
}

bool IsWhole(const RecordLog& log) {
  return log.chunks.size() == kChunksOfBoth && log.begins.size() == kChunksOfBoth &&
         log.spans.size() == kChunksOfBoth + 2 && !log.files.empty() &&
         std::all_of(log.chunks.begin(), log.chunks.end(), [](const ChunkLine& chunk) { return IsWhole(chunk); });
}

std::int64_t Dropped(const RecordLog& log) {
  std::int64_t dropped = log.end->dropped;
  for (const ChunkLine& chunk : log.chunks) dropped += chunk.sections_dropped;
  return dropped;
}

/// Checks that hold for every log, however much memory there was.
void ExpectTrue(const RecordLog& log) {
  EXPECT_TRUE(log.malformed.empty()) << log.malformed[0];
  ASSERT_TRUE(log.process.has_value());
  for (const ChunkLine& chunk : log.chunks) ExpectTrue(chunk);
  for (const SpanLine& span : log.spans) {
    EXPECT_TRUE(span.path == "selection" || span.path == "selection/vertices" || span.path == "vertices") << span.path;
  }
  for (const FileLine& file : log.files) EXPECT_EQ(file.file, "/data/events.root");
  ASSERT_TRUE(log.end.has_value());
  EXPECT_GE(log.end->dropped + static_cast<std::int64_t>(log.chunks.size()), kChunksOfBoth);
  EXPECT_TRUE(IsWhole(log) || Dropped(log) > 0);
}

/// Runs this many threads, which begin at the same time. Returns what they record.
RecordLog LogOfManyThreads(std::int64_t bytes) {
  const FaultRun run = RunWithFault(NewDirectory(), [bytes] {
    constexpr int kThreads = 16;
    RecordChunk("first");
    std::atomic<bool> is_limited{false};
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&is_limited] {
        while (!is_limited) std::this_thread::yield();
        RecordChunk("other");
      });
    }
    LimitHeap(bytes);
    is_limited = true;
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(run.warning, "");
  return run.logs.size() == 1 ? run.logs[0] : RecordLog();
}

/// Records into an empty directory with more and more memory, until it is enough.
void ExpectHarmlessWithAnyMemory(Record record, const Environment& environment = {}) {
  constexpr std::int64_t kStepBytes = 509;
  constexpr int kMostSteps = 4000;
  int unrecorded = 0;
  int complete = 0;
  for (int step = 0; step < kMostSteps && complete < 3 && !::testing::Test::HasFailure(); ++step) {
    SCOPED_TRACE(step * kStepBytes);
    const FaultRun run = RunWithMemory(step * kStepBytes, record, environment);
    if (run.logs.empty()) {
      EXPECT_NE(run.warning, "");
      ++unrecorded;
      continue;
    }
    EXPECT_EQ(run.warning, "");
    ExpectTrue(run.logs[0]);
    if (!::testing::Test::HasFailure() && Dropped(run.logs[0]) == 0) ++complete;
  }
  EXPECT_GT(unrecorded, 0);
  EXPECT_EQ(complete, 3);
}

/// Fault [kernel]: memory is refused from any allocation on, from the first of recording to the last
/// Program: nothing
/// Recorded: what memory was there for, with no row under a wrong name; the log's `end` says what is missing. Nothing,
/// with one warning, where there was none to begin with
TEST(MemoryFault, RefusedFromAnyAllocationOn) { ExpectHarmlessWithAnyMemory(RecordEverything); }

/// Fault [kernel]: the same with the sampler, and every occurrence of a section kept
/// Program: nothing
/// Recorded: the same
TEST(MemoryFault, RefusedFromAnyAllocationOnWithSampler) {
  ExpectHarmlessWithAnyMemory(RecordEverything, {{"CREMA_TRACE", "1"}, {"CREMA_INTERVAL", "0.01"}});
}

/// Fault [kernel]: the same in a program that uses the C API
/// Program: nothing
/// Recorded: the same
TEST(MemoryFault, RefusedToTheCApi) { ExpectHarmlessWithAnyMemory(RecordEverythingInC); }

TEST(MemoryFault, GuardsLeaveErrno) {
  const ChildResult child = RunInChild({{"CREMA_DIR", NewDirectory()}, {"CREMA_INTERVAL", "0"}}, [] {
    constexpr int kErrno = 4711;  // no call sets it
    static char long_name[200];
    std::fill(std::begin(long_name), std::end(long_name), 'n');
    const auto name = [](int i) {
      long_name[0] = static_cast<char>('a' + i % 26);
      long_name[1] = static_cast<char>('a' + i / 26);
      return std::string_view(long_name, sizeof long_name);
    };
    const auto expect = [](bool is_kept) {
      if (!is_kept || errno != kErrno) std::abort();
    };
    TrackMetrics metrics({"ttbar", "/data/events.root", 0, 1});
    LimitHeap(0);
    errno = kErrno;
    for (int i = 0; i < 300; ++i) {
      { TrackSection section(name(i), kCpuTime); }
      expect(true);
      RecordMetric(name(i), 1);
      expect(true);
      RecordCut(name(i), 1);
      expect(true);
      RecordActivity(name(i), 1, "seconds");
      { TrackActivity activity(name(i)); }
      expect(true);
      RecordRequest(name(i), "read", 1, 1);
      { TrackRequest request(name(i), "write"); }
      expect(true);
      metrics.SetAttribute(name(i), name(i));
      metrics.AddColumn(name(i));
      expect(true);
      RecordProcessMetric(name(i), 1);
      expect(true);
    }
    metrics.Fail(name(0));
    const Chunk lost(std::string_view(long_name, sizeof long_name));
    const Chunk copy = lost;  // NOLINT(performance-unnecessary-copy-initialization): the copy is tried
    Chunk assigned;
    assigned = lost;
    expect(lost.dataset.is_lost() && copy.dataset.is_lost() && assigned.dataset.is_lost());
    LimitHeap(INT64_MAX / 2);
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal << child.errors;
}

/// Fault [kernel]: memory is refused to 16 threads that begin to record at once
/// Program: nothing
/// Recorded: what memory was there for; the log's `end` says what is missing
TEST(MemoryFault, RefusedToManyThreadsAtOnce) {
  constexpr std::int64_t kStepBytes = 1021;
  constexpr int kSteps = 300;
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE(step * kStepBytes);
    const RecordLog log = LogOfManyThreads(step * kStepBytes);
    EXPECT_TRUE(log.malformed.empty());
    ASSERT_TRUE(log.end.has_value());
    EXPECT_EQ(ChunkOf(log, "first").status, "ok");
    EXPECT_TRUE(log.chunks.size() == 17 || log.end->dropped > 0);
    for (const ChunkLine& chunk : log.chunks) EXPECT_EQ(chunk.file, "/data/events.root");
  }
}

/// Fault [kernel]: memory is refused while sections outside chunks are kept, and when they are to be written
/// Program: nothing
/// Recorded: nothing of these sections; each occurrence is in `end.dropped`
TEST(MemoryFault, RefusedToSectionsOutsideChunks) {
  const RecordLog log = LogWithFault([] {
    for (int i = 0; i < 1000; ++i) TrackSection section("set up");
    LimitHeap(0);
  });
  ASSERT_TRUE(log.end.has_value());
  EXPECT_TRUE(log.end->sections.empty());
  EXPECT_EQ(log.end->dropped, 1000);
  EXPECT_GT(log.end->overhead_ns, 0);
}

/// Runs it on a thread with the smallest stack that the system allows.
void OnASmallStack(void* (*body)(void*)) {
  pthread_attr_t attributes;
  Require(pthread_attr_init(&attributes) == 0);
  Require(pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN)) == 0);
  pthread_t thread{};
  Require(pthread_create(&thread, &attributes, body, nullptr) == 0);
  Require(pthread_join(thread, nullptr) == 0);
}

/// Fault [kernel]: a thread with the smallest stack (16 kB) uses guards of all kinds, and begins the recording
/// Program: nothing
/// Recorded: everything
TEST(MemoryFault, ASmallStack) {
  for (const char* stacks : {"0", "100"}) {
    const RecordLog log = LogWithFault(
        [] {
          OnASmallStack([](void*) -> void* {
            const Span span("span");
            RecordChunk("small");
            TrackMetrics chunk({"all", "f", 0, 1});
            const TrackSection section("section", kCpuTime);
            const TrackMemory memory("memory");
            const TrackIo io("io");
            const TrackPageFaults faults("faults");
            const TrackPerfCounters counters("counters");
            const TrackRequest request("root://server", "read");
            const TrackActivity activity("activity");
            for (int i = 0; i < 5000; ++i) RecordMetric("spread", i * 7919 % 100003, "count");
            Flush();
            return nullptr;
          });
        },
        {{"CREMA_STACKS", stacks}, {"CREMA_TRACE", "1"}});
    ASSERT_TRUE(log.end.has_value());
    EXPECT_EQ(log.end->dropped, 0);
    EXPECT_EQ(ChunkOf(log, "small").status, "ok");
    EXPECT_EQ(Metric(ChunkOf(log, "all"), "spread", "count").count, 5000);
    EXPECT_EQ(log.samples.size(), 1u);
  }
}

using Body = void* (*)(void*);

/// Fault [kernel]: a thread with the smallest stack begins the recording with a guard of one kind, or ends the program
/// Program: nothing
/// Recorded: everything
TEST(MemoryFault, TheFirstGuardOnASmallStack) {
  const Body bodies[] = {
      [](void*) -> void* {
        return TrackMetrics({"first", "f", 0, 1}), nullptr;
      },
      [](void*) -> void* { return TrackSection("first"), nullptr; },
      [](void*) -> void* { return TrackSection("first", kCpuTime), nullptr; },
      [](void*) -> void* { return TrackMemory("first"), nullptr; },
      [](void*) -> void* { return TrackIo("first"), nullptr; },
      [](void*) -> void* { return TrackPageFaults("first"), nullptr; },
      [](void*) -> void* { return TrackPerfCounters("first"), nullptr; },
      [](void*) -> void* { return TrackActivity("first"), nullptr; },
      [](void*) -> void* { return Span("first"), nullptr; },
      [](void*) -> void* { return Enable(Options()), nullptr; },
      [](void*) -> void* { return Enabled(), nullptr; },
      [](void*) -> void* { return SetAttribute("first", "1"), nullptr; },
      [](void*) -> void* { std::exit((TrackSection("first"), 0)); },
  };
  for (const Body body : bodies) {
    static Body run;
    run = body;
    const RecordLog log = LogWithFault(
        [] {
          OnASmallStack(run);
          RecordChunk("second");
        },
        {{"CREMA_INTERVAL", "0.01"}, {"CREMA_SUMMARY", "0"}});
    EXPECT_TRUE(log.end.has_value());
  }
}

/// Fault [kernel]: threads get the smallest stack unless the program says otherwise, the sampler too
/// Program: nothing
/// Recorded: everything
TEST(MemoryFault, SmallStacksByDefault) {
  const RecordLog log = LogWithFault(
      [] {
        pthread_attr_t attributes;
        Require(pthread_attr_init(&attributes) == 0);
        Require(pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN)) == 0);
        Require(pthread_setattr_default_np(&attributes) == 0);
        for (int i = 0; i < 5; ++i) {
          RecordProcessMetric("process", i, "count");
          RecordChunk("sampled");
          usleep(20000);
        }
      },
      {{"CREMA_INTERVAL", "0.01"}, {"CREMA_STACKS", "100"}});
  ASSERT_TRUE(log.end.has_value());
  EXPECT_GE(log.samples.size(), 2u);
}

}  // namespace
}  // namespace testing
}  // namespace crema
