#include <cmath>
#include <limits>
#include <stdexcept>

#include "examples/zjets/dataset_results.h"
#include "examples/zjets/exact_sum.h"
#include "examples/zjets/histogram.h"
#include "examples/zjets/random_bits.h"
#include "examples/zjets/selection.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zjets {
namespace {

using testing::SizeIs;

Particle Lepton(int pdg_id, double px, double py, double pz) {
  return {pdg_id, kOutgoing, px, py, pz, std::sqrt(px * px + py * py + pz * pz)};
}

/// Two muons back to back along x: a Z of 90 GeV at rest.
LheEvent ZAtRest() {
  LheEvent event;
  event.particles = {Lepton(13, 45, 0, 0), Lepton(-13, -45, 0, 0)};
  return event;
}

Jet JetAt(double pt, double rapidity, double phi, double signal_fraction = 1) {
  return {pt, rapidity, phi, 0.5, signal_fraction};
}

TEST(ExactSum, DoesNotDependOnTheOrder) {
  ExactSum forward, backward, halves, second_half;
  for (int i = 0; i < 10000; ++i) {
    const auto value = [](int n) { return std::ldexp(UnitInterval(MixBits(static_cast<std::uint64_t>(n))), n % 60); };
    forward.Add(value(i));
    backward.Add(value(9999 - i));
    (i < 5000 ? halves : second_half).Add(value(i));
  }
  halves.Merge(second_half);
  EXPECT_TRUE(forward == backward);
  EXPECT_TRUE(forward == halves);
}

TEST(ExactSum, IsExactForWeightsAsWritten) {
  ExactSum sum;
  for (int i = 0; i < 10000; ++i) sum.Add(0.3244300E+00);
  for (int i = 0; i < 3; ++i) sum.Add(-.53944305E+04);
  EXPECT_EQ(sum.value(), 3244.3 - 16183.2915);
}

TEST(ExactSum, RefusesWhatIsNoWeight) {
  ExactSum sum;
  EXPECT_THROW(sum.Add(std::numeric_limits<double>::quiet_NaN()), std::range_error);
  EXPECT_THROW(sum.Add(1e21), std::range_error);
}

TEST(Histogram, PutsEachValueIntoItsBinAndTheRestOutside) {
  Histogram histogram({"x", "GeV", 4, 0, 8});
  for (const double value : {-1.0, 0.0, 1.9, 2.0, 7.9, 8.0, 1e30}) histogram.Fill(value, 0.5);
  std::vector<std::int64_t> entries;
  for (const HistogramBin& bin : histogram.bins()) entries.push_back(bin.entries);
  EXPECT_THAT(entries, testing::ElementsAre(1, 2, 1, 0, 1, 2));
  EXPECT_EQ(histogram.bins()[1].weights.value(), 1);
  EXPECT_EQ(histogram.bins()[1].squared_weights.value(), 0.5);
}

TEST(Histogram, PutsWhatIsNotANumberIntoTheUnderflow) {
  Histogram histogram({"x", "GeV", 4, 0, 8});
  histogram.Fill(std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_EQ(histogram.bins()[0].entries, 1);
}

TEST(Selection, ReconstructsTheZ) {
  const Selection selection = Select(ZAtRest(), {});
  EXPECT_EQ(selection.passed, kZWindow);
  EXPECT_NEAR(selection.z_mass, 90, 1e-9);
  EXPECT_NEAR(selection.z_pt, 0, 1e-9);
}

TEST(Selection, WantsTwoLeptonsOfOneKindAndOppositeChargeThatAreHardAndCentral) {
  const auto passed = [](const Particle& first, const Particle& second) {
    LheEvent event;
    event.particles = {first, second};
    return Select(event, {}).passed;
  };
  EXPECT_EQ(passed(Lepton(11, 45, 0, 0), Lepton(-11, -45, 0, 0)), kZWindow);
  EXPECT_EQ(passed(Lepton(11, 45, 0, 0), Lepton(-13, -45, 0, 0)), kAllEvents);
  EXPECT_EQ(passed(Lepton(11, 45, 0, 0), Lepton(11, -45, 0, 0)), kAllEvents);
  EXPECT_EQ(passed(Lepton(15, 45, 0, 0), Lepton(-15, -45, 0, 0)), kAllEvents);
  EXPECT_EQ(passed(Lepton(13, 19, 0, 0), Lepton(-13, -71, 0, 0)), kAllEvents);
  EXPECT_EQ(passed(Lepton(13, 25, 0, 25 * std::sinh(2.5)), Lepton(-13, -25, 0, 0)), kAllEvents);
  EXPECT_EQ(passed(Lepton(13, 60, 0, 0), Lepton(-13, -60, 0, 0)), kTwoLeptons);  // 120 GeV
}

TEST(Selection, CountsHardCentralJetsOfTheHardEventAwayFromLeptonsHardestFirst) {
  const double across = M_PI / 2;
  const Selection selection =
      Select(ZAtRest(), {JetAt(31, 1, across), JetAt(50, -1, -across), JetAt(29, 0, across),  // soft
                         JetAt(50, 2.5, across),                                              // forward
                         JetAt(50, 0, across, 0.4),                                           // pile-up
                         JetAt(50, 0.1, 0.1),                                                 // is a muon
                         JetAt(50, 0.1, M_PI + 0.1)});                                        // is the other
  EXPECT_EQ(selection.passed, kTwoJets);
  ASSERT_THAT(selection.jets, SizeIs(2));
  EXPECT_EQ(selection.jets[0].pt, 50);
  EXPECT_EQ(selection.jets[1].pt, 31);
}

TEST(DatasetResults, CountsAnEventInEveryCutThatItPasses) {
  DatasetResults results;
  results.CountCuts(Select(ZAtRest(), {JetAt(50, 0, 1.5)}), 2);
  results.CountCuts(Select(ZAtRest(), {}), -1);
  results.CountCuts(Select({}, {}), 1);
  EXPECT_EQ(results.cuts()[kAllEvents].events, 3);
  EXPECT_EQ(results.cuts()[kZWindow].events, 2);
  EXPECT_EQ(results.cuts()[kZWindow].weights.value(), 1);
  EXPECT_EQ(results.cuts()[kOneJet].events, 1);
  EXPECT_EQ(results.cuts()[kTwoJets].events, 0);
}

TEST(DatasetResults, MergesAndTravelsWithoutLoss) {
  const Selection selection = Select(ZAtRest(), {JetAt(50, 0, 1.5)});
  DatasetResults one, two, both;
  one.CountCuts(selection, 0.1);
  one.Fill(selection, 30, 0.1);
  two.CountCuts(selection, 0.2);
  two.Fill(selection, 40, 0.2);
  for (const double weight : {0.1, 0.2}) both.CountCuts(selection, weight);
  both.Fill(selection, 30, 0.1);
  both.Fill(selection, 40, 0.2);
  ByteWriter sent;
  one.Write(sent);
  ByteReader received(sent.bytes());
  DatasetResults merged = DatasetResults::Read(received);
  merged.Merge(two);
  ByteWriter left, right;
  merged.Write(left);
  both.Write(right);
  EXPECT_TRUE(left.bytes() == right.bytes());
}

}  // namespace
}  // namespace zjets
