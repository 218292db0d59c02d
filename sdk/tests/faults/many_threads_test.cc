// 64 threads of 10,000 chunks each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/child_process.h"
#include "sdk/tests/faults/record_chunks.h"

namespace crema {
namespace testing {
namespace {

constexpr int kThreads = 64;
constexpr int kChunksPerThread = 10000;
constexpr std::size_t kChunks = std::size_t{kThreads} * kChunksPerThread;

void RunThreads() {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([] { RecordChunks(kChunksPerThread); });
  for (std::thread& thread : threads) thread.join();
}

/// The contents of logs that are too long for a reader that keeps all lines.
struct Counted {
  std::size_t begins = 0;
  std::size_t chunks = 0;
  std::size_t broken = 0;  ///< lines that do not begin and end as a line does
  std::vector<std::string> ends;
  std::vector<bool> seen = std::vector<bool>(kChunks);  ///< numbers of chunks
};

void Count(const std::string& path, Counted& counted) {
  const std::string begin_line = R"({"type":"begin",)";
  const std::string chunk_line = R"({"type":"chunk","chunk":)";
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() != '{' || line.back() != '}' || line.find("{\"type\"", 1) != std::string::npos) {
      ++counted.broken;
    } else if (line.compare(0, begin_line.size(), begin_line) == 0) {
      ++counted.begins;
    } else if (line.compare(0, chunk_line.size(), chunk_line) == 0) {
      ++counted.chunks;
      counted.seen.at(std::stoul(line.substr(chunk_line.size()))) = true;
    } else if (line.compare(0, 13, R"({"type":"end")") == 0) {
      counted.ends.push_back(line);
    }
  }
}

/// Fault [threads]: 64 threads of 10,000 chunks each
/// Program: nothing
/// Recorded: every chunk, in whole lines of at most eight logs
TEST(ManyThreads, EachChunkIsAWholeLine) {
  const std::string directory = NewDirectory();
  const ChildResult plain = RunInChild({}, RunThreads);
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, RunThreads);
  EXPECT_EQ(plain.exit_status, 0);
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.output, plain.output);
  EXPECT_EQ(child.errors, plain.errors);
  Counted counted;
  std::size_t logs = 0;
  for (const auto& log : std::filesystem::directory_iterator(directory)) {
    Count(log.path().string(), counted);
    ++logs;
  }
  EXPECT_LE(logs, 8u);
  EXPECT_EQ(counted.broken, 0u);
  EXPECT_EQ(counted.begins, kChunks);
  EXPECT_EQ(counted.chunks, kChunks);
  std::size_t numbers = 0;
  for (const bool seen : counted.seen) numbers += seen ? 1 : 0;
  EXPECT_EQ(numbers, kChunks);
  EXPECT_EQ(counted.ends.size(), logs);
  for (const std::string& end : counted.ends) {
    EXPECT_NE(end.find(R"(,"failed":0,"open":0,"dropped":0,)"), std::string::npos) << end;
  }
  std::filesystem::remove_all(directory);  // some 700 MB
}

}  // namespace
}  // namespace testing
}  // namespace crema
