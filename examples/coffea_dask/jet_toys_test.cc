#include "examples/coffea_dask/jet_toys.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/coffea_dask/kernel.h"
#include "gtest/gtest.h"

namespace jet_toys {
namespace {

Event TwoJets() { return {227291401, {{100, 1, 0}, {30, 0, 1}}, {40, 0}, {0, 50}}; }

TEST(Resolution, IsThatOfItsDescription) {
  EXPECT_NEAR(Resolution(30), 0.20, 0.01);
  EXPECT_NEAR(Resolution(100), 0.10, 0.01);
  EXPECT_NEAR(Resolution(1000), 0.04, 0.005);
}

TEST(DrawFactors, AreSpreadByEachJetsResolution) {
  constexpr std::size_t kToys = 200'000;
  const Event event = TwoJets();
  std::vector<double> factors;
  DrawFactors(event, kToys, &factors);
  for (std::size_t jet = 0; jet < 2; ++jet) {
    double sum = 0;
    double squares = 0;
    double with_next = 0;
    for (std::size_t toy = 0; toy < kToys; ++toy) {
      const double difference = factors[2 * toy + jet] - 1;
      sum += difference;
      squares += difference * difference;
      with_next += difference * (factors[2 * toy + 1 - jet] - 1);
    }
    const double resolution = Resolution(event.jets[jet].pt);
    const double error = resolution / std::sqrt(kToys);
    EXPECT_NEAR(sum / kToys, 0, 5 * error);
    EXPECT_NEAR(std::sqrt(squares / kToys), resolution, 5 * error);
    EXPECT_NEAR(with_next / kToys, 0, 5 * resolution * error);
  }
}

TEST(DrawFactors, DependOnTheEventsNumberAlone) {
  Event event = TwoJets();
  std::vector<double> first;
  std::vector<double> again;
  DrawFactors(event, 10, &first);
  DrawFactors(event, 10, &again);
  EXPECT_EQ(first, again);
  ++event.number;
  DrawFactors(event, 10, &again);
  EXPECT_NE(first, again);
}

TEST(DrawFactors, AreNeverNegative) {
  Event event = TwoJets();
  event.jets = {{5, 1, 0}};  // resolved to 72 %: one toy in twelve would be below nothing
  std::vector<double> factors;
  DrawFactors(event, 1000, &factors);
  EXPECT_EQ(*std::min_element(factors.begin(), factors.end()), 0);
}

TEST(Measure, AddsUpWhatWasMeasured) {
  const Observables observables = Measure(TwoJets());
  EXPECT_DOUBLE_EQ(observables.ht, 130);
  EXPECT_DOUBLE_EQ(observables.missing, 50);
  EXPECT_DOUBLE_EQ(observables.mt, std::sqrt(2 * 40 * 50));  // at right angles
}

TEST(Measure, HasMissingMomentumTakeUpTheDifference) {
  const double factors[] = {1, 0.5};
  const Observables observables = Measure(TwoJets(), factors);
  EXPECT_DOUBLE_EQ(observables.ht, 115);
  EXPECT_DOUBLE_EQ(observables.missing, 65);
}

TEST(Kernel, CountsEachEventOnceAndEachToyOnce) {
  const std::uint64_t number[] = {1, 2};
  const std::int64_t offsets[] = {0, 2, 3};
  const double jet_pt[] = {60, 45, 1e6};
  const double jet_phi[] = {0, 2, 1};
  const double pt[] = {40, 40};
  const double phi[] = {0.5, -0.5};
  const jet_toys_events events{2, number, offsets, jet_pt, jet_phi, pt, phi, pt, phi};
  const jet_toys_axis axis{10, 200};
  std::vector<std::int64_t> measured(33);
  std::vector<std::int64_t> varied(33);
  jet_toys_fill(&events, 100, &axis, measured.data(), varied.data());
  std::vector<std::int64_t> expected(33);
  expected[5] = 1;       // HT of 105 GeV
  expected[10] = 1;      // HT beyond the axis
  expected[11 + 2] = 2;  // missing momentum of 40 GeV
  expected[22] = 2;      // parallel to the lepton: no transverse mass
  EXPECT_EQ(measured, expected);
  for (std::size_t histogram = 0; histogram < 3; ++histogram) {
    std::int64_t entries = 0;
    for (std::size_t bin = 0; bin < 11; ++bin) entries += varied[11 * histogram + bin];
    EXPECT_EQ(entries, 200);
  }
}

}  // namespace
}  // namespace jet_toys
