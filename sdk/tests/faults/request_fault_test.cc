// Requests to storage that end in the wrong place, and too many servers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/misused_guards.h"

namespace crema {
namespace testing {
namespace {

/// The log of a program that misuses one guard: with crema's one warning.
RecordLog LogWithOneMisuse(const std::function<void()>& program) {
  const FaultRun run = RunWithFault(NewDirectory(), program);
  EXPECT_NE(run.warning, "");
  EXPECT_EQ(run.logs.size(), 1u);
  if (run.logs.size() != 1) return {};
  EXPECT_TRUE(run.logs[0].malformed.empty());
  EXPECT_EQ(run.logs[0].end->dropped, 1);
  EXPECT_EQ(run.logs[0].end->misused, 1);
  return run.logs[0];
}

/// Fault [guards]: a request to storage that outlives its chunk
/// Program: one warning
/// Recorded: not the request, in this chunk or the next; counted in `end.dropped`
TEST(RequestFault, ThatOutlivesItsChunkIsNotRecordedInTheNext) {
  const RecordLog log = LogWithOneMisuse([] {
    std::unique_ptr<TrackRequest> late;
    {
      TrackMetrics metrics("first");
      late = std::make_unique<TrackRequest>("root://one", "read", 1);
    }
    TrackMetrics metrics("second");  // has the place of the first
    RecordRequest("root://two", "read", 1, 1);
    late.reset();
  });
  ASSERT_EQ(log.chunks.size(), 2u);
  EXPECT_TRUE(log.chunks[0].requests.empty());
  ASSERT_EQ(log.chunks[1].requests.size(), 1u);
  EXPECT_EQ(log.chunks[1].requests[0].server, "root://two");
  EXPECT_EQ(log.chunks[1].requests[0].count, 1);
}

/// Fault [guards]: a request to storage ended on another thread
/// Program: one warning
/// Recorded: not the request; counted in `end.dropped`
TEST(RequestFault, ThatEndsOnAnotherThreadIsNotRecorded) {
  const RecordLog log = LogWithOneMisuse([] {
    TrackMetrics metrics("ttbar");
    EndOnAnotherThread(std::make_unique<TrackRequest>("root://one", "read", 1));
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_TRUE(log.chunks[0].requests.empty());
}

/// Fault [names]: requests to 100,000 servers in a chunk
/// Program: nothing
/// Recorded: 64 servers, the rest as `(other)`; calls, bytes and times are those of all
TEST(RequestFault, OfAHundredThousandServersAreInABoundedNumberOfRowsAndAllCounted) {
  const RecordLog log = LogWithFault([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 100000; ++i) RecordRequest("root://" + std::to_string(i), "read", 2, 3);
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  const std::vector<RequestRow>& rows = log.chunks[0].requests;
  ASSERT_EQ(rows.size(), 65u);
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t total_ns = 0;
  for (const RequestRow& row : rows) {
    count += row.count;
    bytes += row.bytes;
    total_ns += row.total_ns;
  }
  EXPECT_EQ(count, 100000);
  EXPECT_EQ(bytes, 200000);
  EXPECT_EQ(total_ns, 300000);
  EXPECT_EQ(rows.back().server, "(other)");
  EXPECT_EQ(rows.back().count, 100000 - 64);
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [processes]: `fork` inside a request to storage, which both sides end
/// Program: nothing
/// Recorded: one request, by the parent
TEST(RequestFault, ForkInsideARequest) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    pid_t pid = 0;
    {
      TrackMetrics metrics("parent");
      TrackRequest request("root://one", "read", 7);
      pid = fork();
    }
    if (pid == 0) {
      RecordChunks(1, "child");
      exit(0);
    }
    int status = 0;
    Require(waitpid(pid, &status, 0) == pid && status == 0);
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 2u);
  std::int64_t requests = 0;
  for (const RecordLog& log : run.logs) {
    EXPECT_TRUE(log.malformed.empty());
    for (const ChunkLine& chunk : log.chunks) {
      EXPECT_EQ(chunk.requests.empty(), chunk.dataset != "parent");
      for (const RequestRow& row : chunk.requests) requests += row.count;
    }
  }
  EXPECT_EQ(requests, 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
