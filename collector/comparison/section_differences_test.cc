#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/comparison/comparison.h"
#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

Measurement MeasurementOfSections(double select, double jets, double other) {
  return MeasurementOf({{"sections",
                         {{{"path", "select"}, {"helper", false}, {"self", select}},
                          {{"path", "select/jets/pairs"}, {"helper", false}, {"self", jets}},
                          {{"path", "select/jets/pairs"}, {"helper", true}, {"self", 50}},
                          {{"path", "(other)"}, {"helper", false}, {"self", other}}}}});
}

TEST(SectionDifferences, OfATreeAddUp) {
  const Measurement before = MeasurementOfSections(2, 3, 1), after = MeasurementOfSections(2.5, 5, 0.5);
  const std::vector<SectionDifference> tree = CompareSectionTrees({&before}, {&after});
  std::vector<std::string> paths;
  for (const SectionDifference& section : tree) paths.push_back(section.path);
  EXPECT_THAT(paths, testing::ElementsAre("select", "select/jets", "select/jets/pairs", "(other)"));
  EXPECT_EQ(tree[0].difference(), 2.5);
  EXPECT_EQ(tree[0].self_difference, 0.5);
  EXPECT_EQ(tree[1].difference(), 2) << "a section without a row of its own";
  EXPECT_EQ(tree[2].depth, 2);
  EXPECT_EQ(tree[0].difference() + tree[3].difference(), 2) << "roots: the time in chunks, 8 s and 6 s";
}

TEST(SectionDifferences, OfSeveralRunsAreOfTheirMeans) {
  const Measurement one = MeasurementOfSections(2, 3, 1), two = MeasurementOfSections(4, 3, 1),
                    after = MeasurementOfSections(4, 3, 1);
  EXPECT_EQ(CompareSectionTrees({&one, &two}, {&after})[0].difference(), 1);
}

}  // namespace
}  // namespace crema
