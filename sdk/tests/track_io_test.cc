// TrackIo: compares what a part of the work read and wrote with its requests to the kernel.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/without_leak_check.h"

namespace crema {
namespace testing {
namespace {

constexpr std::size_t kPieceBytes = 65536;
constexpr int kPieces = 16;

void WritePieces(const std::string& path) {
  const std::vector<char> piece(kPieceBytes, 'x');
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  for (int i = 0; i < kPieces; ++i) {
    if (write(descriptor, piece.data(), piece.size()) != static_cast<ssize_t>(piece.size())) std::abort();
  }
  close(descriptor);
}

void ReadPieces(const std::string& path) {
  std::vector<char> piece(kPieceBytes);
  const int descriptor = open(path.c_str(), O_RDONLY);
  for (int i = 0; i < kPieces; ++i) {
    if (read(descriptor, piece.data(), piece.size()) != static_cast<ssize_t>(piece.size())) std::abort();
  }
  close(descriptor);
}

TEST(TrackIo, RecordsTheBytesAndCallsOfItsScope) {
  const std::string path = NewDirectory() + "/data";
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    {
      TrackIo io("write");
      WritePieces(path);
    }
    TrackIo io("read");
    ReadPieces(path);
  });
  constexpr auto kBytes = static_cast<double>(kPieceBytes * kPieces);
  constexpr double kOwnReadings = 4096;  // the guard's own look at /proc is a read, too
  EXPECT_EQ(Metric(chunk, "write.wchar_bytes", "B").sum, kBytes);
  EXPECT_EQ(Metric(chunk, "write.write_calls", "count").sum, kPieces);
  EXPECT_LE(*Metric(chunk, "write.rchar_bytes", "B").sum, kOwnReadings);
  EXPECT_EQ(Metric(chunk, "read.wchar_bytes", "B").sum, 0);
  EXPECT_GE(*Metric(chunk, "read.rchar_bytes", "B").sum, kBytes);
  EXPECT_LE(*Metric(chunk, "read.rchar_bytes", "B").sum, kBytes + kOwnReadings);
  EXPECT_GE(*Metric(chunk, "read.read_calls", "count").sum, kPieces);
  EXPECT_GE(*Metric(chunk, "read.read_bytes", "B").sum, 0);
  EXPECT_GE(*Metric(chunk, "read.write_bytes", "B").sum, 0);
}

TEST(TrackIo, IsASectionAsWell) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    TrackIo io("read");
    TrackSection inside("decompress");
  });
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"read", "read/decompress"}));
}

TEST(TrackIo, OfSeveralScopesAddsUp) {
  const std::string path = NewDirectory() + "/data";
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 3; ++i) {
      TrackIo io("write");
      WritePieces(path);
    }
  });
  EXPECT_EQ(Metric(chunk, "write.write_calls", "count").count, 3);
  EXPECT_EQ(Metric(chunk, "write.write_calls", "count").sum, 3 * kPieces);
}

TEST(TrackIo, WhatTheKernelDoesNotTellIsNotRecorded) {
  const ChunkLine chunk = RecordedChunk([] {
    { TrackSection section("opens the log"); }
    const rlimit limit{32, 1000};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    TrackMetrics metrics("ttbar");
    TrackIo io("read");
  });
  EXPECT_TRUE(chunk.metrics.empty());
  EXPECT_EQ(Section(chunk.sections, "read").count, 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
