#include "collector/comparison/paired_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "collector/diagnosis/between_runs.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int64_t kStart = 1'790'000'000'000'000'000;

/// 300 chunks in 30 files that are up to twice as dear as others. `select` takes `factor` times as long; each run has
/// noise of its own, and all of it takes `drift` times as long. Each chunk waits for a CPU for up to `waiting` s more;
/// negative: nobody measured that.
RunPieces MadeRun(uint32_t seed, double select_factor, int64_t shift = 0, double noise = 0.03, double drift = 1,
                  int64_t chunks = 300, double waiting = -1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> scatter(1, noise);
  RunPieces run;
  const AttemptProcess process = {{"run", "node", 1, kStart}, "node:1"};
  for (int64_t number = 0; number < chunks; ++number) {
    const int64_t file_number = number / 10;
    const std::string file = "file" + std::to_string(file_number) + ".root";
    const double dear = 1 + static_cast<double>(file_number) / 30;
    const double read = 0.5 * drift * dear * scatter(random);
    const double select = 0.4 * drift * dear * select_factor * scatter(random);
    const double other = 0.1 * drift * dear * scatter(random);
    const double waited = waiting <= 0 ? 0 : std::uniform_real_distribution<double>(0, waiting)(random);
    const double slowed = 1 + waited / (read + select + other);
    ChunkFact chunk;
    chunk.number = number;
    chunk.start_ns = kStart;
    chunk.stop_ns = kStart + std::llround((read + select + other) * slowed * 1e9);
    chunk.events = 1000;
    if (waiting >= 0) chunk.cpu_wait_ns = std::llround(waited * 1e9);
    chunk.input = {"ttbar", file, "Events", number * 1000 + shift, (number + 1) * 1000 + shift, ""};
    chunk.sections.push_back({});
    chunk.sections.back().path = "read";
    chunk.sections.back().total_ns = std::llround(read * slowed * 1e9);
    chunk.sections.push_back({});
    chunk.sections.back().path = "select";
    chunk.sections.back().total_ns = std::llround(select * slowed * 1e9);
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

TEST(PairedChange, IsOfWorkWhateverElseTheMachineDoes) {
  const auto loaded = [](uint32_t seed, double factor) { return MadeRun(seed, factor, 0, 0.03, 1, 300, 2); };
  const PairedChange equal = ComparePieces(MadeRun(1, 1, 0, 0.03, 1, 300, 0), loaded(2, 1));
  EXPECT_NEAR(equal.change, 0, 0.01);
  EXPECT_TRUE(equal.is_of_work);
  EXPECT_EQ(equal.before_waiting, 0);
  EXPECT_NEAR(equal.after_waiting, 300, 30) << "1 s a chunk";
  const PairedChange slower = ComparePieces(loaded(3, 1), loaded(4, 1.6));
  EXPECT_EQ(slower.conclusion, ChangeConclusion::kSlower);
  EXPECT_NEAR(EffectOf(slower, "select").change, 0.24, 0.02);
  EXPECT_TRUE(EffectOf(slower, "select").is_sure);
  const PairedChange sides = CompareSides({MadeRun(1, 1, 0, 0.03, 1, 300, 0), loaded(2, 1)}, {loaded(3, 1)});
  EXPECT_TRUE(sides.is_of_work);
  EXPECT_NEAR(sides.before_waiting, 150, 15) << "the mean of two runs";
  EXPECT_NEAR(sides.after_waiting, 300, 30);
  const PairedChange unknown = ComparePieces(MadeRun(1, 1), loaded(2, 1));
  EXPECT_FALSE(unknown.is_of_work) << "one of them does not know";
  EXPECT_GT(unknown.change, 0.5);
}

/// 100 chunks, in turns on so many threads: each computes for `cpu` s, waits for a CPU for `waiting` s there, and
/// sleeps for `asleep` s in a section of its own.
RunPieces StarvedRun(double cpu, double waiting, double asleep, int64_t threads) {
  RunPieces run;
  const AttemptProcess process = {{"run", "node", 1, kStart}, "node:1"};
  const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
  for (int64_t number = 0; number < 100; ++number) {
    const double scatter = 1 + 0.001 * static_cast<double>(number % 7);
    ChunkFact chunk;
    chunk.number = number;
    chunk.tid = number % threads;
    chunk.start_ns = kStart;
    chunk.stop_ns = kStart + ns(scatter * (cpu + waiting + asleep));
    chunk.cpu_ns = ns(scatter * cpu);
    chunk.cpu_wait_ns = ns(scatter * waiting);
    chunk.events = 1000;
    chunk.input = {"ttbar", "file.root", "Events", number * 1000, (number + 1) * 1000, ""};
    for (const auto& [path, seconds] : {std::pair<const char*, double>{"read", cpu + waiting}, {"rest", asleep}}) {
      chunk.sections.push_back({});
      chunk.sections.back().path = path;
      chunk.sections.back().total_ns = ns(scatter * seconds);
    }
    run.Add({process, AttemptState::kOk, chunk});
  }
  return run;
}

/// 150 chunks that compute, `select` for 0.6 s times `factor`, and wait for a CPU, each section when chance has it. The
/// caches that others share make all of it take `drift` times as long.
RunPieces BusyRun(uint32_t seed, double factor, double drift = 1) {
  RunPieces run;
  std::mt19937 random(seed);
  std::gamma_distribution<double> waiting(20, 0.05);  // the sum of many short waits
  const AttemptProcess process = {{"run", "node", 1, kStart}, "node:1"};
  const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
  for (int64_t number = 0; number < 150; ++number) {
    const double select = 0.6 * factor * drift, read = 0.4 * drift;
    const double in_select = select * waiting(random), in_read = read * waiting(random);
    ChunkFact chunk;
    chunk.number = number;
    chunk.tid = number % 2;
    chunk.start_ns = kStart;
    chunk.stop_ns = kStart + ns(select + read + in_select + in_read);
    chunk.cpu_ns = ns(select + read);
    chunk.cpu_wait_ns = ns(in_select + in_read);
    chunk.events = 1000;
    chunk.input = {"ttbar", "file.root", "Events", number * 1000, (number + 1) * 1000, ""};
    for (const auto& [path, seconds] :
         {std::pair<const char*, double>{"select", select + in_select}, {"read", read + in_read}}) {
      chunk.sections.push_back({});
      chunk.sections.back().path = path;
      chunk.sections.back().total_ns = ns(seconds);
    }
    run.Add({process, AttemptState::kOk, chunk});
  }
  return run;
}

TEST(PairedChange, IsNotClaimedWhereThreadsMayHaveWaitedForOthersThatHadNoCpu) {
  const RunPieces before = StarvedRun(1, 2, 1, 4), after = StarvedRun(1, 2.5, 1.5, 4);
  const PairedChange change = ComparePieces(before, after);
  EXPECT_EQ(change.conclusion, ChangeConclusion::kUnclear);
  EXPECT_TRUE(change.is_short_of_cpu);
  EXPECT_NEAR(change.change, 0.25, 1e-3);
  EXPECT_LE(change.low, 0);
  const PairedChange computes_more = ComparePieces(before, StarvedRun(3, 2, 1, 4));
  EXPECT_EQ(computes_more.conclusion, ChangeConclusion::kSlower) << "no lock makes a thread compute";
  const PairedChange alone = ComparePieces(StarvedRun(1, 2, 1, 1), StarvedRun(1, 2, 1.5, 1));
  EXPECT_EQ(alone.conclusion, ChangeConclusion::kSlower) << "its only thread waits for no other";
}

TEST(PairedChange, NamesNoSectionForTheWaitingOfAnother) {
  // Chunks wait for CPUs where they compute; by its time, half of that would be the waiting of the sleep.
  const PairedChange change = ComparePieces(StarvedRun(1, 2, 0.1, 1), StarvedRun(1, 2, 3, 1));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kSlower);
  EXPECT_TRUE(EffectOf(change, "rest").is_sure);
  EXPECT_GT(EffectOf(change, "read").change, 0.3) << "what it is given by its share of the time";
  EXPECT_FALSE(EffectOf(change, "read").is_sure);
}

TEST(PairedChange, NamesTheSectionThatComputesMoreWhereNothingIsBlocked) {
  // 18 % more in `select`, while each chunk waits for a CPU for as long as it computes, now more and now less.
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const PairedChange change = ComparePieces(BusyRun(seed, 1), BusyRun(seed + 100, 1.3));
    EXPECT_EQ(change.conclusion, ChangeConclusion::kSlower);
    EXPECT_TRUE(EffectOf(change, "select").is_sure) << seed;
    EXPECT_FALSE(EffectOf(change, "read").is_sure) << seed;
  }
}

