#include "collector/idioms/text.h"

#include "collector/idioms/units.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

TEST(Text, BeginsAndEndsWithItselfAndWithNothing) {
  for (const std::string_view part : {"a.jsonl", ""}) {
    EXPECT_TRUE(BeginsWith("a.jsonl", part) && EndsWith("a.jsonl", part)) << part;
  }
  EXPECT_TRUE(BeginsWith("a.jsonl", "a.") && EndsWith("a.jsonl", ".jsonl"));
  EXPECT_FALSE(BeginsWith("a.jsonl", ".jsonl") || EndsWith("a.jsonl", "a."));
  EXPECT_FALSE(BeginsWith("a", "aa") || EndsWith("a", "aa"));
}

TEST(Text, IsTrimmedOnBothSidesOnly) {
  EXPECT_EQ(Trimmed(" \t two words\r\n"), "two words");
  EXPECT_EQ(Trimmed(" \n"), "");
  EXPECT_EQ(Trimmed(""), "");
}

TEST(Text, TheLastPartOfAPathIsAllOfItWithoutASlash) {
  EXPECT_EQ(LastPart("/data/a.root"), "a.root");
  EXPECT_EQ(LastPart("a.root"), "a.root");
  EXPECT_EQ(LastPart("data/"), "");
}

TEST(Seconds, ANanosecondIsABillionthOfOne) {
  EXPECT_EQ(Seconds(kSecondNs), 1);
  EXPECT_EQ(Seconds(-1'500'000'000), -1.5);
}

}  // namespace
}  // namespace crema
