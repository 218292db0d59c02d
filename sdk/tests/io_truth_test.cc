// Cold reads: the bytes that storage fetched for a chunk are those that the kernel counted for its thread.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/thread_account.h"

namespace crema {
namespace testing {
namespace {

constexpr std::size_t kFileBytes = std::size_t{8} << 20;

/// A file on disk that is not in the page cache.
std::string ColdFile() {
  std::string path = NewDirectory() + "/cold";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::vector<char> bytes(kFileBytes, 'x');
  EXPECT_EQ(write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(kFileBytes));
  EXPECT_EQ(fsync(descriptor), 0);
  EXPECT_EQ(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
  close(descriptor);
  return path;
}

std::int64_t ReadAll(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(65536);
  std::int64_t total = 0;
  for (ssize_t size; (size = read(descriptor, buffer.data(), buffer.size())) > 0;) total += size;
  close(descriptor);
  return total;
}

TEST(IoTruth, ColdReadsAreWhatTheKernelCounted) {
  const SharedValue<Bounds> bounds;
  const std::string path = ColdFile();
  const ChunkLine chunk = RecordedChunk([&] {
    const ThreadAccount before = ReadThreadAccount();
    {
      TrackMetrics metrics({"ttbar", path, 0, 1});
      const ThreadAccount start = ReadThreadAccount();
      metrics.AddBytesRead(ReadAll(path));
      bounds->inside = ReadThreadAccount() - start;
    }
    bounds->outside = ReadThreadAccount() - before;
  });
  EXPECT_EQ(chunk.bytes_read, static_cast<std::int64_t>(kFileBytes));
  if (bounds->inside.read_bytes < 0) {
    EXPECT_EQ(chunk.io_read_bytes, std::nullopt);
    GTEST_SKIP() << "the kernel does not count a thread's I/O";
  }
  EXPECT_GE(chunk.io_read_bytes, bounds->inside.read_bytes);
  EXPECT_LE(chunk.io_read_bytes, bounds->outside.read_bytes);
  if (bounds->inside.read_bytes == 0)
    GTEST_SKIP() << "the temporary directory is on no disk that reads are counted for";
  EXPECT_GE(chunk.io_read_bytes, static_cast<std::int64_t>(kFileBytes));
}

TEST(IoTruth, WarmReadsFetchNothing) {
  const std::string path = ColdFile();
  const SharedValue<Bounds> bounds;
  const ChunkLine chunk = RecordedChunk([&] {
    ReadAll(path);
    const ThreadAccount before = ReadThreadAccount();
    {
      TrackMetrics metrics({"ttbar", path, 0, 1});
      ReadAll(path);
    }
    bounds->outside = ReadThreadAccount() - before;
  });
  if (bounds->outside.read_bytes < 0) GTEST_SKIP() << "the kernel does not count a thread's I/O";
  EXPECT_LE(chunk.io_read_bytes, bounds->outside.read_bytes);
  EXPECT_LT(chunk.io_read_bytes, static_cast<std::int64_t>(kFileBytes));
}

}  // namespace
}  // namespace testing
}  // namespace crema