TEST(PairedChange, OfOneRunASideClaimsNoneThatOthersOnTheMachineMayCause) {
  const PairedChange change = ComparePieces(BusyRun(1, 1), BusyRun(2, 1, 1.07));
  EXPECT_TRUE(change.is_beside_others);
  EXPECT_NEAR(change.change, 0.07, 0.001);
  EXPECT_EQ(change.conclusion, ChangeConclusion::kUnclear);
  EXPECT_LT(change.low, 0);
  const PairedChange alike = ComparePieces(BusyRun(1, 1), BusyRun(2, 1, 1.01));
  EXPECT_EQ(alike.conclusion, ChangeConclusion::kUnclear) << "a change may hide behind it as well";
  const PairedChange sides = CompareSides({BusyRun(1, 1), BusyRun(2, 1)}, {BusyRun(3, 1, 1.07), BusyRun(4, 1, 1.07)});
  EXPECT_EQ(sides.conclusion, ChangeConclusion::kSlower) << "several runs measure it";
  EXPECT_FALSE(sides.is_beside_others);
}

TEST(PairedChange, OfRunsThatSeemEqualHoldsNoBlockedTime) {
  const PairedChange change = ComparePieces(StarvedRun(1, 2, 1, 4), StarvedRun(1, 2.5, 1, 4));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kSame);
  EXPECT_LT(change.high, 0.11) << "what is assumed";
  EXPECT_FALSE(change.is_short_of_cpu);
}

