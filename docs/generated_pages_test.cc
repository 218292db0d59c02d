// docs/metrics.md, docs/verdicts.md and docs/plots.md say what the code's own tables say. After a change of these,
// write the pages again:
//   bazel run //docs:generated_pages_test -- --write
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "collector/charts/chart_table.h"
#include "collector/insight/verdict_table.h"
#include "collector/measurement/metrics_page.h"

namespace crema {
namespace {

bool g_write = false;

void ExpectPage(const std::string& name, const std::string& text) {
  // `bazel run` says where the sources are; a test sees its copy of them.
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string path = (workspace == nullptr ? "" : std::string(workspace) + "/") + "docs/" + name;
  if (g_write) std::ofstream(path) << text;
  std::ifstream file(path);
  const std::string written(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(written == text) << path
                               << " is not what the code says; bazel run //docs:generated_pages_test -- --write";
}

TEST(GeneratedPages, MetricsAreThoseOfTheCatalog) { ExpectPage("metrics.md", MetricsPage()); }

TEST(GeneratedPages, VerdictsAreThoseOfTheTable) { ExpectPage("verdicts.md", VerdictsPage()); }

TEST(GeneratedPages, PlotsAreThoseOfTheTable) { ExpectPage("plots.md", ChartsPage()); }

}  // namespace
}  // namespace crema

int main(int count, char** values) {
  testing::InitGoogleTest(&count, values);
  crema::g_write = count > 1 && std::string_view(values[1]) == "--write";
  return RUN_ALL_TESTS();
}
