// Requests to storage: calls, bytes, time, the slowest and errors, by server and operation.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/task_sums.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMillisecond = 1000000;

RequestRow Request(const ChunkLine& chunk, const std::string& server, const std::string& operation) {
  for (const RequestRow& row : chunk.requests) {
    if (row.server == server && row.operation == operation) return row;
  }
  ADD_FAILURE() << "no request " << operation << " to " << server;
  return {};
}

TEST(TrackRequest, IsTimedFromItsBeginToItsEnd) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 3; ++i) {
      TrackRequest request("root://one", "readv", 100);
      SpinWall(kMillisecond * (i + 1));
      request.AddBytes(i);
    }
  });
  const RequestRow row = Request(chunk, "root://one", "readv");
  EXPECT_EQ(row.count, 3);
  EXPECT_EQ(row.bytes, 303);
  EXPECT_EQ(row.errors, 0);
  EXPECT_GE(row.total_ns, 6 * kMillisecond);
  EXPECT_GE(row.max_ns, 3 * kMillisecond);
  EXPECT_LE(row.total_ns, chunk.duration_ns() + CounterToleranceNs(chunk.duration_ns()));
  EXPECT_LE(row.max_ns, row.total_ns - 3 * kMillisecond);
}

TEST(RecordRequest, AddsWhatWasTimedElsewhere) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordRequest("root://one", "read", 10, 5);
    RecordRequest("root://one", "read", 20, 9, true);
    RecordRequest("root://one", "read", -1, 7);
    RecordRequest("root://two", "read", 1, 1);
    RecordRequest("root://one", "open", 0, 2);
  });
  ASSERT_EQ(chunk.requests.size(), 3u);
  const RequestRow row = Request(chunk, "root://one", "read");
  EXPECT_EQ(row.count, 3);
  EXPECT_EQ(row.bytes, 30);
  EXPECT_EQ(row.total_ns, 21);
  EXPECT_EQ(row.max_ns, 9);
  EXPECT_EQ(row.errors, 1);
  EXPECT_EQ(Request(chunk, "root://two", "read").bytes, 1);
  EXPECT_EQ(Request(chunk, "root://one", "open").total_ns, 2);
}

TEST(TrackRequest, ThatFailedIsAnError) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    { TrackRequest("root://one", "open").Fail(); }
    try {
      TrackRequest request("root://one", "open");
      throw std::runtime_error("no such file");
    } catch (const std::runtime_error&) {
    }
    TrackRequest fine("root://one", "open");
  });
  EXPECT_EQ(Request(chunk, "root://one", "open").count, 3);
  EXPECT_EQ(Request(chunk, "root://one", "open").errors, 2);
}

TEST(TrackRequest, OfAHelperIsItsChunks) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordRequest("root://one", "read", 1, 1);
    std::thread([handle = metrics.handle()] {
      TrackHelper helper(handle);
      RecordRequest("root://one", "read", 2, 5);
    }).join();
  });
  const RequestRow row = Request(chunk, "root://one", "read");
  EXPECT_EQ(row.count, 2);
  EXPECT_EQ(row.bytes, 3);
  EXPECT_EQ(row.max_ns, 5);
}

TEST(TrackRequest, OutsideAChunkOrOfANegativeTimeIsCountedAsDropped) {
  const RecordLog log = Recorded([] {
    RecordRequest("root://one", "read", 1, 1);
    { TrackRequest early("root://one", "read"); }
    TrackMetrics metrics("ttbar");
    RecordRequest("root://one", "read", 1, -1);
  });
  EXPECT_TRUE(log.chunks.at(0).requests.empty());
  EXPECT_EQ(log.end->dropped, 3);
}

TEST(TrackRequest, NamesAServerWithoutWhoAsks) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordRequest("root://me:pass@word@one:1094", "read", 1, 5);
    { TrackRequest request("root://token@one:1094", "read", 2); }
    RecordRequest("https://one/data@home?authz=Bearer%20abc#d", "read", 1, 1);
    RecordRequest("me:password@one", "read", 1, 1);
    RecordRequest("/mnt/me@home/what?", "read", 1, 1);
    RecordRequest("root://" + std::string(300, 'p') + "@two", "read", 1, 1);
  });
  EXPECT_EQ(Request(chunk, "root://one:1094", "read").count, 2);
  Request(chunk, "https://one/data@home", "read");
  Request(chunk, "one", "read");
  Request(chunk, "/mnt/me@home/what?", "read");
  Request(chunk, "root://two", "read");
  EXPECT_EQ(chunk.requests.size(), 5u);
}

TEST(TrackRequest, OfAnEventNamesAServerWithoutWhoAsks) {
  const auto record = [](const char* trace) {
    return Recorded(
        [] {
          TrackEvent event({"raw", "f", 0, 1});
          for (int i = 0; i < 5000; ++i) {
            TrackRequest request(event.handle(), "root://me:hunter2@one//f?authz=hunter2" + std::to_string(i), "read");
          }
          { TrackTask task(event.handle(), std::string(255, 't') + "ü"); }
          TrackRequest cut(event.handle(), "root://me:hunter2@" + std::string(248, 's') + "ü", "read");
        },
        {{"CREMA_TRACE", trace}});
  };
  for (const char* const trace : {"0", "1"}) {
    const RecordLog log = record(trace);
    for (const std::string& line : log.lines) EXPECT_EQ(line.find("hunter2"), line.npos) << line;
    const auto modules = SumsOf(log).modules;
    ASSERT_TRUE(modules.count("root://one//f"));
    EXPECT_EQ(modules.at("root://one//f").at("count"), 5000);
    EXPECT_TRUE(modules.count(std::string(255, 't')));
    EXPECT_TRUE(modules.count("root://" + std::string(248, 's')));
    EXPECT_EQ(modules.size(), 3u);
  }
}

TEST(TrackRequest, LeavesNoTraceInChunksWithoutOne) {
  const RecordLog log = Recorded([] {
    {
      TrackMetrics metrics("first");
      RecordRequest("root://one", "read", 1, 1);
    }
    TrackMetrics metrics("second");
  });
  for (const std::string& line : log.lines) {
    if (line.find("\"second\"") == std::string::npos) continue;
    EXPECT_EQ(line.find("requests"), std::string::npos);
  }
  EXPECT_TRUE(log.chunks.at(1).requests.empty());
}

}  // namespace
}  // namespace testing
}  // namespace crema
