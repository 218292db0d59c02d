#include "collector/insight/paired_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace crema {
namespace {

constexpr int64_t kStart = 1'790'000'000'000'000'000;

/// 300 chunks in 30 files that are up to twice as dear as others. `select` takes `factor` times as long; each run has
/// noise of its own.
RunPieces MadeRun(uint32_t seed, double select_factor, int64_t shift = 0, double noise = 0.03) {
  std::mt19937 random(seed);
  std::normal_distribution<double> scatter(1, noise);
  RunPieces run;
  const AttemptProcess process = {"run", "node", 1, kStart, "node:1"};
  for (int64_t number = 0; number < 300; ++number) {
    const int64_t file_number = number / 10;
    const std::string file = "file" + std::to_string(file_number) + ".root";
    const double dear = 1 + static_cast<double>(file_number) / 30;
    const double read = 0.5 * dear * scatter(random);
    const double select = 0.4 * dear * select_factor * scatter(random);
    const double other = 0.1 * dear * scatter(random);
    ChunkFact chunk;
    chunk.number = number;
    chunk.start_ns = kStart;
    chunk.stop_ns = kStart + std::llround((read + select + other) * 1e9);
    chunk.events = 1000;
    chunk.input = {"ttbar", file, "Events", number * 1000 + shift, (number + 1) * 1000 + shift, ""};
    chunk.sections.push_back({});
    chunk.sections.back().path = "read";
    chunk.sections.back().total_ns = std::llround(read * 1e9);
    chunk.sections.push_back({});
    chunk.sections.back().path = "select";
    chunk.sections.back().total_ns = std::llround(select * 1e9);
    run.Add({process, AttemptState::kOk, chunk});
  }
  return run;
}

const ChangeEffect& EffectOf(const PairedChange& change, const std::string& what) {
  for (const ChangeEffect& effect : change.effects) {
    if (effect.what == what) return effect;
  }
  static const ChangeEffect kNone;
  ADD_FAILURE() << "no effect of " << what;
  return kNone;
}

TEST(PairedChange, NamesTheSectionThatBecameSlower) {
  const double truth = 0.4 * 0.05;  // of all time
  int named = 0, covered = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const PairedChange change = ComparePieces(MadeRun(2 * seed, 1), MadeRun(2 * seed + 1, 1.05));
    const ChangeEffect& select = EffectOf(change, "select");
    named += select.is_sure && !EffectOf(change, "(other)").is_sure;
    covered += select.low <= truth && truth <= select.high;
    EXPECT_NEAR(select.change, truth, 0.006);
  }
  EXPECT_GE(named, 18);
  EXPECT_GE(covered, 15) << "ranges of 90 %";
}

TEST(PairedChange, OfEqualRunsIsAboutTheSame) {
  int different = 0, sure = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const PairedChange change = ComparePieces(MadeRun(100 + 2 * seed, 1), MadeRun(101 + 2 * seed, 1));
    different += change.conclusion != ChangeConclusion::kSame;
    for (const ChangeEffect& effect : change.effects) sure += effect.is_sure;
  }
  EXPECT_LE(different, 1);
  EXPECT_LE(sure, 3) << "one in twenty runs may have one";
}

TEST(PairedChange, OfSectionsAddsUpToThatOfAll) {
  const PairedChange change = ComparePieces(MadeRun(1, 1), MadeRun(2, 1.5));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kSlower);
  double sum = 0, shares = 0;
  for (const ChangeEffect& effect : change.effects) {
    sum += effect.change;
    shares += effect.share;
  }
  EXPECT_NEAR(sum, change.change, 1e-9);
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_EQ(change.effects.front().what, "select") << "the largest first";
  EXPECT_NEAR(change.change, 0.2, 0.01);
  EXPECT_EQ(change.paired_by, "chunk");
  EXPECT_EQ(change.drawn_by, "file");
  EXPECT_THAT(PairedSentence(change, "b"),
              testing::MatchesRegex("Paired by chunk \\(300 pairs\\), b took .*: select .*"));
}

TEST(PairedChange, OtherRangesAreComparedByFileAndEvent) {
  const PairedChange change = ComparePieces(MadeRun(1, 1), MadeRun(2, 1.5, /*shift=*/500));
  EXPECT_EQ(change.paired_by, "file");
  EXPECT_EQ(change.pairs, 30u);
  EXPECT_NEAR(change.change, 0.2, 0.02);
}

TEST(PairedChange, MuchNoiseIsUnclear) {
  const PairedChange change = ComparePieces(MadeRun(5, 1, 0, 1.5), MadeRun(6, 1.02, 0, 1.5));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kUnclear);
  EXPECT_THAT(PairedSentence(change, "b"), testing::HasSubstr("it cannot be told whether b took longer"));
}

TEST(PairedChange, SaysWhyNothingCanBePaired) {
  RunPieces other;
  const AttemptProcess process;
  ChunkFact chunk;
  chunk.stop_ns = 1'000'000'000;
  chunk.input.file = "else.root";
  other.Add({process, AttemptState::kOk, chunk});
  EXPECT_EQ(ComparePieces(MadeRun(1, 1), other).why_not, "the two did not process the same input");
  EXPECT_EQ(ComparePieces(MadeRun(1, 1), RunPieces()).why_not, "a run has no chunk with a result");
  EXPECT_EQ(ComparePieces(other, other).why_not, "the two have only 1 chunk in common");
  const nlohmann::ordered_json told = PairedChangeAsJson(ComparePieces(other, other));
  EXPECT_TRUE(told["conclusion"].is_null());
  EXPECT_EQ(told["reason"], "the two have only 1 chunk in common");
}

TEST(PairedChange, IsTheSameEachTime) {
  EXPECT_EQ(PairedChangeAsJson(ComparePieces(MadeRun(1, 1), MadeRun(2, 1.1))),
            PairedChangeAsJson(ComparePieces(MadeRun(1, 1), MadeRun(2, 1.1))));
}

}  // namespace
}  // namespace crema
