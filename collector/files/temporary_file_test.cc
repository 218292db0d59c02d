#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "collector/files/output_directory.h"

namespace crema {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class TemporaryFileTest : public ::testing::Test {
 protected:
  TemporaryFileTest() : folder_(::testing::TempDir() + "temporary_file_test_" + std::to_string(getpid())) {
    fs::create_directory(folder_);
  }
  ~TemporaryFileTest() override { fs::remove_all(folder_); }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  fs::path folder_;
};

TEST_F(TemporaryFileTest, GetsItsNameOrIsGone) {
  { const auto unused = TemporaryFile::Make(folder_ / "a", 0666); }
  EXPECT_THAT(Names(), UnorderedElementsAre());
  auto file = TemporaryFile::Make(folder_ / "a", 0666);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Rename().ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
}

TEST_F(TemporaryFileTest, RemovesWhatAKilledProcessLeftAndNothingElse) {
  for (const char* name : {".a.crema-123", ".a.crema-123-0", ".b.crema-123", "a.crema-1", ".a"}) {
    std::ofstream(folder_ / name) << "text";
  }
  fs::create_directories(folder_ / ".a.crema-77/records");
  const auto file = TemporaryFile::Make(folder_ / "a", 0666);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(Names(), UnorderedElementsAre(".b.crema-123", "a.crema-1", ".a", file->path().filename().string()));
}

TEST_F(TemporaryFileTest, OfAProcessThatLivesStays) {
  const auto first = TemporaryFile::Make(folder_ / "a", 0777, /*directory=*/true);
  const auto second = TemporaryFile::Make(folder_ / "a", 0777, /*directory=*/true);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(Names().size(), 2u);
}

}  // namespace
}  // namespace crema
