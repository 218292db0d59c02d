#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "collector/exports/missing_ranges.h"
#include "fmt/format.h"

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<std::vector<ExpectedFile>> Read(const std::string& text) {
  const std::string path = std::string(getenv("TEST_TMPDIR")) + "/fileset.json";
  std::ofstream(path) << text;
  return ReadExpectedFileset(path);
}

/// `dataset/file tree first-stop ...` of each.
std::vector<std::string> Texts(const std::string& text) {
  const auto expected = Read(text);
  EXPECT_TRUE(expected.ok()) << expected.status();
  std::vector<std::string> texts;
  if (!expected.ok()) return texts;
  for (const ExpectedFile& file : *expected) {
    texts.push_back(fmt::format("{}/{} {}", file.dataset, file.file, file.tree));
    for (const auto& [first, stop] : file.ranges) texts.back() += fmt::format(" {}-{}", first, stop);
  }
  return texts;
}

TEST(ExpectedFileset, NamesAFileUnderAnySignature) {
  EXPECT_THAT(Texts(R"({"a": ["https://s3.org/b/f.root?X-Amz-Signature=abc&versionId=7", "root://me:pw@eos.org//f"]})"),
              ElementsAre("a/https://s3.org/b/f.root?versionId=7 ", "a/root://eos.org//f "));
  EXPECT_THAT(Texts(R"({"a": {"files": {"https://s3.org/f?token=abc": "Events"}}})"),
              ElementsAre("a/https://s3.org/f Events"));
}

TEST(ExpectedFileset, NamesFilesInEachFormThatCoffeaTakes) {
  EXPECT_THAT(Texts(R"({"a": ["f", "g"]})"), ElementsAre("a/f ", "a/g "));
  EXPECT_THAT(Texts(R"({"a": {"files": ["f"], "treename": "T"}})"), ElementsAre("a/f T"));
  EXPECT_THAT(Texts(R"({"a": {"files": {"f": "T", "g": {"object_path": "U"}, "h": null}, "treename": "V"}})"),
              ElementsAre("a/f T", "a/g U", "a/h V"));
  EXPECT_THAT(Texts("{}"), IsEmpty());
}

TEST(ExpectedFileset, ThatWasPreprocessedNamesEntries) {
  EXPECT_THAT(Texts(R"({"a": {"files": {
      "f": {"object_path": "T", "steps": [[0, 10], [10, 20]], "num_entries": 30, "uuid": "u"},
      "g": {"object_path": "T", "steps": null, "num_entries": 30, "uuid": null},
      "h": {"object_path": "T", "steps": null, "num_entries": null}}}})"),
              ElementsAre("a/f T 0-10 10-20", "a/g T 0-30", "a/h T"));
}

TEST(ExpectedFileset, WhatIsNoneIsAnErrorThatSaysWhere) {
  for (const char* text : {"", "[1]", R"({"a": 3})", R"({"a": [3]})"}) {
    const absl::Status status = Read(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("fileset.json")) << text;
  }
  EXPECT_EQ(ReadExpectedFileset("/nowhere").status().code(), absl::StatusCode::kNotFound);
}

TEST(ExpectedFileset, EntriesThatAreNoneAreAnErrorNotAWholeFile) {
  for (const char* steps : {"3", "[3]", "[[1]]", "[[1, 2, 3]]", "[[2, 1]]", "[[-1, 2]]", "[[0, 1.5]]"}) {
    const absl::Status status = Read(fmt::format(R"({{"a": {{"files": {{"f": {{"steps": {}}}}}}}}})", steps)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << steps;
    EXPECT_THAT(std::string(status.message()), HasSubstr("f of a")) << steps;
  }
  EXPECT_FALSE(Read(R"({"a": {"files": {"f": {"num_entries": "many"}}}})").ok());
}

}  // namespace
}  // namespace crema
