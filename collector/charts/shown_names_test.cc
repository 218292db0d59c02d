#include <gtest/gtest.h>

#include <string>

#include "collector/charts/drawing.h"

namespace crema {
namespace {

TEST(ShownName, KeepsTheEndOfALongPath) {
  const std::string name = ShownName(std::string(10'000, 'x') + "/ttbar.root");
  EXPECT_EQ(name.substr(name.size() - 11), "/ttbar.root");
  EXPECT_EQ(name.rfind("…", 0), 0u);
  EXPECT_LE(name.size(), 62u);
}

TEST(ShownName, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(ShownName("Z→ℓℓ שלום </script>"), "Z→ℓℓ שלום </script>");
  EXPECT_EQ(ShownName(""), "(no name)");
}

TEST(ShownName, TurnsControlAndDirectionSignsIntoSpaces) {
  EXPECT_EQ(ShownName("a\tb\nc\x7F"), "a b c ");
  EXPECT_EQ(ShownName("\u202Egnp.exe\u2066\u061C\uFEFF"), " gnp.exe   ");
}

TEST(ShownName, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(ShownName("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(ShownName("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(ShownName("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
  EXPECT_EQ(ShownName("\xE2\x82"), "\uFFFD\uFFFD");            // torn
}

TEST(ShownNames, TellsApartWhatLooksAlike) {
  ShownNames names;
  const std::string first = names.Of("a" + std::string(100, 'x')), second = names.Of("b" + std::string(100, 'x'));
  EXPECT_NE(first, second);
  EXPECT_EQ(names.Of("a" + std::string(100, 'x')), first);
}

TEST(ShortestUniqueEnd, HasAsManyFoldersAsTellAFileApart) {
  const std::vector<std::string_view> paths = {"/store/a/x/1.root", "/store/b/x/1.root", "/store/a/x/2.root", "2",
                                               "root://host//d/3/", "x/1.root"};
  EXPECT_EQ(ShortestUniqueEnd(paths[0], paths), "a/x/1.root");
  EXPECT_EQ(ShortestUniqueEnd(paths[1], paths), "b/x/1.root");
  EXPECT_EQ(ShortestUniqueEnd(paths[2], paths), "2.root");
  EXPECT_EQ(ShortestUniqueEnd(paths[3], paths), "2");
  EXPECT_EQ(ShortestUniqueEnd(paths[4], paths), "3/");
  EXPECT_EQ(ShortestUniqueEnd(paths[5], paths), "x/1.root");
  EXPECT_EQ(ShortestUniqueEnd("", {""}), "");
}

}  // namespace
}  // namespace crema
