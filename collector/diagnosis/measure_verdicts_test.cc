// Verdicts on record logs in which their cause was planted, from the lines to the document's rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two workers of one core, 40 chunks each, one after another; chunks differ in size as real ones do.
class MeasureVerdictsTest : public MeasureTest {
 protected:
  static constexpr int kChunks = 40;

  struct Chunk {
    int64_t events;
    double fixed_seconds = 0.02;
    double seconds_per_event = 1e-3;
    double factor = 1;
    bool factor_is_blocked = false;  ///< else it is CPU
    int64_t rss_bytes = 500'000'000;
    std::string file = "ttbar.root";
  };

  /// An ordinary chunk: 1,000 to 2,200 events, 1 to 2.2 s.
  static Chunk Ordinary(int number) { return {1000 + 200 * (number % 7)}; }

  /// A worker whose chunks `change` made something of. Ends when its last chunk does.
  template <class Change>
  void WriteWorker(int64_t pid, const Change& change, bool says_end = true, double stays_seconds = 0) {
    Line process = ProcessLine(pid, 0);
    process["memory_limit_bytes"] = 1'000'000'000;
    std::vector<Line> lines = {process};
    double now = 0.05;
    for (int number = 0; number < kChunks; ++number) {
      Chunk chunk = Ordinary(number);
      change(number, chunk);
      const double seconds =
          chunk.factor * (chunk.fixed_seconds + chunk.seconds_per_event * static_cast<double>(chunk.events));
      const int64_t identity = pid * 1000 + number;
      Line line = ChunkLine(identity, now, now + seconds);
      line["events"] = chunk.events;
      line["file"] = chunk.file;
      line["cpu_ns"] = static_cast<int64_t>(0.95 * seconds / (chunk.factor_is_blocked ? chunk.factor : 1) * 1e9);
      line["cpu_wait_ns"] = 0;
      line["rss_stop_bytes"] = chunk.rss_bytes;
      lines.push_back(line);
      lines.push_back({{"type", "sample"}, {"time_ns", At(now)}, {"rss_bytes", chunk.rss_bytes}});
      now += seconds;
    }
    lines.push_back(says_end ? EndLine(now + stays_seconds) : BeginLine(pid * 1000 + kChunks, now));
    Write(std::to_string(pid) + ".jsonl", lines);
  }
  void WriteOrdinaryWorker(int64_t pid) {
    WriteWorker(pid, [](int, Chunk&) {});
  }

  Document TakeJudged() {
    Document document = Take();
    AddInsight(&document);
    return document;
  }
  static std::vector<std::string> Ids(const Document& document) {
    std::vector<std::string> ids;
    for (const Document& row : document["verdicts"]) ids.push_back(row["id"]);
    return ids;
  }
  static Document Find(const Document& document, const std::string& id) {
    for (const Document& row : document["verdicts"]) {
      if (row["id"] == id) return row;
    }
    ADD_FAILURE() << id << " is not among " << ::testing::PrintToString(Ids(document));
    return Document();
  }
};

TEST_F(MeasureVerdictsTest, FindNothingInAnOrdinaryRun) {
  WriteOrdinaryWorker(1);
  WriteOrdinaryWorker(2);
  const Document document = TakeJudged();
  EXPECT_THAT(Ids(document), ::testing::ElementsAre("largest-loss", "compute-bound", "healthy"));
  EXPECT_THAT(document["headline"], HasSubstr("Compute-bound"));
}

TEST_F(MeasureVerdictsTest, NameTheSlowWorker) {
  WriteOrdinaryWorker(1);
  WriteOrdinaryWorker(2);
  WriteWorker(3, [](int, Chunk& chunk) { chunk.factor = 1.8; });
  const Document verdict = Find(TakeJudged(), "slow-worker");
  EXPECT_THAT(verdict["sentence"], HasSubstr("node:3 took 1.8 times as long"));
}

TEST_F(MeasureVerdictsTest, NameNoFileWhoseChunksComputeForLonger) {
  for (int64_t pid : {1, 2}) {
    WriteWorker(pid, [](int number, Chunk& chunk) {
      if (number % 10 == 0) chunk.file = "busy.root";
      if (number % 10 == 0) chunk.factor = 3;
    });
  }
  EXPECT_THAT(Ids(TakeJudged()), Not(Contains("slow-file")));
}

