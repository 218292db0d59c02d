// What is kept of a chunk, and how a helper's part is added to it.
#include "sdk/src/chunk/ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace crema {
namespace internal {
namespace {

std::string Metrics(Ledger* ledger) {
  JsonLine line;
  ledger->AppendMetrics(&line);
  return std::string(line.text());
}

std::string Cuts(Ledger* ledger) {
  JsonLine line;
  ledger->AppendCuts(&line);
  return std::string(line.text());
}

TEST(Ledger, BytesAreUnknownUntilTheyAreTold) {
  Ledger ledger;
  EXPECT_EQ(ledger.bytes_read(), -1);
  ledger.AddBytes(0, -1);
  EXPECT_EQ(ledger.bytes_read(), 0);
  EXPECT_EQ(ledger.bytes_uncompressed(), -1);
  ledger.AddBytes(5, 7);
  EXPECT_EQ(ledger.bytes_read(), 5);
  EXPECT_EQ(ledger.bytes_uncompressed(), 7);
}

TEST(Ledger, SumsThatOverflowStayAtTheLargest) {
  Ledger ledger;
  ledger.AddBytes(INT64_MAX - 1, -1);
  ledger.AddBytes(5, -1);
  EXPECT_EQ(ledger.bytes_read(), INT64_MAX);
  ledger.AddCut("all", INT64_MAX, nullptr);
  ledger.AddCut("all", 1, nullptr);
  EXPECT_EQ(Cuts(&ledger), ",\"cuts\":[{\"name\":\"all\",\"events\":9223372036854775807,\"weights\":null}]");
}

TEST(Ledger, FindsRowsWhateverTheirOrder) {
  Ledger ledger;
  for (const char* name : {"a", "b", "c", "c", "a", "b", "b", "a", "c"}) ledger.AddMetric(name, 1, "");
  EXPECT_EQ(Metrics(&ledger),
            ",\"metrics\":[{\"name\":\"a\",\"unit\":\"\",\"count\":3,\"sum\":3,\"min\":1,\"max\":1},"
            "{\"name\":\"b\",\"unit\":\"\",\"count\":3,\"sum\":3,\"min\":1,\"max\":1},"
            "{\"name\":\"c\",\"unit\":\"\",\"count\":3,\"sum\":3,\"min\":1,\"max\":1}]");
}

TEST(Ledger, MergingAddsWhatAnotherKept) {
  Ledger owner;
  Ledger helper;
  owner.AddMetric("pt", 5, "GeV");
  helper.AddMetric("pt", -1, "GeV");
  helper.AddMetric("only here", 2, "");
  const double weights = 1.5;
  helper.AddCut("all", 3, &weights);
  helper.AddBytes(10, -1);
  helper.SetAttribute("a", "b");
  helper.SawRss(1000);
  owner.MergeTables(helper);
  EXPECT_EQ(Metrics(&owner),
            ",\"metrics\":[{\"name\":\"pt\",\"unit\":\"GeV\",\"count\":2,\"sum\":4,\"min\":-1,\"max\":5,"
            "\"sketch\":[-65472,1,65616,1]},"
            "{\"name\":\"only here\",\"unit\":\"\",\"count\":1,\"sum\":2,\"min\":2,\"max\":2}]");
  EXPECT_EQ(Cuts(&owner), ",\"cuts\":[{\"name\":\"all\",\"events\":3,\"weights\":1.5}]");
  EXPECT_EQ(owner.bytes_read(), 10);
  EXPECT_EQ(owner.bytes_uncompressed(), -1);
  EXPECT_EQ(owner.rss_peak_bytes(), 1000);
}

TEST(Ledger, MergingAnEmptyOneChangesNothing) {
  Ledger owner;
  Ledger helper;
  owner.AddMetric("pt", 5, "GeV");
  const std::string before = Metrics(&owner);
  owner.MergeTables(helper);
  EXPECT_EQ(Metrics(&owner), before);
  EXPECT_EQ(owner.bytes_read(), -1);
  EXPECT_EQ(owner.rss_peak_bytes(), -1);
}

TEST(Ledger, MemoryKeepsTheReadingsOfItsLargestDelta) {
  Ledger ledger;
  const int row = ledger.MemoryRowIndex("", ledger.sections().root(), "jets");
  ledger.AddMemory(row, 100, 150);
  ledger.AddMemory(row, 150, 400);
  ledger.AddMemory(row, 400, 300);
  JsonLine line;
  ledger.AppendMemory(&line);
  EXPECT_EQ(line.text(),
            ",\"memory_sections\":[{\"path\":\"jets\",\"count\":3,\"delta_bytes\":200,\"min_bytes\":-100,"
            "\"max_bytes\":250,\"rss_start_bytes\":150,\"rss_stop_bytes\":400,\"peak_bytes\":400}]");
  EXPECT_EQ(ledger.rss_peak_bytes(), 400);
}

TEST(Ledger, ResetForgetsEverything) {
  Ledger ledger;
  ledger.AddMetric("pt", 5, "GeV");
  ledger.AddCut("all", 3, nullptr);
  ledger.AddBytes(1, 1);
  ledger.SawRss(10);
  ledger.CountDropped();
  ledger.Reset();
  EXPECT_EQ(Metrics(&ledger), ",\"metrics\":[]");
  EXPECT_EQ(Cuts(&ledger), ",\"cuts\":[]");
  EXPECT_EQ(ledger.bytes_read(), -1);
  EXPECT_EQ(ledger.rss_peak_bytes(), -1);
  EXPECT_EQ(ledger.dropped(), 0u);
}

}  // namespace
}  // namespace internal
}  // namespace crema