/// One file of 300,000 events in so many chunks of equal size.
RunPieces Rewritten(const std::string& file, int64_t chunks, double seconds) {
  RunPieces run;
  const AttemptProcess process = {{"run", "node", 1, kStart}, "node:1"};
  for (int64_t number = 0; number < chunks; ++number) {
    ChunkFact chunk;
    chunk.number = number;
    chunk.start_ns = kStart;
    const double scatter = 1 + 0.02 * static_cast<double>(number % 3);
    chunk.stop_ns = kStart + std::llround(scatter * seconds / static_cast<double>(chunks) * 1e9);
    chunk.events = 300'000 / chunks;
    chunk.input = {"ttbar", file, "Events", number * 300'000 / chunks, (number + 1) * 300'000 / chunks, ""};
    run.Add({process, AttemptState::kOk, chunk});
  }
  return run;
}

TEST(PairedChange, OfAsManyEventsInOtherChunksIsThatOfTheDatasets) {
  for (const char* file : {"zlib.root", "lzma.root"}) {
    const PairedChange change = ComparePieces(Rewritten("zlib.root", 10, 5), Rewritten(file, 8, 10));
    EXPECT_EQ(change.conclusion, ChangeConclusion::kSlower) << change.why_not;
    EXPECT_EQ(change.paired_by, "none");
    EXPECT_NEAR(change.change, 1, 0.05);
    const RunPieces before = Rewritten("zlib.root", 3, 5), after = Rewritten(file, 2, 10);
    EXPECT_EQ(ComparePieces(before, after).conclusion, ChangeConclusion::kNotKnown) << "chunks show no range";
    const PairedChange sides =
        CompareSides({before, Rewritten("zlib.root", 3, 5.1)}, {after, Rewritten(file, 2, 10.1)});
    EXPECT_EQ(sides.conclusion, ChangeConclusion::kSlower) << "runs do: " << sides.why_not;
    EXPECT_NEAR(sides.change, 1, 0.05);
  }
  EXPECT_THAT(ComparePieces(Rewritten("a.root", 10, 5), Rewritten("b.root", 7, 5)).why_not,
              testing::HasSubstr("no file of a dataset in common"))
      << "not as many events";
}

TEST(PairedChange, OfAFewMillisecondsIsNotClaimed) {
  const PairedChange change = ComparePieces(StarvedRun(0.00025, 0, 0, 1), StarvedRun(0.00027, 0, 0, 1));
  EXPECT_NEAR(change.change, 0.08, 0.001);
  EXPECT_EQ(change.conclusion, ChangeConclusion::kUnclear) << "2 ms of 25: equal runs differ by as much";
  const PairedChange longer = ComparePieces(StarvedRun(0.025, 0, 0, 1), StarvedRun(0.027, 0, 0, 1));
  EXPECT_EQ(longer.conclusion, ChangeConclusion::kSlower) << "0.2 s of 2.5";
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
}

