// When an attempt has failed, and which reason it records.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

template <class Function>
void IgnoringExceptions(Function function) {
  try {
    function();
  } catch (...) {
  }
}

TEST(ChunkFailure, AnExceptionThatLeavesTheScope) {
  const ChunkLine chunk = RecordedChunk([] {
    IgnoringExceptions([] {
      TrackMetrics metrics("ttbar");
      throw std::runtime_error("bad file");
    });
  });
  EXPECT_EQ(chunk.status, "failed");
  EXPECT_EQ(chunk.error, "exception");
}

TEST(ChunkFailure, AnExceptionCaughtInsideIsNone) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    IgnoringExceptions([] { throw std::runtime_error("bad event"); });
  });
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(chunk.error, std::nullopt);
}

TEST(ChunkFailure, AChunkInsideACatchHandlerIsNone) {
  const ChunkLine chunk = RecordedChunk([] {
    try {
      throw std::runtime_error("bad file");
    } catch (const std::runtime_error&) {
      TrackMetrics metrics("ttbar");
    }
  });
  EXPECT_EQ(chunk.status, "ok");
}

TEST(ChunkFailure, AChunkThatRunsWhileTheStackUnwindsIsNone) {
  struct RunsAChunk {
    ~RunsAChunk() { TrackMetrics metrics("ttbar"); }
  };
  const ChunkLine chunk = RecordedChunk([] {
    IgnoringExceptions([] {
      RunsAChunk runs;
      throw std::runtime_error("bad file");
    });
  });
  EXPECT_EQ(chunk.status, "ok");
}

TEST(ChunkFailure, FailGivesTheReasonAndTheFirstOneStays) {
  const RecordLog log = Recorded([] {
    { TrackMetrics("said").Fail("no such branch: \"Jet_pt\""); }
    IgnoringExceptions([] {
      TrackMetrics metrics("said before it threw");
      metrics.Fail("bad basket");
      metrics.Fail("another");
      throw std::runtime_error("bad file");
    });
  });
  EXPECT_EQ(ChunkOf(log, "said").status, "failed");
  EXPECT_EQ(ChunkOf(log, "said").error, "no such branch: \"Jet_pt\"");
  EXPECT_EQ(ChunkOf(log, "said before it threw").error, "bad basket");
  EXPECT_EQ(log.end->failed, 2);
}

TEST(RunChunk, NotesWhatWasThrownAndRethrowsIt) {
  const ChunkLine chunk = RecordedChunk([] {
    try {
      RunChunk("ttbar", [](TrackMetrics& metrics) {
        metrics.SetEvents(3);
        TrackSection section("read");
        throw std::runtime_error("bad file");
      });
      std::abort();
    } catch (const std::runtime_error& error) {
      if (error.what() != std::string("bad file")) std::abort();
    }
  });
  EXPECT_EQ(chunk.status, "failed");
  EXPECT_EQ(chunk.error, "bad file");
  EXPECT_EQ(chunk.events, 3);
  EXPECT_EQ(Section(chunk.sections, "read").failed, 1);
}

TEST(RunChunk, NotesWhatIsNoStandardException) {
  const ChunkLine chunk =
      RecordedChunk([] { IgnoringExceptions([] { RunChunk("ttbar", [](TrackMetrics&) { throw 42; }); }); });
  EXPECT_EQ(chunk.status, "failed");
  EXPECT_EQ(chunk.error, "exception");
}

TEST(RunChunk, ReturnsWhatTheFunctionReturns) {
  const RecordLog log = Recorded([] {
    const std::unique_ptr<int> sum = RunChunk({"ttbar", "f", 0, 10}, [](TrackMetrics& metrics) {
      metrics.SetEvents(10);
      return std::make_unique<int>(55);
    });
    int value = 1;
    int& same = RunChunk("wjets", [&](TrackMetrics&) -> int& { return value; });
    if (*sum != 55 || &same != &value) std::abort();
  });
  EXPECT_EQ(ChunkOf(log, "ttbar").events, 10);
  EXPECT_EQ(ChunkOf(log, "wjets").status, "ok");
}

TEST(RunChunk, CutsALongReason) {
  const ChunkLine chunk = RecordedChunk([] {
    IgnoringExceptions(
        [] { RunChunk("ttbar", [](TrackMetrics&) { throw std::runtime_error(std::string(5000, 'e')); }); });
  });
  EXPECT_EQ(chunk.error, std::string(1024, 'e'));
}

}  // namespace
}  // namespace testing
}  // namespace crema
