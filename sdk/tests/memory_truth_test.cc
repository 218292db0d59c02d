// Touched pages: an RSS delta equals the touched memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/fresh_pages.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

constexpr std::size_t kPages = 16384;

/// How far two readings of `statm` may be from the truth: the kernel counts pages per CPU, and adds them to what is
/// shown in batches of max(32, 2 x CPUs) (lib/percpu_counter.c), or per thread, of 64 before Linux 6.2 (SPLIT_RSS).
/// There are three counters (anonymous, file, shared memory).
std::int64_t RssToleranceBytes() {
  const std::int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const std::int64_t pages =
      std::max<std::int64_t>(3 * cpus * std::max<std::int64_t>(32, 2 * cpus), std::int64_t{3} * 64);
  return 2 * pages * sysconf(_SC_PAGESIZE);
}

/// `Rss:` of `/proc/self/smaps_rollup`, in bytes: counted page by page, so exact; -1 where the kernel has no such file.
std::int64_t CountedRssBytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (line.compare(0, 4, "Rss:") == 0) return std::strtoll(line.c_str() + 4, nullptr, 10) * 1024;
  }
  return -1;
}

TEST(MemoryTruth, ADeltaIsWhatWasTouched) {
  const SharedValue<std::int64_t> counted_bytes;
  const ChunkLine chunk = RecordedChunk([&] {
    FreshPages pages(kPages);
    TrackMetrics metrics("ttbar");
    const std::int64_t before = CountedRssBytes();
    {
      TrackMemory memory("touch");
      pages.Touch();
    }
    *counted_bytes = before < 0 ? -1 : CountedRssBytes() - before;
  });
  const std::int64_t touched_bytes = static_cast<std::int64_t>(kPages) * sysconf(_SC_PAGESIZE);
  const MemoryRow touch = Memory(chunk, "touch");
  EXPECT_NEAR(static_cast<double>(touch.delta_bytes), static_cast<double>(touched_bytes),
              static_cast<double>(RssToleranceBytes()));
  if (*counted_bytes >= 0) {
    EXPECT_NEAR(static_cast<double>(touch.delta_bytes), static_cast<double>(*counted_bytes),
                static_cast<double>(RssToleranceBytes()));
  }
  EXPECT_NEAR(static_cast<double>(*chunk.rss_stop_bytes - *chunk.rss_start_bytes), static_cast<double>(touched_bytes),
              static_cast<double>(RssToleranceBytes()));
}

TEST(MemoryTruth, MemoryThatWasGivenBackShowsInThePeakOnly) {
  const ChunkLine chunk = RecordedChunk([] {
    FreshPages pages(kPages);
    TrackMetrics metrics("ttbar");
    {
      TrackMemory memory("touch");
      pages.Touch();
    }
    pages.GiveBack();
  });
  const std::int64_t touched_bytes = static_cast<std::int64_t>(kPages) * sysconf(_SC_PAGESIZE);
  EXPECT_NEAR(static_cast<double>(*chunk.rss_stop_bytes), static_cast<double>(*chunk.rss_start_bytes),
              static_cast<double>(RssToleranceBytes()));
  EXPECT_GE(chunk.rss_peak_bytes, *chunk.rss_start_bytes + touched_bytes - RssToleranceBytes());
}

TEST(MemoryTruth, AReadingIsTheResidentSet) {
  const SharedValue<std::int64_t> counted_bytes;
  const ChunkLine chunk = RecordedChunk([&] {
    FreshPages pages(kPages);
    pages.Touch();
    *counted_bytes = CountedRssBytes();
    TrackMetrics metrics("ttbar");
  });
  if (*counted_bytes < 0) GTEST_SKIP() << "the kernel has no smaps_rollup";
  // Starting to record takes some memory of its own.
  EXPECT_GE(chunk.rss_start_bytes, *counted_bytes - RssToleranceBytes());
  EXPECT_LE(chunk.rss_start_bytes, *counted_bytes + RssToleranceBytes() + (1 << 20));
}

}  // namespace
}  // namespace testing
}  // namespace crema