TEST(PairedChange, OtherRangesAreComparedByFileAndEvent) {
  const PairedChange change = ComparePieces(MadeRun(1, 1), MadeRun(2, 1.5, /*shift=*/500));
  EXPECT_EQ(change.paired_by, "file");
  EXPECT_FALSE(change.is_by_event) << "both have as many events in each file";
  EXPECT_EQ(change.pairs, 30u);
  EXPECT_NEAR(change.change, 0.2, 0.02);
}

TEST(PairedChange, MuchNoiseIsUnclear) {
  const PairedChange change = ComparePieces(MadeRun(5, 1, 0, 1.5), MadeRun(6, 1.02, 0, 1.5));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kUnclear);
}

TEST(PairedChange, SaysWhyNothingCanBePaired) {
  RunPieces other;
  const AttemptProcess process;
  ChunkFact chunk;
  chunk.stop_ns = 1'000'000'000;
  chunk.input.file = "else.root";
  chunk.input.entry_stop = 10;
  other.Add({process, AttemptState::kOk, chunk});
  EXPECT_EQ(ComparePieces(MadeRun(1, 1), other).why_not, "the two have no file of a dataset in common");
  EXPECT_EQ(ComparePieces(MadeRun(1, 1), RunPieces()).why_not, "a run has no chunk with a result");
  EXPECT_EQ(ComparePieces(other, other).why_not,
            "the two have only 1 chunk in common; with several runs a side that is enough");
  const nlohmann::ordered_json reported = PairedChangeAsJson(ComparePieces(other, other));
  EXPECT_TRUE(reported["conclusion"].is_null());
  EXPECT_THAT(std::string(reported["reason"]), testing::HasSubstr("the two have only 1 chunk in common"));
}

TEST(PairedChange, IsTheSameEachTime) {
  EXPECT_EQ(PairedChangeAsJson(ComparePieces(MadeRun(1, 1), MadeRun(2, 1.1))),
            PairedChangeAsJson(ComparePieces(MadeRun(1, 1), MadeRun(2, 1.1))));
}

/// Chunks without a range: `seconds` of each, in that file, with that many events (0: not known).
void AddUnranged(RunPieces* run, const std::string& file, double seconds, int64_t events, double select = 0) {
  const AttemptProcess process;
  ChunkFact chunk;
  chunk.stop_ns = std::llround(seconds * 1e9);
  if (events > 0) chunk.events = events;
  chunk.input.dataset = "made";
  chunk.input.file = file;
  chunk.sections.push_back({});
  chunk.sections.back().path = "select";
  chunk.sections.back().total_ns = std::llround(select * 1e9);
  run->Add({process, AttemptState::kOk, chunk});
}

/// What a generator does: chunks of one dataset, without files.
RunPieces Generated(uint32_t seed, double factor, int chunks, int64_t events) {
  std::mt19937 random(seed);
  std::normal_distribution<double> scatter(1, 0.1);
  RunPieces run;
  for (int i = 0; i < chunks; ++i) {
    const double select = 0.5 * factor * scatter(random);
    AddUnranged(&run, "", 0.5 * scatter(random) + select, events, select);
  }
  return run;
}

TEST(PairedChange, ChunksOfAFileWithoutRangesAllCount) {
  RunPieces before, after;
  for (const char* file : {"one", "two"}) {
    for (int i = 0; i < 3; ++i) {
      AddUnranged(&before, file, 1, 100);
      AddUnranged(&after, file, i == 1 ? 2 : 1, 100);  // not the last
    }
  }
  const PairedChange change = ComparePieces(before, after);
  EXPECT_EQ(change.paired_by, "none");
  EXPECT_EQ(change.pairs, 6u);
  EXPECT_NEAR(change.change, 1. / 3, 1e-9);
  EXPECT_LT(change.low, 0.1) << "six chunks tell little";
}

