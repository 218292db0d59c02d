#include "collector/metrics/statistics/flag_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace crema {
namespace {

TEST(FlagSort, SortsByTheKeyAndKeepsWhatBelongsToIt) {
  std::mt19937_64 random(1);
  for (const uint64_t range : {uint64_t{1}, uint64_t{2}, uint64_t{1000}, uint64_t{1} << 40, ~uint64_t{0}}) {
    for (const size_t count : {0, 1, 2, 100, 5000}) {
      using Pair = std::pair<uint64_t, uint64_t>;
      std::vector<Pair> values;
      for (size_t i = 0; i < count; ++i)
        values.emplace_back(random() % range + (range > 5000 ? 0 : uint64_t{1} << 50), i);
      std::vector<Pair> expected = values;
      FlagSort(values.data(), values.data() + values.size(), [](const Pair& value) { return value.first; });
      ASSERT_TRUE(
          std::is_sorted(values.begin(), values.end(), [](const Pair& a, const Pair& b) { return a.first < b.first; }))
          << range << " " << count;
      std::sort(values.begin(), values.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(values, expected) << "nothing is lost or made up";
    }
  }
}

}  // namespace
}  // namespace crema