TEST_F(MeasureVerdictsTest, NameNoFileForOneOfItsChunks) {
  for (int64_t pid : {1, 2}) {
    WriteWorker(pid, [pid](int number, Chunk& chunk) {
      if (number % 10 == 0) chunk.file = "far.root";
      if (number == 20 && pid == 1) chunk.factor = 20;
      chunk.factor_is_blocked = true;
    });
  }
  const Document document = TakeJudged();
  EXPECT_THAT(Ids(document), Contains("stragglers"));
  EXPECT_THAT(Ids(document), Not(Contains("slow-file")));
}

TEST_F(MeasureVerdictsTest, NameTheSlowFile) {
  for (int64_t pid : {1, 2}) {
    WriteWorker(pid, [](int number, Chunk& chunk) {
      if (number % 10 == 0) chunk.file = "far.root";
      if (number % 10 == 0) chunk.factor = 3;
      chunk.factor_is_blocked = true;
    });
  }
  const Document document = TakeJudged();
  EXPECT_THAT(Find(document, "slow-file")["sentence"], HasSubstr("far.root took"));
  EXPECT_THAT(Ids(document), Not(Contains("slow-worker")));
}

TEST_F(MeasureVerdictsTest, SayThatChunksAreTooSmallAndHowLargeTheyShouldBe) {
  for (int64_t pid : {1, 2}) {
    WriteWorker(pid, [](int, Chunk& chunk) { chunk.fixed_seconds = 0.5; });
  }
  const Document document = TakeJudged();
  EXPECT_THAT(Find(document, "chunks-too-small")["sentence"], HasSubstr("500 ms in a chunk of 1 600 events of ttbar"));
  const Document& advice = document["chunk_size_advice"][0];
  EXPECT_NEAR(advice["events_least"].get<double>(), 19 * 0.5 / 1e-3, 1);
}

TEST_F(MeasureVerdictsTest, SeeTheOversizedChunkAtTheEnd) {
  WriteWorker(
      1, [](int, Chunk&) {}, /*says_end=*/true, /*stays_seconds=*/30);
  WriteWorker(2, [](int number, Chunk& chunk) {
    if (number == kChunks - 1) chunk.events = 20000;
  });
  const Document document = TakeJudged();
  EXPECT_THAT(Find(document, "oversized-chunks")["sentence"], HasSubstr("up to 20 000 events of ttbar"));
  EXPECT_THAT(Ids(document), Contains("long-tail"));
}

TEST_F(MeasureVerdictsTest, SeeMemoryGrowAndComeNearTheLimit) {
  WriteOrdinaryWorker(1);
  WriteWorker(2, [](int number, Chunk& chunk) { chunk.rss_bytes += int64_t{10'000'000} * number; });
  const Document document = TakeJudged();
  EXPECT_THAT(Ids(document), Contains("memory-growth"));
  EXPECT_THAT(Find(document, "memory-pressure")["sentence"], HasSubstr("node:2 used 89 %"));
}

TEST_F(MeasureVerdictsTest, MissTheWorkerThatVanished) {
  WriteWorker(
      1, [](int, Chunk&) {}, /*says_end=*/true, /*stays_seconds=*/30);
  WriteWorker(
      2, [](int, Chunk&) {}, /*says_end=*/false);
  EXPECT_THAT(Find(TakeJudged(), "worker-loss")["sentence"], HasSubstr("1 of 2 workers vanished"));
}

TEST_F(MeasureVerdictsTest, CallWorkersLateThatCameLate) {
  WriteOrdinaryWorker(1);
  WriteOrdinaryWorker(2);
  for (int64_t pid : {3, 4}) {
    Line process = ProcessLine(pid, 30);
    std::vector<Line> lines = {process};
    for (int number = 0; number < 10; ++number)
      lines.push_back(ChunkLine(pid * 1000 + number, 30.1 + number, 31.1 + number));
    lines.push_back(EndLine(60));
    Write(std::to_string(pid) + ".jsonl", lines);
  }
  EXPECT_THAT(Find(TakeJudged(), "scaling-lag")["sentence"], HasSubstr("30.0 s"));
}

}  // namespace
}  // namespace crema
