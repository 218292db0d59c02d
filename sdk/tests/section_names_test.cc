// Which text makes which section path.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

ChunkLine RecordedSections(const std::vector<std::string>& names) {
  return RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    for (const std::string& name : names) TrackSection section(name);
  });
}

TEST(SectionName, EqualTextAtDifferentAddressesIsOnePath) {
  const ChunkLine chunk = RecordedChunk([] {
    const char first[] = "read";
    const char second[] = "read";
    const std::string third = "read";
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 2; ++i) {
      { TrackSection section(first); }
      { TrackSection section(second); }
      { TrackSection section(third); }
      { TrackSection section(std::string_view("reading").substr(0, 4)); }
    }
  });
  EXPECT_EQ(Paths(chunk.sections), std::vector<std::string>{"read"});
  EXPECT_EQ(Section(chunk.sections, "read").count, 8);
}

TEST(SectionName, InAReusedBufferBindsByItsContent) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    char buf[32];
    for (int i = 0; i < 7; ++i) {
      std::snprintf(buf, sizeof buf, "step %d", i % 3);
      TrackSection section(buf);
      std::memset(buf, 'x', sizeof buf - 1);
    }
  });
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"step 0", "step 1", "step 2"}));
  EXPECT_EQ(Section(chunk.sections, "step 0").count, 3);
  EXPECT_EQ(Section(chunk.sections, "step 2").count, 2);
}

TEST(SectionName, SlashInsideANameIsWrittenPercent2F) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    TrackSection outer("a/b");
    TrackSection inner("c");
  });
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"a%2Fb", "a%2Fb/c"}));
}

TEST(SectionName, SurvivesQuotesBackslashesAndControlCharacters) {
  const std::string name = "say \"\\\n\t\x01\x7f\" = ½ 🐈";
  const ChunkLine chunk = RecordedSections({name});
  EXPECT_EQ(Paths(chunk.sections), std::vector<std::string>{name});
}

TEST(SectionName, BadUtf8BecomesReplacementCharacters) {
  // A lone continuation, an overlong form, a surrogate, a sequence cut short; the reader refuses what is no UTF-8.
  const ChunkLine chunk = RecordedSections({"a\x80z", "b\xc0\xafz", "c\xed\xa0\x80z", "d\xe2\x82"});
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"a" + bad + "z", "b" + bad + bad + "z",
                                                             "c" + bad + bad + bad + "z", "d" + bad + bad}));
}

TEST(SectionName, BeyondTheLimitIsCutOnACodePoint) {
  const std::string name = std::string(254, 'n') + "€uro";  // the euro sign's 3 bytes would end at 257
  const ChunkLine chunk = RecordedSections({std::string(300, 'x'), name, std::string(300, 'x') + "y"});
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{std::string(256, 'x'), std::string(254, 'n')}));
  EXPECT_EQ(Section(chunk.sections, std::string(256, 'x')).count, 2);
}

TEST(SectionName, TwoHundredNamesInAnyOrderAreCountedEach) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 200; ++i) {
        const int number = round % 2 == 0 ? i : 199 - i;
        TrackSection section("systematic " + std::to_string(number));
      }
    }
  });
  ASSERT_EQ(chunk.sections.size(), 200u);
  for (const SectionRow& row : chunk.sections) EXPECT_EQ(row.count, 4) << row.path;
  EXPECT_EQ(chunk.sections_dropped, 0);
}

TEST(SectionName, MayBeEmptyOrMissing) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 2; ++i) {
      { TrackSection section(""); }
      { TrackSection section(std::string_view{}); }
      { TrackSection section(static_cast<const char*>(nullptr)); }
    }
  });
  EXPECT_EQ(Paths(chunk.sections), std::vector<std::string>{""});
  EXPECT_EQ(chunk.sections[0].count, 6);
}

}  // namespace
}  // namespace testing
}  // namespace crema
