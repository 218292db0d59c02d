#include "collector/exports/missing_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/exports/export_format.h"

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

const Measurement kMeasurement = {};

ExportSource Source(const std::vector<Try>& tries, const Measurement& measurement = kMeasurement) {
  return {measurement,
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
  Measurement measurement;
  measurement.quality.summed_chunks = 3;
  EXPECT_THAT(std::string(FindMissing(Source({}, measurement)).status().message()), HasSubstr("3 chunks were summed"));
}

std::vector<std::string> MissingOf(const std::vector<Try>& tries, std::vector<ExpectedFile> expected) {
  ExportSource source = Source(tries);
  source.expected = std::move(expected);
  return Missing(source);
}

TEST(FindMissing, ExpectedFilesThatNobodyTriedAreThere) {
  EXPECT_THAT(MissingOf({{"f", 0, 10}}, {{"a", "f", "", {}}, {"a", "g", "", {}}}), ElementsAre("a/g all"));
  EXPECT_THAT(MissingOf({{"f", 0, 10}}, {{"b", "f", "", {}}}), ElementsAre("b/f all")) << "of another dataset";
  EXPECT_THAT(MissingOf({{"f", 0, 10}}, {{"a", "g", "", {{5, 10}}}}), ElementsAre("a/g 5-10")) << "only these";
}

TEST(FindMissing, ExpectedEntriesOfATriedFileThatNoChunkBeganAreThere) {
  EXPECT_THAT(MissingOf({{"f", 0, 10}}, {{"a", "f", "", {{0, 10}, {10, 20}}}}), ElementsAre("a/f 10-20"));
  EXPECT_THAT(MissingOf({{"f", 10, 20, kFailed}}, {{"a", "f", "other", {{0, 30}}}}), ElementsAre("a/f 0-30"))
      << "one file, whatever the fileset calls the tree";
  EXPECT_THAT(MissingOf({{"f", {}, {}}}, {{"a", "f", "", {{0, 30}}}}), IsEmpty()) << "all of it has a result";
}

}  // namespace
}  // namespace crema
