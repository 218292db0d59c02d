#include <string>
#include <vector>

#include "collector/cli/run_session.h"
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

TEST(WithoutSecrets, HidesPasswordsInAddresses) {
  EXPECT_EQ(WithoutSecrets({"curl", "https://me:abc@host/a@b:c"}), Words({"curl", "https://me:***@host/a@b:c"}));
  EXPECT_EQ(WithoutSecrets({"--files=root://me:a/b@host"}), Words({"--files=root://me:a/b@host"}))
      << "a slash ends the name of the host: there is no password";
  EXPECT_EQ(WithoutSecrets({"a,http://a:b@c,http://d:e@f"}), Words({"a,http://a:***"}))
      << "of what follows nothing, where there is another";
}

/// Fault [shown]: secrets on the command line of `crema run`: in headers, in addresses, behind names of users
/// Shown: `***`
TEST(WithoutSecrets, HidesWhatHeadersSayOfWhoAsks) {
  EXPECT_EQ(WithoutSecrets({"curl", "-H", "Authorization: Bearer abc"}), Words({"curl", "-H", "Authorization: ***"}));
  EXPECT_EQ(WithoutSecrets({"Authorization:", "Bearer", "abc", "host"}),
            Words({"Authorization:", "***", "***", "host"}));
  EXPECT_EQ(WithoutSecrets({"--header=Accept: a, Bearer abc"}), Words({"--header=Accept: a, Bearer ***"}));
  EXPECT_EQ(WithoutSecrets({"--auth", "a", "--cookie", "b", "--bearer", "c", "--author", "d"}),
            Words({"--auth", "***", "--cookie", "***", "--bearer", "***", "--author", "d"}));
  EXPECT_EQ(WithoutSecrets({"Cookie: a=b"}), Words({"Cookie: ***"}));
}

TEST(WithoutSecrets, HidesThePasswordBehindAUsersName) {
  EXPECT_EQ(WithoutSecrets({"curl", "-u", "me:abc", "--user", "me:abc", "--user=me:abc", "--user", "me"}),
            Words({"curl", "-u", "me:***", "--user", "me:***", "--user=me:***", "--user", "me"}));
}

TEST(WithoutSecrets, LeavesTheRestAsItIs) {
  const Words command = {"./keyboard", "tokens.root",        "--cut",      "pt=20",
                         "",           "tokens.root:Events", "https://h/", "basics"};
  EXPECT_EQ(WithoutSecrets(command), command);
}

}  // namespace
}  // namespace crema
