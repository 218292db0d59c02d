// Names that are difficult to write, too long, too many or too deep.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

const char* const kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Uses `name` wherever a text can be given.
void NameEverything(const std::string& name) {
  Span span(name);
  TrackSection outside(name);
  Chunk chunk(name, name, 0, 1);
  chunk.tree = chunk.pass = name;
  chunk.AddAttribute(name, name);
  TrackMetrics metrics(chunk);
  TrackSection section(name);
  TrackMemory memory(name);
  TrackActivity activity(name);
  RecordMetric(name, 1, name);
  RecordCut(name, 1);
  RecordActivity(name, 1, name);
  metrics.AddColumn(name);
  metrics.SetFileInfo(1, 2, 3);
  metrics.Fail(name);
}

/// Checks the names in a log. `shown` is the form of the name in the log, and `in_path` its form in a path.
void ExpectShown(const RecordLog& log, const std::string& shown, const std::string& in_path) {
  EXPECT_TRUE(log.malformed.empty());
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  EXPECT_EQ(chunk.dataset, shown);
  EXPECT_EQ(chunk.file, shown);
  EXPECT_EQ(chunk.tree, shown);
  EXPECT_EQ(chunk.pass, shown);
  EXPECT_EQ(chunk.error, shown);
  EXPECT_EQ(chunk.attributes, (std::map<std::string, std::string>{{shown, shown}}));
  EXPECT_EQ(Paths(chunk.sections), std::vector<std::string>{in_path});
  EXPECT_EQ(Memory(chunk, in_path + "/" + in_path).count, 1);
  EXPECT_EQ(Metric(chunk, shown, shown).sum, 1);
  EXPECT_EQ(chunk.cuts.at(0).name, shown);
  EXPECT_EQ(Activity(chunk, shown, shown).value, 1);
  EXPECT_EQ(chunk.columns, std::vector<std::string>{shown});
  ASSERT_EQ(log.spans.size(), 1u);
  EXPECT_EQ(log.spans[0].name, shown);
  EXPECT_EQ(log.files.at(0).file, shown);
  EXPECT_EQ(Paths(log.end->sections), std::vector<std::string>{in_path});
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [names]: quotes, backslashes, newlines and other control characters in every kind of name
/// Program: nothing
/// Recorded: the names as they are
TEST(NameFault, QuotesAndNewlines) {
  const std::string name = "\"}\n{\\\"type\\\":\t'\x01\x7f\r";
  const RecordLog log = LogWithFault([&] { NameEverything(name); });
  ExpectShown(log, name, name);
}

/// Fault [names]: invalid UTF-8 in every kind of name
/// Program: nothing
/// Recorded: the names, each wrong byte as U+FFFD
TEST(NameFault, InvalidUtf8) {
  const std::string shown = std::string("jets") + kReplacement + kReplacement + " pt";
  const RecordLog log = LogWithFault([&] { NameEverything("jets\xff\x80 pt"); });
  ExpectShown(log, shown, shown);
}

/// Fault [names]: names of 10 kB of every kind
/// Program: nothing
/// Recorded: the names, cut on a code point: at 256 bytes, those of data at 4,096
TEST(NameFault, TenKilobytes) {
  std::string name;
  while (name.size() < 10000) name += "ü";
  const RecordLog log = LogWithFault([&] { NameEverything(name); });
  EXPECT_TRUE(log.malformed.empty());
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  EXPECT_EQ(chunk.sections.at(0).path, name.substr(0, 256));
  EXPECT_EQ(chunk.metrics.at(0).name, name.substr(0, 256));
  EXPECT_EQ(chunk.cuts.at(0).name, name.substr(0, 256));
  EXPECT_EQ(chunk.columns->at(0), name.substr(0, 256));
  EXPECT_EQ(log.spans.at(0).name, name.substr(0, 256));
  EXPECT_EQ(chunk.dataset, name.substr(0, 4096));
  EXPECT_EQ(chunk.file, name.substr(0, 4096));
  EXPECT_FALSE(chunk.error->empty());
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [names]: 10,000 section names in a chunk
/// Program: nothing
/// Recorded: the first 1,000; the others stay in the self time around them, and count in `sections_dropped`
TEST(NameFault, TenThousandSectionNames) {
  const RecordLog log = LogWithFault([] {
    for (int chunk = 0; chunk < 3; ++chunk) {
      TrackMetrics metrics({"ttbar", "f", chunk, chunk + 1});
      TrackSection all("all");
      for (int i = 0; i < 10000; ++i) TrackSection section("section " + std::to_string(i));
    }
  });
  ASSERT_EQ(log.chunks.size(), 3u);
  for (const ChunkLine& chunk : log.chunks) {
    std::int64_t occurrences = chunk.sections_dropped;
    std::int64_t self_ns = 0;
    for (const SectionRow& row : chunk.sections) {
      occurrences += row.count;
      self_ns += row.self_ns;
    }
    EXPECT_EQ(occurrences, 1 + 10000);
    EXPECT_EQ(self_ns, Section(chunk.sections, "all").total_ns);
    EXPECT_EQ(chunk.sections.size(), 1000u);
  }
}

void NestSections(int depth) {
  if (depth == 0) return;
  TrackSection section("deeper");
  NestSections(depth - 1);
}

/// Fault [names]: sections 200 deep
/// Program: nothing
/// Recorded: 64 of them; those inside stay in the self time of the 64th, and count in `sections_dropped`
TEST(NameFault, TwoHundredDeep) {
  const RecordLog log = LogWithFault([] {
    TrackMetrics metrics("ttbar");
    NestSections(200);
    TrackSection after("after");
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.chunks[0].sections.size(), 64u + 1u);
  EXPECT_EQ(log.chunks[0].sections_dropped, 200 - 64);
  EXPECT_EQ(Section(log.chunks[0].sections, "after").count, 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