TEST(PairedChange, NoRunTakesLessThanNoTime) {
  PairedChange change;
  JudgeChange({-0.5, 0.8, 0.8, 0.3}, {}, 0, &change);
  EXPECT_EQ(change.low, -1);
  EXPECT_NEAR(change.high, 0.3, 1e-9);
}

TEST(PairedChange, FilesWithoutRangesArePairedByFile) {
  RunPieces before, after;
  for (int file = 0; file < 12; ++file) {
    for (int i = 0; i < 3; ++i) {
      AddUnranged(&before, "f" + std::to_string(file), 1 + file, 100);
      AddUnranged(&after, "f" + std::to_string(file), (i == 0 ? 1.3 : 1) * (1 + file), 100);
    }
  }
  const PairedChange change = ComparePieces(before, after);
  EXPECT_EQ(change.paired_by, "file");
  EXPECT_EQ(change.pairs, 12u);
  EXPECT_NEAR(change.change, 0.1, 1e-9);
  EXPECT_EQ(change.conclusion, ChangeConclusion::kSlower);
}

TEST(PairedChange, SaysThatTwiceTheEventsAreComparedByEvent) {
  RunPieces before, after;
  for (int file = 0; file < 12; ++file) {
    AddUnranged(&before, "f" + std::to_string(file), 1, 100);
    AddUnranged(&after, "f" + std::to_string(file), 2, 200);
  }
  const PairedChange change = ComparePieces(before, after);
  EXPECT_NEAR(change.change, 0, 1e-9);
  EXPECT_TRUE(change.is_by_event);
  EXPECT_TRUE(CompareSides({before, before}, {after}).is_by_event);
}

TEST(PairedChange, OfGeneratorsTotalsAreComparedByTheirEvents) {
  int different = 0, named = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const PairedChange same = ComparePieces(Generated(2 * seed, 1, 200, 1000), Generated(2 * seed + 1, 1, 200, 1000));
    different += same.conclusion != ChangeConclusion::kSame && same.conclusion != ChangeConclusion::kUnclear;
    // as much work in twice as many chunks, and `select` takes 10 % longer
    RunPieces finer;
    for (int i = 0; i < 400; ++i) {
      AddUnranged(&finer, "", 0.5 * (0.5 + 0.55 * (1 + 0.1 * (i % 2))), 500, 0.5 * 0.55 * (1 + 0.1 * (i % 2)));
    }
    const PairedChange slower = ComparePieces(Generated(2 * seed, 1, 200, 1000), finer);
    EXPECT_EQ(slower.paired_by, "none");
    named += EffectOf(slower, "select").is_sure && slower.conclusion == ChangeConclusion::kSlower;
  }
  EXPECT_LE(different, 1);
  EXPECT_GE(named, 19);
  const PairedChange unknown = ComparePieces(Generated(1, 1, 200, 0), Generated(2, 1, 100, 0));
  EXPECT_THAT(unknown.why_not, testing::HasSubstr("the chunks have no ranges"));
  EXPECT_EQ(ComparePieces(Generated(1, 1, 200, 0), Generated(2, 1, 200, 0)).paired_by, "none");
  EXPECT_THAT(ComparePieces(Generated(1, 1, 4, 10), Generated(2, 1, 4, 10)).why_not, testing::HasSubstr("needs 5"));
}

TEST(PairedChange, OfInputThatOnlyPartlyIsTheSameSaysHowMuchIs) {
  const RunPieces half = MadeRun(1, 1, 0, 0.03, 1, 150), whole = MadeRun(2, 1.2);
  const PairedChange change = ComparePieces(half, whole);
  EXPECT_NEAR(change.change, 0.08, 0.01);
  EXPECT_NEAR(change.before_share, 1, 1e-9);
  EXPECT_LT(change.after_share, 0.5);
}

std::vector<RunPieces> Side(uint32_t seed, double select_factor, const std::vector<double>& drifts) {
  std::vector<RunPieces> runs;
  for (const double drift : drifts) runs.push_back(MadeRun(seed++, select_factor, 0, 0.03, drift));
  return runs;
}

