#include "collector/cli/shown_command.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace crema {
namespace {

using Words = std::vector<std::string>;

TEST(WithoutSecrets, HidesValuesAfterNamesOfSecrets) {
  EXPECT_EQ(WithoutSecrets({"get", "--token=abc", "--user=me"}), Words({"get", "--token=***", "--user=me"}));
  EXPECT_EQ(WithoutSecrets({"get", "--api-key", "-abc", "file"}), Words({"get", "--api-key", "***", "file"}));
  EXPECT_EQ(WithoutSecrets({"env", "MyPassword=a=b", "ls"}), Words({"env", "MyPassword=***", "ls"}));
  EXPECT_EQ(WithoutSecrets({"get", "--url=https://host/file?token=abc"}),
            Words({"get", "--url=https://host/file?token=***"}));
}

TEST(WithoutSecrets, LeavesTheRestAsItIs) {
  const Words command = {"./keyboard", "tokens.root", "--cut", "pt=20", ""};
  EXPECT_EQ(WithoutSecrets(command), command);
}

}  // namespace
}  // namespace crema
