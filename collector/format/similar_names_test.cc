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

}  // namespace
}  // namespace crema
