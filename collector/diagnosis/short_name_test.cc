#include "collector/diagnosis/words.h"
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

TEST(NamesIt, TakesNoPartOfANameForAnother) {
  EXPECT_TRUE(NamesIt("node:11 took 3 times as long.", "node:11"));
  EXPECT_FALSE(NamesIt("node:11 took 3 times as long.", "node:1"));
  EXPECT_FALSE(NamesIt("fat-node:1 took 3 times as long.", "node:1"));
  EXPECT_TRUE(NamesIt("Most of it on node:1.", "node:1"));
  EXPECT_FALSE(NamesIt("Most of it on node:1.cern.ch.", "node:1"));
  const std::string path = "root://storage.example.org//eos/opendata/cms/" + std::string(60, 'x') + "/file_1.root";
  EXPECT_TRUE(NamesIt("…/file_1.root took 2 times as long.", path));
}

}  // namespace
}  // namespace crema
