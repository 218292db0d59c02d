// Self times of a chunk and its time outside sections add up to its duration, to the nanosecond.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

constexpr const char* kNames[] = {"read", "select", "jets", "fill", "a/b", "ünï"};

/// Opens a random tree of sections. Given `counts`, it only notes how often each path must come.
class RandomSections {
 public:
  explicit RandomSections(unsigned seed, std::map<std::string, std::int64_t>* counts = nullptr)
      : random_(seed), counts_(counts) {}

  void Run(const std::string& path, int depth) {
    for (unsigned i = random_() % 4; i > 0 && left_ > 0; --i) {
      --left_;
      const char* name = kNames[random_() % (sizeof kNames / sizeof *kNames)];
      const bool with_cpu = random_() % 8 == 0;
      const unsigned load = random_() % 16;
      if (counts_ != nullptr) {
        const std::string escaped = name == std::string("a/b") ? "a%2Fb" : name;
        const std::string below = path.empty() ? escaped : path + "/" + escaped;
        ++(*counts_)[below];
        if (depth < 8) Run(below, depth + 1);
      } else {
        TrackSection section(name, with_cpu ? kCpuTime : kWallTime);
        if (load == 0) SpinWall(20000);
        if (depth < 8) Run(path, depth + 1);
      }
    }
  }

 private:
  std::mt19937 random_;
  std::map<std::string, std::int64_t>* counts_;
  int left_ = 600;  // well below the limit of paths
};

void RunRandomSections(unsigned seed, std::map<std::string, std::int64_t>* counts) {
  RandomSections sections(seed, counts);
  for (int i = 0; i < 20; ++i) sections.Run("", 0);
}

std::string Parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

void ExpectConservation(const ChunkLine& chunk) {
  std::map<std::string, std::int64_t> children_ns;
  std::int64_t self_ns = 0;
  for (const SectionRow& row : chunk.sections) {
    children_ns[Parent(row.path)] += row.total_ns;
    self_ns += row.self_ns;
  }
  for (const SectionRow& row : chunk.sections) {
    EXPECT_EQ(row.self_ns, row.total_ns - children_ns[row.path]) << row.path;
    EXPECT_GE(row.self_ns, 0) << row.path;
    EXPECT_LE(row.min_ns, row.max_ns) << row.path;
    EXPECT_LE(row.count * *row.min_ns, row.total_ns) << row.path;
    EXPECT_LT(row.total_ns, row.count * (*row.max_ns + 1)) << row.path;  // each occurrence is rounded down
  }
  const std::int64_t other_ns = chunk.duration_ns() - children_ns[""];
  EXPECT_GE(other_ns, 0);
  EXPECT_EQ(self_ns + other_ns, chunk.duration_ns());
}

TEST(SectionConservation, HoldsToTheNanosecondForRandomTrees) {
  constexpr unsigned kSeeds = 40;
  const RecordLog log = Recorded([] {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      TrackMetrics metrics(std::to_string(seed));
      RunRandomSections(seed, nullptr);
    }
  });
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const ChunkLine chunk = ChunkOf(log, std::to_string(seed));
    ExpectConservation(chunk);
    std::map<std::string, std::int64_t> expected;
    RunRandomSections(seed, &expected);
    std::map<std::string, std::int64_t> counts;
    for (const SectionRow& row : chunk.sections) counts[row.path] = row.count;
    EXPECT_TRUE(counts == expected);  // hundreds of paths are not a message
    EXPECT_EQ(chunk.sections_dropped, 0);
  }
}

TEST(SectionConservation, HoldsWhenPathsAreDropped) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 60; ++i) {
      TrackSection outer("outer " + std::to_string(i));
      for (int k = 0; k < 40; ++k) TrackSection inner("inner " + std::to_string(k));
    }
  });
  EXPECT_EQ(chunk.sections.size(), 1000u);
  ExpectConservation(chunk);
}

TEST(SectionConservation, HoldsInChunksShorterThanAMicrosecond) {
  const RecordLog log = Recorded([] {
    for (int i = 0; i < 200; ++i) {
      TrackMetrics metrics("ttbar");
      TrackSection outer("outer");
      TrackSection inner("inner");
    }
  });
  ASSERT_EQ(log.chunks.size(), 200u);
  for (const ChunkLine& chunk : log.chunks) ExpectConservation(chunk);
}

}  // namespace
}  // namespace testing
}  // namespace crema
