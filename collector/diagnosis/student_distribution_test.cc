#include <gtest/gtest.h>

#include "collector/diagnosis/between_runs.h"

namespace crema {
namespace {

TEST(StudentDistribution, HasTheQuantilesOfItsTables) {
  // 95 % one-sided, from the table in Abramowitz and Stegun (26.10)
  EXPECT_NEAR(StudentQuantile(0.05, 1), 6.314, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.05, 2), 2.920, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.05, 3), 2.353, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.05, 4), 2.132, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.05, 5), 2.015, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.05, 30), 1.697, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.005, 7), 3.499, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.05, 1'000'000), 1.645, 1e-3);
}

TEST(StudentDistribution, QuantileAndProbabilityAreEachOthersInverse) {
  for (const size_t freedom : {1u, 2u, 3u, 8u, 9u, 101u}) {
    EXPECT_NEAR(StudentBeyond(-StudentQuantile(0.01, freedom), freedom), 0.02, 1e-6) << freedom;
  }
}

}  // namespace
}  // namespace crema
