#include "collector/idioms/sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Named {
  std::string name;
  int size = 0;
};

const std::vector<Named> kNamed = {{"b", 2}, {"a", 1}, {"c", 2}};

TEST(Sequences, SortByKeepsTheOrderOfEqualItems) {
  std::vector<Named> named = kNamed;
  SortLargestFirst(&named, &Named::size);
  EXPECT_THAT(Mapped<std::string>(named, &Named::name), ElementsAre("b", "c", "a"));
  SortBy(&named, [](const Named& of) { return of.name; });
  EXPECT_THAT(Mapped<std::string>(named, &Named::name), ElementsAre("a", "b", "c"));
}

TEST(Sequences, FindByFindsTheFirstItemOrNone) {
  ASSERT_NE(FindBy(kNamed, &Named::size, 2), nullptr);
  EXPECT_EQ(FindBy(kNamed, &Named::size, 2)->name, "b");
  EXPECT_EQ(FindBy(kNamed, &Named::name, "d"), nullptr);
}

TEST(Sequences, UpperMedianIsAValueOfTheList) {
  EXPECT_EQ(UpperMedian({}), 0);
  EXPECT_EQ(UpperMedian({3, 1, 2}), 2);
  EXPECT_EQ(UpperMedian({4, 1, 3, 2}), 3);
}

TEST(Sequences, PlacesWhereAreInsideTheList) {
  EXPECT_THAT(PlacesWhere(kNamed, [](const Named& of) { return of.size == 2; }), ElementsAre(&kNamed[0], &kNamed[2]));
  EXPECT_THAT(PlacesWhere(kNamed, [](const Named& of) { return of.size == 3; }), IsEmpty());
}

TEST(Sequences, SumOfAddsInTheTypeThatIsAskedFor) {
  EXPECT_EQ(SumOf<int64_t>(kNamed, &Named::size), 5);
  EXPECT_EQ(SumOf<double>(kNamed, [](const Named& of) { return of.size / 4.0; }), 1.25);
  EXPECT_EQ(SumOf<double>(std::vector<Named>(), &Named::size), 0);
}

TEST(Sequences, LargestByIsTheFirstOfTheLargestThatAreAboveNothing) {
  const auto [largest, size] = LargestBy(kNamed, &Named::size);
  EXPECT_EQ(largest, &kNamed[0]);
  EXPECT_EQ(size, 2);
  const auto [none, nothing] = LargestBy(kNamed, [](const Named& of) { return -of.size; });
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(nothing, 0);
}

TEST(Sequences, SortAndNumberSaysWhereEachItemWent) {
  std::vector<std::string> names = {"b", "c", "b", "a"};
  EXPECT_THAT(SortAndNumber(&names), ElementsAre(1, 2, 1, 0));
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(Indices<int>(3), ElementsAre(0, 1, 2));
}

TEST(Sequences, ListsGrowByAnIndexAndByOtherLists) {
  std::vector<std::string> names;
  GrownAt(&names, 1) = "b";
  GrownAt(&names, 0) = "a";
  Append(&names, std::vector<std::string>{"c", "d"});
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d"));
  std::vector<bool> flags;
  GrownAt(&flags, 1) = true;
  EXPECT_THAT(flags, ElementsAre(false, true));
}

TEST(Sequences, EraseWhereKeepsTheOthersInTheirOrder) {
  std::vector<Named> named = kNamed;
  EraseWhere(&named, [](const Named& of) { return of.size == 1; });
  EXPECT_THAT(Mapped<std::string>(named, &Named::name), ElementsAre("b", "c"));
}

TEST(Sequences, ValueOrIsTheOtherOneWhereTheMapHasNone) {
  const std::map<std::string, int> sizes = {{"a", 1}};
  EXPECT_EQ(ValueOr(sizes, "a", 7), 1);
  EXPECT_EQ(ValueOr(sizes, "b", 7), 7);
}

}  // namespace
}  // namespace crema
