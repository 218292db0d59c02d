#include <filesystem>
#include <fstream>

#include "collector/format/worker_names.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

TEST(DidYouMean, NamesWhatIsSpeltLikeTheWordOrContainsIt) {
  EXPECT_EQ(DidYouMean("shwo", {"run", "collect", "show"}), "; did you mean show?");
  EXPECT_EQ(DidYouMean("section", {"cuts", "sections", "process_sections"}),
            "; did you mean sections, process_sections?");
  EXPECT_EQ(DidYouMean("perfeto", {"folded", "perfetto"}), "; did you mean perfetto?");
}

TEST(DidYouMean, IsEmptyWhereNothingIsAlike) {
  EXPECT_EQ(DidYouMean("bogus", {"run", "show"}), "");
  EXPECT_EQ(DidYouMean("", {"collect"}), "");
  EXPECT_EQ(DidYouMean("show", {}), "");
}

TEST(DidYouMean, NamesNothingTwiceAndNotTheWordItself) {
  EXPECT_EQ(DidYouMean("select", {"select", "selects", "selects"}), "; did you mean selects?");
}

TEST(DidYouMeanEntry, NamesWhatIsBesideThePath) {
  const std::filesystem::path here = std::filesystem::path(testing::TempDir()) / "similar_entries";
  std::filesystem::create_directories(here / "second");
  std::ofstream(here / "log.jsonl") << "";
  for (const char* path : {"secnd", "secnd/", "./secnd//"}) {
    EXPECT_EQ(DidYouMeanEntry((here / path).string()), "; did you mean second?") << path;
  }
  EXPECT_EQ(DidYouMeanEntry((here / "log.json").string()), "; did you mean log.jsonl?");
  EXPECT_EQ(DidYouMeanEntry((here / "nightly").string()), "");
  EXPECT_EQ(DidYouMeanEntry((here / "nowhere/second").string()), "");
}

}  // namespace
}  // namespace crema
