#include "collector/exports/missing_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Try {
  std::string file;
  std::optional<int64_t> start, stop;
  AttemptState state = AttemptState::kOk;
};

const nlohmann::ordered_json kDocument = {{"quality", {{"summed_chunks", 0}}}};

ExportSource Source(const std::vector<Try>& tries, const nlohmann::ordered_json& document = kDocument) {
  return {document,
          [tries](const OnAttempt& on_attempt) {
            for (const Try& one : tries) {
              ChunkFact chunk;
              chunk.input = {"a", one.file, "Events", one.start, one.stop, ""};
              on_attempt({AttemptProcess(), one.state, chunk});
            }
            return absl::OkStatus();
          },
          nullptr, nullptr};
}

/// `file first-stop` of each; `file all`.
std::vector<std::string> Missing(const ExportSource& source) {
  const auto missing = FindMissing(source);
  EXPECT_TRUE(missing.ok()) << missing.status();
  std::vector<std::string> texts;
  for (const MissingFile& file : *missing) {
    for (const MissingRange& range : file.ranges) {
      texts.push_back(file.dataset + "/" + file.file + " " +
                      (range.has_value() ? std::to_string(range->first) + "-" + std::to_string(range->second) : "all"));
    }
  }
  return texts;
}

constexpr AttemptState kFailed = AttemptState::kFailed;

TEST(FindMissing, AnAttemptThatFailedAndWasNotRepeatedHasNoResult) {
  EXPECT_THAT(Missing(Source({{"f", 0, 10}, {"f", 10, 20, kFailed}, {"g", 0, 10, kFailed}, {"g", 0, 10}})),
              ElementsAre("a/f 10-20"));
}

TEST(FindMissing, WhatNeverEndedOrIsNotKnownHasNoResultEither) {
  EXPECT_THAT(Missing(Source({{"f", 0, 10, AttemptState::kLost},
                              {"f", 10, 20, AttemptState::kUnrecorded},
                              {"g", 0, 10, AttemptState::kRunning}})),
              ElementsAre("a/f 0-20", "a/g 0-10"));
}

TEST(FindMissing, EntriesCountHoweverTheyWereCut) {
  EXPECT_THAT(Missing(Source({{"f", 0, 100, kFailed}, {"f", 10, 20}, {"f", 15, 40}, {"f", 60, 100}})),
              ElementsAre("a/f 0-10", "a/f 40-60"));
}

TEST(FindMissing, AFileWithoutEntriesIsMeantAsAWhole) {
  EXPECT_THAT(Missing(Source({{"f", {}, {}, kFailed}, {"g", {}, {}, kFailed}, {"g", {}, {}}})), ElementsAre("a/f all"));
}

TEST(FindMissing, SummedChunksCannotBeTold) {
  const nlohmann::ordered_json document = {{"quality", {{"summed_chunks", 3}}}};
  EXPECT_THAT(std::string(FindMissing(Source({}, document)).status().message()), HasSubstr("3 chunks were summed"));
}

class Expected : public ::testing::Test {
 protected:
  ExportSource WithFileset(const std::string& text) {
    const std::string path = std::string(getenv("TEST_TMPDIR")) + "/fileset.json";
    std::ofstream(path) << text;
    ExportSource source = Source({{"f", 0, 10}});
    source.expected = path;
    return source;
  }
};

TEST_F(Expected, FilesThatNobodyTriedAreThereInEachFormOfAFileset) {
  EXPECT_THAT(Missing(WithFileset(R"({"a": ["f", "g"]})")), ElementsAre("a/g all"));
  EXPECT_THAT(Missing(WithFileset(R"({"a": {"files": ["f", "g"], "treename": "T"}})")), ElementsAre("a/g all"));
  const auto missing = FindMissing(WithFileset(R"({"a": {"files": {"g": "T", "h": {"object_path": "U"}}}})"));
  ASSERT_TRUE(missing.ok());
  ASSERT_EQ(missing->size(), 2u);
  EXPECT_EQ((*missing)[0].tree, "T");
  EXPECT_EQ((*missing)[1].tree, "U");
  EXPECT_THAT(Missing(WithFileset(R"({"b": ["f"]})")), ElementsAre("b/f all")) << "of another dataset";
  EXPECT_THAT(Missing(WithFileset("{}")), IsEmpty());
}

TEST_F(Expected, WhatIsNoFilesetIsAnErrorThatSaysWhere) {
  for (const char* text : {"", "[1]", R"({"a": 3})", R"({"a": [3]})"}) {
    const absl::Status status = FindMissing(WithFileset(text)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("fileset.json")) << text;
  }
  ExportSource source = Source({});
  source.expected = "/nowhere";
  EXPECT_EQ(FindMissing(source).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace crema
