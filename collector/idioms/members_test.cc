#include "collector/idioms/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crema {
namespace {

struct Inner {
  int first_ns = 0;
  int last_ns = 0;
};

TEST(Members, AreNamedAsTheirStructDeclaresThem) {
  static_assert(NameOfMember<&Inner::first_ns>() == "first_ns");
  static_assert(std::is_same_v<StructOf<&Inner::first_ns>, Inner>);
}

TEST(Members, OfAListHaveTheirNamesForKeys) {
  Inner inner;
  for (const auto& [key, member] : MemberList<&Inner::first_ns, &Inner::last_ns>::kNamed) {
    inner.*member = key == "first_ns" ? 1 : 2;
  }
  EXPECT_EQ(inner.first_ns, 1);
  EXPECT_EQ(inner.last_ns, 2);
}

TEST(Members, KeepLargerTakesTheLargerOfEach) {
  Inner inner = {1, 4};
  KeepLarger<&Inner::first_ns, &Inner::last_ns>(Inner{2, 3}, &inner);
  EXPECT_EQ(inner.first_ns, 2);
  EXPECT_EQ(inner.last_ns, 4);
}

TEST(Members, PartsOfAnArrayAreValuesAndArrays) {
  constexpr int kPart[] = {2, 3};
  EXPECT_THAT(Joined<int>(1, kPart, std::array{4, 5}), ::testing::ElementsAre(1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace crema
