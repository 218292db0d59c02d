#include <gtest/gtest.h>

#include "collector/charts/chart.h"
#include "collector/comparison/comparison.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

TEST(SectionTreeChart, HasTheSectionsThatDifferAndSaysWhichDiffersMost) {
  const Chart chart = MakeSectionTreeChart({{"select", 0, 10, 13, 1},
                                            {"select/fit", 1, 4, 6, 2},
                                            {"select/cut", 1, 2, 2.001, 0.001},
                                            {"read", 0, 5, 4, -1}});
  ASSERT_FALSE(chart.spec.is_null());
  EXPECT_EQ(chart.subtitle, "select took 3.00 s more");
  const std::string spec = chart.spec.dump();
  EXPECT_NE(spec.find("select/fit"), std::string::npos);
  EXPECT_EQ(spec.find("select/cut"), std::string::npos);
  EXPECT_NE(spec.find(R"("path":"read","difference":-1.0,"self":-1.0,"kind":"less")"), std::string::npos) << spec;
}

TEST(SectionTreeChart, WithoutDifferencesThereIsAReason) {
  EXPECT_NE(MakeSectionTreeChart({{"select", 0, 10, 10, 0}}).reason, "");
}

}  // namespace
}  // namespace crema