TEST(PairedChange, SeveralRunsASideShowWhatEqualRunsDifferBy) {
  // Two runs alone, one of which ran in a bad hour, look different.
  EXPECT_EQ(ComparePieces(MadeRun(1, 1), MadeRun(2, 1, 0, 0.03, 1.08)).conclusion, ChangeConclusion::kSlower);
  const PairedChange change = CompareSides(Side(1, 1, {1, 1.08, 0.97, 1.02}), Side(9, 1, {1.08, 0.99, 1.03, 1}));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kUnclear);
  ASSERT_TRUE(change.between_runs.has_value());
  EXPECT_NEAR(*change.between_runs, 0.05, 0.02);
  EXPECT_EQ(change.drawn_by, "run");
}

TEST(PairedChange, RunsInTurnsCancelWhatChangesSlowly) {
  const PairedChange change = CompareSides(Side(1, 1, {1, 1.1, 1.2, 1.3}), Side(9, 1.1, {1, 1.1, 1.2, 1.3}));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kSlower);
  EXPECT_NEAR(change.change, 0.04, 0.01);
  EXPECT_TRUE(EffectOf(change, "select").is_sure);
  double sum = 0;
  for (const ChangeEffect& effect : change.effects) sum += effect.change;
  EXPECT_NEAR(sum, change.change, 1e-9);
}

TEST(PairedChange, RangesHoldWhetherOrNotRunsInTurnsAreAlike) {
  std::mt19937 random(1);
  std::normal_distribution<double> own(0, 0.01);
  constexpr int kDraws = 20'000;
  for (const size_t runs : {2u, 4u}) {
    for (const double shared : {0.0, 0.01, 0.1}) {
      std::normal_distribution<double> of_pair(0, std::max(shared, 1e-12));
      int covered = 0;
      for (int i = 0; i < kDraws; ++i) {
        std::vector<double> one, other;
        for (size_t run = 0; run < runs; ++run) {
          const double drift = of_pair(random);
          one.push_back(drift + own(random)), other.push_back(drift + own(random));
        }
        double measured = 0;
        const MeasuredChange change = BetweenSides(one, other, &measured);
        covered += std::fabs(change.change) <= change.above;
      }
      EXPECT_NEAR(static_cast<double>(covered) / kDraws, 0.9, 0.04) << runs << " runs a side that share " << shared;
    }
  }
}

TEST(PairedChange, SidesMayHaveUnequalNumbersOfRuns) {
  const PairedChange change = CompareSides(Side(1, 1, {1, 1, 1}), Side(9, 1.2, {1, 1}));
  EXPECT_EQ(change.conclusion, ChangeConclusion::kSlower);
  EXPECT_NEAR(change.change, 0.08, 0.01);
  EXPECT_EQ(PairedChangeAsJson(change)["runs_a_side"], nlohmann::ordered_json({3, 2}));
  EXPECT_EQ(CompareSides({MadeRun(1, 1), RunPieces()}, Side(3, 1, {1})).why_not, "a run has no chunk with a result");
}

TEST(PairedChange, TheRunsNeededSeeTheEffectInFourOfFiveCases) {
  std::mt19937 random(1);
  for (const double effect : {0.01, 0.03}) {
    const double deviation = 0.02;
    const size_t runs = RunsNeeded(effect, deviation);
    std::normal_distribution<double> before(0, deviation), after(effect, deviation);
    int seen = 0, covered = 0;
    for (int i = 0; i < 1000; ++i) {
      std::vector<double> one, other;
      for (size_t run = 0; run < runs; ++run) one.push_back(before(random)), other.push_back(after(random));
      double measured = 0;
      const MeasuredChange change = BetweenSides(one, other, &measured);
      seen += change.change - change.below > 0;
      covered += std::fabs(change.change - effect) <= change.above;
    }
    EXPECT_NEAR(seen, 800, 60) << runs;
    EXPECT_NEAR(covered, 900, 40) << runs;
  }
  // The table of docs/compare.md, "Several runs a side".
  const size_t table[][4] = {{2, 2, 2, 2}, {5, 2, 2, 2}, {14, 5, 2, 2}, {51, 14, 4, 2}, {310, 79, 14, 5}};
  const double deviations[] = {0.002, 0.005, 0.01, 0.02, 0.05};
  for (size_t row = 0; row < 5; ++row) {
    for (size_t at = 0; at < 4; ++at) EXPECT_EQ(RunsNeeded(kEffectsOfRuns[at], deviations[row]), table[row][at]);
  }
  EXPECT_EQ(RunsNeeded(1e-6, 0.5), 0u);
}

}  // namespace
}  // namespace crema
