#include <sys/stat.h>

#include <map>
#include <string>

#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/sources/process_tree/fake_root_fixture.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

const char kHash[] = "0123456789abcdef0123456789abcdef01234567";
const char kOther[] = "fedcba9876543210fedcba9876543210fedcba98";

Environment Set(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

class SourceCommitTest : public testing::Test {
 protected:
  std::string In(const std::string& directory) { return FindSourceCommit(Set({}), root_.path() + directory).id; }

  FakeRoot root_;
};

TEST_F(SourceCommitTest, OwnVariableComesBeforeThoseOfCiSystemsAndTheseBeforeGit) {
  root_.Write("/.git/HEAD", kHash);
  const auto found = [&](std::map<std::string, std::string> variables) {
    return FindSourceCommit(Set(std::move(variables)), root_.path());
  };
  EXPECT_EQ(found({{"CREMA_COMMIT", " r123\n"}, {"GITHUB_SHA", kOther}}).id, "r123");
  EXPECT_EQ(found({{"CREMA_COMMIT", "r123"}}).source, "CREMA_COMMIT");
  EXPECT_EQ(found({{"CREMA_COMMIT", ""}, {"CI_COMMIT_SHA", kOther}}).id, kOther);
  EXPECT_EQ(found({{"CI_COMMIT_SHA", kOther}}).source, "CI_COMMIT_SHA");
  EXPECT_EQ(found({{"BUILDKITE_COMMIT", "HEAD"}}).id, kHash) << "a name is not a hash";
  EXPECT_EQ(found({}).source, "git");
  EXPECT_EQ(found({{"CREMA_COMMIT", std::string(1000, 'x')}}).id.size(), 100u);
}

TEST_F(SourceCommitTest, HeadIsFoundFromBelowByItsBranchLooseOrPacked) {
  root_.Write("/.git/HEAD", "ref: refs/heads/topic/one\n");
  root_.Write("/.git/refs/heads/topic/one", std::string(kHash) + "\n");
  root_.Write("/src/deep/x", "");
  EXPECT_EQ(In("/src/deep"), kHash);
  root_.Remove("/.git/refs");
  EXPECT_EQ(In("/src/deep"), "");
  root_.Write("/.git/packed-refs", std::string("# pack-refs with: peeled\n") + kOther + " refs/heads/topic/on\n" +
                                       kHash + " refs/heads/topic/one\n^" + kOther + "\n");
  EXPECT_EQ(In("/src/deep"), kHash);
}

TEST_F(SourceCommitTest, AWorktreeHasItsOwnHeadAndTheReferencesOfItsRepository) {
  root_.Write("/main/.git/HEAD", kOther);
  root_.Write("/main/.git/refs/heads/side", kHash);
  root_.Write("/main/.git/worktrees/side/HEAD", "ref: refs/heads/side");
  root_.Write("/main/.git/worktrees/side/commondir", "../..\n");
  root_.Write("/side/.git", "gitdir: ../main/.git/worktrees/side\n");
  EXPECT_EQ(In("/side"), kHash);
  EXPECT_EQ(In("/main"), kOther);
}

TEST_F(SourceCommitTest, WhatIsNoRepositoryOrIsDamagedTellsNothing) {
  root_.Write("/none/x", "");
  EXPECT_EQ(In("/none"), "");
  EXPECT_EQ(In("/missing"), "");
  for (const char* head : {"", "ref: refs/heads/unborn", "ref: refs/../../passwd", "ref: HEAD", "junk", "ref:"}) {
    root_.Write("/bad/.git/HEAD", head);
    EXPECT_EQ(In("/bad"), "") << head;
  }
  root_.Write("/loop/.git/HEAD", "ref: refs/heads/a");
  root_.Write("/loop/.git/refs/heads/a", "ref: refs/heads/a");
  EXPECT_EQ(In("/loop"), "");
  root_.Write("/pipe/x", "");
  ASSERT_EQ(mkfifo((root_.path() + "/pipe/.git").c_str(), 0600), 0);
  EXPECT_EQ(In("/pipe"), "") << "and nobody waits for a writer";
}

}  // namespace
}  // namespace crema
