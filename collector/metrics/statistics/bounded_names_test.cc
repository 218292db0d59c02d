#include "collector/metrics/statistics/bounded_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace crema {
namespace {

// Counts how often each name comes up, as accumulators do: by index, renumbered when the table is full.
struct Counter {
  BoundedNames names{10};
  std::vector<int> counts;
  int refused = 0;

  void Add(const std::string& name, int times = 1) {
    const uint32_t index = names.Intern(name, HashOf(name));
    if (index == BoundedNames::kRefused) {
      refused += times;
      return;
    }
    counts.resize(names.size());
    counts[index] += times;
    if (names.full()) Apply(names.Prune());
  }
  void Apply(const Renumbering& renumbering) {
    renumbering.Apply(counts, [this](int count) { refused += count; });
  }
  void Merge(const Counter& other) {
    refused += other.refused;
    for (uint32_t i = 0; i < other.names.size(); ++i) Add(other.names.name(i), other.counts[i]);
  }
  std::map<std::string, int> Finish() {
    Apply(names.PruneAndSort());
    std::map<std::string, int> result{{"(other)", refused}};
    for (uint32_t i = 0; i < names.size(); ++i) result[names.name(i)] = counts[i];
    return result;
  }
};

TEST(BoundedNames, KeepsAllNamesUpToTheLimit) {
  Counter counter;
  for (int i = 0; i < 10; ++i) counter.Add("name" + std::to_string(i));
  const auto counts = counter.Finish();
  EXPECT_EQ(counts.size(), 11u);
  EXPECT_EQ(counts.at("(other)"), 0);
}

TEST(BoundedNames, KeepsTheSameNamesWithCompleteSumsForAnySplit) {
  std::mt19937 random(7);
  std::vector<std::string> uses;
  for (int name = 0; name < 300; ++name) {
    for (int use = 0; use <= name % 5; ++use) uses.push_back("name" + std::to_string(name));
  }
  Counter whole;
  for (const std::string& use : uses) whole.Add(use);
  const auto expected = whole.Finish();
  EXPECT_EQ(expected.size(), 11u);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(uses.begin(), uses.end(), random);
    std::vector<Counter> parts(4);
    for (const std::string& use : uses) parts[random() % 4].Add(use);
    parts[2].Merge(parts[3]);
    parts[0].Merge(parts[2]);
    parts[0].Merge(parts[1]);
    EXPECT_EQ(parts[0].Finish(), expected);
  }
}

TEST(BoundedNames, NumbersNamesInTheirOrderWhenAsked) {
  BoundedNames names(10);
  names.Intern("b", 1);
  names.Intern("a", 2);
  const Renumbering renumbering = names.PruneAndSort();
  EXPECT_EQ(names.name(0), "a");
  EXPECT_EQ(renumbering[0], 1u);
  EXPECT_EQ(renumbering[1], 0u);
  EXPECT_EQ(renumbering[BoundedNames::kRefused], BoundedNames::kRefused);
  EXPECT_EQ(names.Intern("b", 1), 1u);
}

TEST(StableHash, TellsWhereOneTextEndsAndTheNextBegins) {
  EXPECT_NE(StableHash().Add("ab").Add("c").value(), StableHash().Add("a").Add("bc").value());
  EXPECT_NE(StableHash().Add("").value(), StableHash().value());
  EXPECT_NE(StableHash().Add("a").value(), StableHash().Add(std::string_view("a\0", 2)).value());
}

TEST(StableHash, IsTheSameOnEveryMachineAndDay) {
  // Literal on purpose: parts that were read by different processes are merged by these values.
  EXPECT_EQ(StableHash().Add("ttbar").Add(int64_t{-1}).value(), 3140189235880025657u);
}

}  // namespace
}  // namespace crema
