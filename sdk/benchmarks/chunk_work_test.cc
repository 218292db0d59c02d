#include "sdk/benchmarks/chunk_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/benchmarks/allocation_count.h"
#include "sdk/benchmarks/system_call_trace.h"

namespace crema_benchmarks {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kWarmUp = 20;  // names become known, buffers grow, and the cost of the first chunks is measured

std::string NewDirectory(const std::string& name) { return std::string(getenv("TEST_TMPDIR")) + "/" + name; }

void RecordInto(const std::string& directory) {
  crema::Options options;
  options.directory = directory;
  options.interval_seconds = 0;
  ASSERT_TRUE(crema::Enable(options));
}

std::vector<std::string> Texts(const SystemCallTrace& trace) {
  std::vector<std::string> texts;
  for (const SystemCall& call : trace.calls) texts.push_back(ToText(call));
  return texts;
}

/// The lengths of lines depend on the digits of times, so they are compared separately.
std::vector<std::string> WithoutWriteSizes(std::vector<std::string> calls) {
  for (std::string& call : calls) {
    if (call.rfind("write(", 0) == 0) call = "write";
  }
  return calls;
}

/// The calls of a chunk in the steady state of a process that records into `directory`.
SystemCallTrace TraceOfRecord(const std::string& directory) {
  return TraceSystemCalls(
      [&directory] {
        RecordInto(directory);
        for (int i = 0; i < kWarmUp; ++i) RecordChunk(i);
      },
      [] { RecordChunk(kWarmUp); });
}

SystemCallTrace TraceOfBareCalls(LineSizes sizes) {
  std::unique_ptr<RawChunk> chunk;
  return TraceSystemCalls(
      [&chunk, sizes] { chunk = std::make_unique<RawChunk>(OpenRawLog(NewDirectory("bare_calls")), sizes); },
      [&chunk] { chunk->Run(); });
}

TEST(WholeChunk, AllocatesNothingInTheSteadyState) {
  RecordInto(NewDirectory("log"));
  for (int i = 0; i < kWarmUp; ++i) RecordChunk(i);
  const std::int64_t before = Allocations();
  for (int i = 0; i < 100; ++i) RecordChunk(kWarmUp + i);
  EXPECT_EQ(Allocations() - before, 0);
}

TEST(WholeChunk, AllocatesNothingOnALaterThreadThatTakesAnEndedOnesPlace) {
  RecordInto(NewDirectory("log"));
  std::thread([] { RecordChunk(0); }).join();
  std::int64_t allocations = -1;
  std::thread([&allocations] {
    RecordChunk(1);
    const std::int64_t before = Allocations();
    RecordChunk(2);
    allocations = Allocations() - before;
  }).join();
  EXPECT_EQ(allocations, 0);
}

/// A chunk with a section of each of these names.
void RecordNames(const std::vector<std::string>& names) {
  const crema::TrackMetrics chunk("many names");
  for (const std::string& name : names) const crema::TrackSection section(name);
}

std::string LastChunkLine(const std::string& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("{\"type\":\"chunk\"", 0) == 0) last = line;
  }
  return last;
}

TEST(WholeChunk, AllocatesNothingWhenNamesComeBackThatWereForgotten) {
  RecordInto(NewDirectory("log"));
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("section_" + std::to_string(i));
  RecordNames(names);
  for (int i = 0; i < 30; ++i) RecordChunk(i);  // long enough for the names to be forgotten
  const std::int64_t before = Allocations();
  RecordNames(names);
  EXPECT_EQ(Allocations() - before, 0);
  const std::string line = LastChunkLine(FindLog(NewDirectory("log")));
  for (const std::string& name : names) {
    EXPECT_NE(line.find("{\"path\":\"" + name + "\",\"count\":1,"), std::string::npos) << name;
  }
  EXPECT_EQ(line.find("\"path\":\"cluster"), std::string::npos) << line;
}

/// Each reading of the clocks once: a thread that is stopped between two of them repeats it, and a traced one is
/// stopped at each call.
std::vector<std::string> WithoutRepeatedReadings(const std::vector<std::string>& calls) {
  std::vector<std::string> once;
  for (const std::string& call : calls) {
    const std::size_t count = once.size();
    const bool is_third = count >= 2 && once[count - 1] == call && once[count - 2] == call;
    if (!is_third || call != "clock_gettime") once.push_back(call);
  }
  return once;
}

/// Without the calls at the begin of the chunk for the CPU time of children, of threads without guards and of the
/// sampler. A chunk that begins right after another one does not make them; while calls are traced, no chunk begins
/// right after another.
std::vector<std::string> WithoutFirstUnannounced(std::vector<std::string> calls) {
  const std::vector<std::string> readings = {"getrusage", "clock_gettime", "clock_gettime"};
  const auto first = std::search(calls.begin(), calls.end(), readings.begin(), readings.end());
  if (first != calls.end()) calls.erase(first, first + static_cast<std::ptrdiff_t>(readings.size()));
  return calls;
}

TEST(WholeChunk, MakesTheSystemCallsThatItIsComparedWith) {
  const std::string directory = NewDirectory("compared");
  const SystemCallTrace record = TraceOfRecord(directory);
  if (!record.complaint.empty()) GTEST_SKIP() << "system calls cannot be seen here: " << record.complaint;
  const LineSizes sizes = SizesOfLastChunk(FindLog(directory));
  const SystemCallTrace bare = TraceOfBareCalls(sizes);
  ASSERT_EQ(bare.complaint, "");
  EXPECT_EQ(WithoutFirstUnannounced(WithoutRepeatedReadings(WithoutWriteSizes(Texts(record)))),
            WithoutWriteSizes(Texts(bare)));
}

TEST(WholeChunk, WritesEachOfItsTwoLinesAtOnce) {
  const std::string directory = NewDirectory("written");
  const SystemCallTrace record = TraceOfRecord(directory);
  if (!record.complaint.empty()) GTEST_SKIP() << "system calls cannot be seen here: " << record.complaint;
  const LineSizes sizes = SizesOfLastChunk(FindLog(directory));
  std::vector<std::uint64_t> written;
  for (const SystemCall& call : record.calls) {
    if (ToText(call).rfind("write(", 0) == 0) written.push_back(call.bytes);
  }
  EXPECT_THAT(written, testing::ElementsAre(sizes.begin, sizes.chunk));
}

TEST(WholeChunk, OpensNoFileInTheSteadyState) {
  const SystemCallTrace record = TraceOfRecord(NewDirectory("opened"));
  if (!record.complaint.empty()) GTEST_SKIP() << "system calls cannot be seen here: " << record.complaint;
  EXPECT_THAT(record.calls, Not(IsEmpty()));
  for (const SystemCall& call : record.calls) EXPECT_NE(call.number, SYS_openat);
}

TEST(AllocationCount, SeesWhatOperatorNewTakes) {
  const std::int64_t before = Allocations();
  const auto value = std::make_unique<std::string>(1000, 'x');
  EXPECT_GE(Allocations() - before, 2);
}

}  // namespace
}  // namespace crema_benchmarks
