#include "collector/idioms/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crema {
namespace {

struct Inner {
  int first_ns = 0;
};

TEST(Members, AreNamedAsTheirStructDeclaresThem) {
  static_assert(NameOfMember<&Inner::first_ns>() == "first_ns");
  static_assert(std::is_same_v<StructOf<&Inner::first_ns>, Inner>);
}

TEST(Members, PartsOfAnArrayAreValuesAndArrays) {
  constexpr int kPart[] = {2, 3};
  EXPECT_THAT(Joined<int>(1, kPart, std::array{4, 5}), ::testing::ElementsAre(1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace crema
