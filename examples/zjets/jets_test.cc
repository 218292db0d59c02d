#include <cmath>
#include <set>
#include <vector>

#include "examples/zjets/clustering.h"
#include "examples/zjets/ghosts.h"
#include "examples/zjets/overlay.h"
#include "examples/zjets/pileup_subtraction.h"
#include "examples/zjets/random_bits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zjets {
namespace {

using testing::SizeIs;

Parton PartonAt(double pt, double rapidity, double phi, bool signal = true) {
  return {pt * std::cos(phi), pt * std::sin(phi), pt * std::sinh(rapidity), pt * std::cosh(rapidity), signal};
}

LheEvent EventWithParticles(std::initializer_list<std::pair<int, int>> ids_and_statuses) {
  LheEvent event;
  for (const auto& [id, status] : ids_and_statuses) event.particles.push_back({id, status, 10, 0, 0, 10});
  return event;
}

/// 50 events of one parton each, whose energy is the event's number.
PileupSample NumberedSample() {
  PileupSample sample;
  for (int i = 0; i < 50; ++i) sample.push_back({{1, 0, 0, static_cast<double>(i), false}});
  return sample;
}

std::vector<double> Energies(const std::vector<Parton>& partons) {
  std::vector<double> energies;
  for (const Parton& parton : partons) energies.push_back(parton.energy);
  return energies;
}

TEST(Overlay, TakesOutgoingQuarksAndGluonsOnly) {
  const LheEvent event = EventWithParticles({{21, -1}, {2, -1}, {23, 2}, {11, 1}, {-11, 1}, {-3, 1}, {21, 1}, {22, 1}});
  EXPECT_THAT(OutgoingPartons(event, true), SizeIs(2));
}

TEST(Overlay, AddsThatManyEventsToTheHardOne) {
  const std::vector<Parton> partons = Overlay(EventWithParticles({{21, 1}}), {"ckkwl", 0, 5, 0}, NumberedSample(), 60);
  ASSERT_THAT(partons, SizeIs(61));
  EXPECT_TRUE(partons.front().signal);
  for (std::size_t i = 1; i < partons.size(); ++i) EXPECT_FALSE(partons[i].signal);
}

TEST(Overlay, DependsOnTheEventAndOnNothingElse) {
  const auto draw = [](const EventId& id) { return Energies(Overlay({}, id, NumberedSample(), 20)); };
  const std::vector<double> reference = draw({"ckkwl", 0, 5, 0});
  EXPECT_EQ(draw({"ckkwl", 0, 5, 0}), reference);
  EXPECT_NE(draw({"ckkwl", 0, 6, 0}), reference);
  EXPECT_NE(draw({"ckkwl", 1, 5, 0}), reference);
  EXPECT_NE(draw({"ckkwl", 0, 5, 1}), reference);
  EXPECT_NE(draw({"mlm", 0, 5, 0}), reference);
}

TEST(Overlay, DrawsFromTheWholeSample) {
  const std::vector<double> drawn = Energies(Overlay({}, {"ckkwl", 0, 5, 0}, NumberedSample(), 1000));
  EXPECT_THAT(std::set<double>(drawn.begin(), drawn.end()), SizeIs(50));
}

TEST(Ghosts, CoverTheAreaOnce) {
  const Ghosts ghosts = MakeGhosts(0.02);
  EXPECT_NEAR(ghosts.area, 0.02, 0.001);
  EXPECT_NEAR(ghosts.area * static_cast<double>(ghosts.particles.size()), 2 * kGhostMaxRapidity * 2 * M_PI, 1e-9);
}

TEST(Clustering, MergesPartonsWithinTheRadiusAndNoOthers) {
  const std::vector<Jet> jets =
      ClusterJets({PartonAt(50, 0, 1), PartonAt(20, 0.3, 1), PartonAt(40, 0, 3)}, /*ghosts=*/{});
  ASSERT_THAT(jets, SizeIs(2));
  EXPECT_NEAR(jets[0].pt + jets[1].pt, 110, 0.5);
}

TEST(Clustering, AJetThatStandsAloneHasTheAreaOfItsCircle) {
  const std::vector<Jet> jets = ClusterJets({PartonAt(50, 0.7, 1)}, MakeGhosts(0.002));
  ASSERT_THAT(jets, SizeIs(1));
  EXPECT_NEAR(jets[0].area, M_PI * kJetRadius * kJetRadius, 0.03);
}

TEST(Clustering, GhostsChangeNoJet) {
  std::vector<Parton> partons;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const auto random = [i](std::uint64_t j) { return UnitInterval(MixBits(3 * i + j)); };
    partons.push_back(PartonAt(20 + 30 * random(0), 5 * random(1) - 2.5, 2 * M_PI * random(2)));
  }
  std::multiset<float> without, with;  // as floats: the last bits may depend on the order of merging
  for (const Jet& jet : ClusterJets(partons, {})) without.insert(static_cast<float>(jet.pt));
  for (const Jet& jet : ClusterJets(partons, MakeGhosts(0.02))) with.insert(static_cast<float>(jet.pt));
  EXPECT_EQ(with, without);
}

TEST(Clustering, TellsHowMuchOfAJetIsTheHardEvents) {
  const std::vector<Jet> jets = ClusterJets({PartonAt(30, 0, 1, true), PartonAt(10, 0.1, 1, false)}, {});
  ASSERT_THAT(jets, SizeIs(1));
  EXPECT_NEAR(jets[0].signal_fraction, 0.75, 1e-9);
}

TEST(PileupSubtraction, FindsTheDensityOfAnEvenSoup) {
  // one soft particle of 0.1 GeV in each of 6,000 cells of 0.00628: 15.9 GeV per unit area
  std::vector<Parton> partons;
  for (int row = 0; row < 60; ++row) {
    for (int column = 0; column < 100; ++column) {
      const auto random = [&](std::uint64_t i) {
        return UnitInterval(MixBits(static_cast<std::uint64_t>(row * 100 + column) * 2 + i));
      };
      partons.push_back(PartonAt(0.1, -3 + (row + random(0)) * 0.1, (column + random(1)) * 2 * M_PI / 100, false));
    }
  }
  EXPECT_NEAR(PileupDensity(ClusterJets(partons, MakeGhosts(0.02))), 0.1 / (0.1 * 2 * M_PI / 100), 1.6);
}

TEST(PileupSubtraction, CountsTheGapsBetweenJets) {
  const double area = M_PI * kJetRadius * kJetRadius;
  const double share = 2 * area / (2 * 2.6 * 2 * M_PI);
  const std::vector<Jet> jets = {{20, 0, 1, area, 0}, {20, 1, 3, area, 0}, {500, 2.9, 1, area, 0}};
  EXPECT_NEAR(PileupDensity(jets), 20 / area * share, 1e-9);
}

TEST(PileupSubtraction, WithoutAreasThereIsNothingToSubtract) {
  EXPECT_EQ(PileupDensity({{20, 0, 1, 0, 1}}), 0);
  EXPECT_EQ(PileupDensity({}), 0);
}

TEST(PileupSubtraction, LowersJetsByDensityTimesAreaAndDropsWhatIsNoMore) {
  std::vector<Jet> jets = {{40, 0, 1, 0.5, 1}, {9, 0, 3, 0.5, 0}};
  SubtractPileup(20, &jets);
  ASSERT_THAT(jets, SizeIs(1));
  EXPECT_EQ(jets[0].pt, 30);
}

}  // namespace
}  // namespace zjets
