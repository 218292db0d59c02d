#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "collector/server/live_service.h"

namespace crema {
namespace {

using ::testing::HasSubstr;

class TokenFile : public ::testing::Test {
 protected:
  TokenFile() : path_(::testing::TempDir() + "token_file_test_" + std::to_string(getpid())) { unlink(path_.c_str()); }
  ~TokenFile() override { unlink(path_.c_str()); }

  void Write(const std::string& text, mode_t mode) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  std::string Refusal() { return std::string(TokenOfFile(path_).status().message()); }

  std::string path_;
};

TEST_F(TokenFile, IsMadeForItsUserAloneAndKeepsItsToken) {
  const absl::StatusOr<std::string> made = TokenOfFile(path_);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(CanBeToken(*made));
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(*TokenOfFile(path_), *made);
}

TEST_F(TokenFile, MayBeWrittenByHand) {
  Write("my-own-token\n", 0600);
  EXPECT_EQ(*TokenOfFile(path_), "my-own-token");
  Write("", 0600);
  EXPECT_TRUE(CanBeToken(*TokenOfFile(path_))) << "whoever made it was killed before he wrote";
}

TEST_F(TokenFile, ThatOthersCanReadIsRefused) {
  Write("my-own-token\n", 0640);
  EXPECT_THAT(Refusal(), HasSubstr("mode 0640"));
}

TEST_F(TokenFile, ThatHoldsSomethingElseIsRefusedAndStays) {
  Write("dear diary, today", 0600);
  EXPECT_THAT(Refusal(), HasSubstr("holds no token"));
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "dear diary, today");
}

TEST_F(TokenFile, ThatIsNoFileIsRefused) {
  // not as `path_`, which is removed: run by root, that was the end of the machine's /dev/null
  EXPECT_FALSE(TokenOfFile(::testing::TempDir()).ok());
  EXPECT_FALSE(TokenOfFile("/dev/null").ok());
}

}  // namespace
}  // namespace crema
