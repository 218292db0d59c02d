// Faked writes that fail or fall short: crema counts what it could not write, and every line in the log is whole.
#include <errno.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/faked_kernel.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

class WrittenLineFullDisk : public ::testing::TestWithParam<int> {};

/// Fault [disk]: the disk is full for a while in mid-run, or a quota is reached
/// Program: nothing
/// Recorded: everything; from then on in sums
TEST_P(WrittenLineFullDisk, FromThenOnChunksAreSummed) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(3);
    Kernel().write_error = GetParam();
    RecordChunks(5, "lost");
    Kernel().write_error = 0;
    RecordChunks(2);
  });
  EXPECT_EQ(log.chunks.size(), 3u);
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_EQ(log.end->chunks, 10);
  EXPECT_EQ(log.end->summed_chunks, 7);
  EXPECT_EQ(SummedChunks(log), 7);
  EXPECT_EQ(log.sums.at(0).reason, "disk_full");
  EXPECT_EQ(log.end->dropped, 0);
}

INSTANTIATE_TEST_SUITE_P(ByError, WrittenLineFullDisk, ::testing::Values(ENOSPC, EDQUOT));

/// Fault [disk]: the disk is full when recording begins, until there is room
/// Program: nothing
/// Recorded: from then on, with the first line of the log first; chunks before in sums
TEST(WrittenLineFault, OnAFullDiskAtTheBeginChunksAreSummed) {
  const RecordLog log = LogWithFault([] {
    Kernel().write_error = ENOSPC;
    RecordChunks(3, "lost");
    Kernel().write_error = 0;
    RecordChunks(2);
  });
  ASSERT_FALSE(log.lines.empty());
  EXPECT_EQ(log.lines[0].substr(0, 17), R"({"type":"process")");
  EXPECT_EQ(log.chunks.size(), 2u);
  EXPECT_EQ(log.end->chunks, 5);
  EXPECT_EQ(SummedChunks(log), 3);
  if (!RunsWithOptions()) {  // else the first line of allocations is dropped
    EXPECT_EQ(log.end->dropped, 0);
  }
}

/// Fault [disk]: a disk that gives input/output errors
/// Program: nothing
/// Recorded: everything; chunks of that time in sums
TEST(WrittenLineFault, OnABrokenDiskChunksAreSummed) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1);
    Kernel().write_error = EIO;
    RecordChunks(1, "lost");
    Kernel().write_error = 0;
  });
  EXPECT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(SummedChunks(log), 1);
  EXPECT_EQ(log.sums.at(0).reason, "write_error");
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [disk]: other lines than those of chunks cannot be written, and values come where no chunk is open
/// Program: nothing
/// Recorded: the rest; each loss in `end.dropped`, those of the disk in `end.unwritten`, the others in
/// `end.outside_chunks`
TEST(WrittenLineFault, LossesAreToldByTheirCause) {
  const RecordLog log = LogWithFault([] {
    {
      TrackMetrics metrics({"ttbar", "/data/events.root", 0, 1});
      Kernel().write_error = EIO;
      metrics.SetFileInfo(3, 400, 100);
      Kernel().write_error = 0;
    }
    RecordMetric("jets", 1);
    RecordCut("all", 1);
    RecordActivity("wait", 1);
    RecordRequest("root://s", "read", 1, 1);
    const TrackMemory memory("load");
  });
  EXPECT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.end->dropped, 6);
  EXPECT_EQ(log.end->unwritten, 1);
  EXPECT_EQ(log.end->outside_chunks, 5);
  EXPECT_EQ(log.end->misused, 0);
}

/// Fault [disk]: writes that take all of a line but its newline
/// Program: nothing
/// Recorded: everything, and nothing twice: the next line begins on a new one
TEST(WrittenLineFault, ALineWithoutItsNewlineIsNotSummedToo) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1);
    Kernel().unended_writes_of = 5;
    RecordChunks(300);
    Kernel().unended_writes_of = 0;
  });
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_EQ(SummedChunks(log) + static_cast<std::int64_t>(log.chunks.size()), 301);
  EXPECT_EQ(log.end->chunks, 301);
}

/// Fault [disk]: short writes
/// Program: nothing
/// Recorded: everything; chunks whose line was torn in sums. The next line begins on a new one
TEST(WrittenLineFault, AShortWriteCostsOneLine) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1);
    Kernel().short_writes_of = 7;
    RecordChunks(700);
    Kernel().short_writes_of = 0;
  });
  EXPECT_GE(log.malformed.size(), 200u);  // a line of sums may be torn too
  EXPECT_LE(log.malformed.size(), 202u);
  EXPECT_GT(SummedChunks(log), 50);
  EXPECT_EQ(SummedChunks(log) + static_cast<std::int64_t>(log.chunks.size()), 701);
  EXPECT_EQ(log.end->dropped, 0);
  EXPECT_EQ(log.end->chunks, 701);
}

/// Fault [disk]: short writes while several threads write
/// Program: nothing
/// Recorded: all lines but those torn, or begun behind a torn one, and sums; every line that is whole is true
TEST(WrittenLineFault, ShortWritesOfSeveralThreadsLeaveNoFalseLine) {
  const RecordLog log = LogWithFault([] {
    { TrackSection section("opens the log"); }
    Kernel().short_writes_of = 11;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([] { RecordChunks(200); });
    for (std::thread& thread : threads) thread.join();
    Kernel().short_writes_of = 0;
  });
  EXPECT_GT(log.end->summed_chunks, 50);
  EXPECT_EQ(log.end->chunks, 800);
  EXPECT_GE(log.chunks.size(), 400u);
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_EQ(chunk.dataset, "ttbar");
    EXPECT_EQ(Section(chunk.sections, "read").count, 1);
  }
}

/// Fault [disk]: writes interrupted by signals
/// Program: nothing
/// Recorded: everything
TEST(WrittenLineFault, AnInterruptedWriteIsTriedAgain) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1);
    Kernel().interrupted_writes_of = 3;
    RecordChunks(50);
  });
  EXPECT_EQ(log.chunks.size(), 51u);
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_EQ(log.end->dropped, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
