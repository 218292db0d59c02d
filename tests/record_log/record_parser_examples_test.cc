// The collector reads the example lines of docs/record_log.md, and what the SDK writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "collector/records/record_fields.h"
#include "collector/records/record_parser.h"
#include "nlohmann/json.hpp"
#include "tests/record_log/format_page.h"
#include "tests/record_log/written_log.h"

namespace crema {
namespace testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

TEST(RecordParser, ReadsTheExamplesOfTheFormat) {
  const FormatPage page = ReadFormatPage("docs/record_log.md");
  EXPECT_THAT(page.examples, Not(IsEmpty()));
  RecordParser parser;
  for (const auto& [type, line] : page.examples) {
    EXPECT_EQ(parser.ParseCopy(line), ParseOutcome::kRecord) << type << ": " << parser.reason();
  }
}

TEST(RecordParser, ReadsWhatTheExampleOfAChunkSays) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(ReadFormatPage("docs/record_log.md").examples.at("chunk")), ParseOutcome::kRecord);
  const ChunkFact& chunk = parser.record().chunk;
  EXPECT_EQ(chunk.input.dataset, "zjets");
  EXPECT_EQ(chunk.events, 2000);
  EXPECT_EQ(chunk.helper_cpu_ns, 3006907);
  EXPECT_EQ(chunk.sections.size(), 5u);
  EXPECT_EQ(chunk.cuts.size(), 2u);
}

TEST(RecordParser, ReadsEveryLineThatTheSdkWrites) {
  const std::vector<std::string> lines = WriteLog(std::string(getenv("TEST_TMPDIR")) + "/log", WrittenAs{true, false});
  EXPECT_THAT(lines, Not(IsEmpty()));
  RecordParser parser;
  for (const std::string& line : lines) {
    EXPECT_EQ(parser.ParseCopy(line), ParseOutcome::kRecord) << parser.reason() << "\n" << line;
  }
}

/// The keys of the line are in the table, in its order.
template <size_t kFields, class Fact>
void ExpectInOrder(const std::string& line, const std::array<json::Field<Fact>, kFields>& fields) {
  size_t next = 0;
  const auto object = nlohmann::ordered_json::parse(line);
  for (const auto& [key, value] : object.items()) {
    while (next < kFields && fields[next].key != key) ++next;
    ASSERT_LT(next, kFields) << key << " in " << line;
  }
}

TEST(RecordParser, TakesTheShortCutForWhatTheSdkWrites) {
  const std::vector<std::string> lines = WriteLog(std::string(getenv("TEST_TMPDIR")) + "/quick", WrittenAs{});
  int quick = 0;
  for (const std::string& line : lines) {
    const std::string padded = line + std::string(RecordParser::kPadding, ' ');
    const auto view = std::string_view(padded).substr(0, line.size());
    ChunkFact chunk;
    BeginFact begin;
    if (line.rfind(R"({"type":"chunk")", 0) == 0) {
      EXPECT_TRUE(ReadPlainChunk(view, chunk)) << line;
      ExpectInOrder(line, json::kChunkFields);
      ++quick;
    } else if (line.rfind(R"({"type":"begin")", 0) == 0) {
      EXPECT_TRUE(ReadPlainBegin(view, begin)) << line;
      ExpectInOrder(line, json::kBeginFields);
      ++quick;
    }
  }
  EXPECT_EQ(quick, 10);
}

}  // namespace
}  // namespace testing
}  // namespace crema
