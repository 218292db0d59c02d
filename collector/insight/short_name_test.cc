#include "collector/insight/short_name.h"

#include "gtest/gtest.h"

namespace crema {
namespace {

TEST(ShortName, LeavesOrdinaryNamesAlone) {
  EXPECT_EQ(ShortName("ttbar.root"), "ttbar.root");
  EXPECT_EQ(ShortName(""), "(none)");
}

TEST(ShortName, KeepsTheEndOfAPathFromAComponentOn) {
  const std::string path = "root://storage.example.org//eos/opendata/cms/" + std::string(60, 'x') + "/file_1.root";
  EXPECT_EQ(ShortName(path), "…/file_1.root");
}

TEST(ShortName, CutsBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 50; ++i) name += "é";
  name += "a";  // so that the last 60 bytes begin in the middle of one
  const std::string text = ShortName(name);
  EXPECT_EQ(text.substr(0, 3), "…");
  EXPECT_EQ(text.substr(3, 2), "é");
  EXPECT_LE(text.size(), 63u);
}

}  // namespace
}  // namespace crema
