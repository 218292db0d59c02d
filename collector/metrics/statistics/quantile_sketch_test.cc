#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/statistics/quantiles.h"

namespace crema {
namespace {

const std::vector<double> kQuantiles = {0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};

QuantileSketch SketchOf(const std::vector<double>& values) {
  QuantileSketch sketch;
  for (double value : values) sketch.Add(value);
  return sketch;
}

// The hard cases: no spread, all the spread there is, long tails, both signs, and several scales at once.
std::vector<std::pair<std::string, std::vector<double>>> HardDistributions() {
  std::mt19937_64 random(20240607);
  std::vector<std::pair<std::string, std::vector<double>>> all;
  const auto fill = [&](const std::string& name, int count, auto draw) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(draw());
    all.emplace_back(name, std::move(values));
  };
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(0, 1);
  fill("constant", 1000, [] { return 42.125; });
  fill("one value", 1, [] { return -3.0; });
  fill("two points", 1001, [&] { return uniform(random) < 0.5 ? 1e-9 : 1e9; });
  fill("Pareto", 20000, [&] { return std::pow(1 - uniform(random), -1 / 0.7); });
  fill("log-normal", 20000, [&] { return std::exp(5 * normal(random)); });
  fill("negative", 5000, [&] { return -std::exp(3 * normal(random)); });
  fill("both signs", 9999, [&] { return 1e6 * normal(random); });
  fill("mostly zero", 5000, [&] { return uniform(random) < 0.9 ? 0.0 : normal(random); });
  fill("mixture", 30000, [&] {
    const double kind = uniform(random);
    if (kind < 0.4) return 1e-6 * uniform(random);
    if (kind < 0.8) return 3.0 + 1e-3 * normal(random);
    return kind < 0.9 ? -1e12 * uniform(random) : 0.0;
  });
  fill("powers of two", 1000, [&] { return std::ldexp(1.0, static_cast<int>(100 * normal(random))); });
  fill("whole double range", 2000,
       [&] { return std::ldexp(1 + uniform(random), static_cast<int>(2000 * uniform(random)) - 1000); });
  return all;
}

TEST(QuantileSketch, IsWithinOnePercentOfTheExactQuantileOnHardDistributions) {
  static_assert(QuantileSketch::kRelativeError <= 0.01, "docs/metrics.md promises it");
  for (auto& [name, values] : HardDistributions()) {
    const QuantileSketch sketch = SketchOf(values);
    EXPECT_EQ(sketch.count(), values.size()) << name;
    for (double p : kQuantiles) {
      const double exact = ExactQuantile(values, p);
      EXPECT_NEAR(*sketch.Quantile(p), exact, QuantileSketch::kRelativeError * std::abs(exact)) << name << " p " << p;
    }
  }
}

TEST(QuantileSketch, KeepsMinimumAndMaximumExactly) {
  for (const auto& [name, values] : HardDistributions()) {
    const QuantileSketch sketch = SketchOf(values);
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    EXPECT_EQ(sketch.min(), *least) << name;
    EXPECT_EQ(sketch.max(), *greatest) << name;
    EXPECT_EQ(sketch.Quantile(0), *least) << name;
    EXPECT_EQ(sketch.Quantile(1), *greatest) << name;
  }
}

TEST(QuantileSketch, GivesAConstantExactlyAtEveryQuantile) {
  const QuantileSketch sketch = SketchOf(std::vector<double>(100, 0.1));
  for (double p : kQuantiles) EXPECT_EQ(sketch.Quantile(p), 0.1) << p;
}

TEST(QuantileSketch, AnswersTheSameForEveryGroupingAndOrderOfMerges) {
  std::mt19937 random(7);
  for (auto& [name, values] : HardDistributions()) {
    const QuantileSketch whole = SketchOf(values);
    for (int round = 0; round < 5; ++round) {
      std::shuffle(values.begin(), values.end(), random);
      std::vector<QuantileSketch> parts(1 + random() % 20);
      for (double value : values) parts[random() % parts.size()].Add(value);
      while (parts.size() > 1) {  // any two, in any order, until one is left
        std::shuffle(parts.begin(), parts.end(), random);
        parts[0].Merge(parts.back());
        parts.pop_back();
      }
      EXPECT_EQ(parts[0].count(), whole.count());
      for (double p : kQuantiles) EXPECT_EQ(parts[0].Quantile(p), whole.Quantile(p)) << name << " p " << p;
    }
  }
}

TEST(QuantileSketch, CountsARepeatedValueAsThatManyValues) {
  QuantileSketch at_once;
  at_once.Add(2.5, 3);
  at_once.Add(7, 0);
  at_once.Add(-1, 2);
  const QuantileSketch one_by_one = SketchOf({2.5, -1, 2.5, -1, 2.5});
  EXPECT_EQ(at_once.count(), 5u);
  EXPECT_EQ(at_once.max(), 2.5);
  for (double p : kQuantiles) EXPECT_EQ(at_once.Quantile(p), one_by_one.Quantile(p)) << p;
}

TEST(QuantileSketch, MergesWithItself) {
  QuantileSketch sketch = SketchOf({1, 2, 1000, -5, 0});
  sketch.Merge(sketch);
  EXPECT_EQ(sketch.count(), 10u);
  EXPECT_EQ(sketch.Quantile(0.2), -5);
  EXPECT_EQ(sketch.Quantile(0.4), 0);
}

TEST(QuantileSketch, HasNoQuantileWhenEmpty) {
  QuantileSketch sketch;
  sketch.Merge(QuantileSketch());
  EXPECT_EQ(sketch.Quantile(0.5), std::nullopt);
  EXPECT_EQ(sketch.min(), std::nullopt);
  EXPECT_EQ(sketch.max(), std::nullopt);
}

TEST(QuantileSketch, RefusesValuesThatAreNotFinite) {
  QuantileSketch sketch;
  EXPECT_FALSE(sketch.Add(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(sketch.Add(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(sketch.Add(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(sketch.count(), 0u);
  EXPECT_TRUE(sketch.Add(1));
  EXPECT_EQ(sketch.Quantile(0.5), 1);
}

TEST(QuantileSketch, StaysWithinItsStatedMemory) {
  QuantileSketch times;
  for (double nanoseconds = 1; nanoseconds < 1e15; nanoseconds *= 1.001) times.Add(nanoseconds);
  EXPECT_LE(times.MemoryBytes(), 64 * 1024u);  // 50 octaves, and the vector's spare capacity
  QuantileSketch everything;
  for (int exponent = -1022; exponent <= 1023; ++exponent) {
    everything.Add(std::ldexp(1.0, exponent));
    everything.Add(-std::ldexp(1.0, exponent));
  }
  EXPECT_LE(everything.MemoryBytes(), 2'200'000u);
}

TEST(QuantileRank, IsCeilOfTheProductAndForgivesRounding) {
  EXPECT_EQ(QuantileRank(0.07, 100), 7u);  // 7.000000000000001 in binary
  EXPECT_EQ(QuantileRank(0.95, 20), 19u);
  EXPECT_EQ(QuantileRank(0.5, 7), 4u);
  EXPECT_EQ(QuantileRank(0.5, 8), 4u);
  EXPECT_EQ(QuantileRank(0, 8), 1u);
  EXPECT_EQ(QuantileRank(1, 8), 8u);
  EXPECT_EQ(QuantileRank(0.99, 1), 1u);
}

}  // namespace
}  // namespace crema
