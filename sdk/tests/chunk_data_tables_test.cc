// The data of a chunk, and how a helper's part is added to them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sdk/src/chunk/chunk_data.h"

namespace crema {
namespace internal {
namespace {

std::string Metrics(ChunkData* data) {
  JsonLine line;
  data->AppendMetrics(&line);
  return std::string(line.text());
}

std::string Cuts(ChunkData* data) {
  JsonLine line;
  data->AppendCuts(&line);
  return std::string(line.text());
}

TEST(ChunkDataTables, BytesAreUnknownUntilTheyAreTold) {
  ChunkData data;
  EXPECT_EQ(data.bytes_read(), -1);
  data.AddBytes(0, -1);
  EXPECT_EQ(data.bytes_read(), 0);
  EXPECT_EQ(data.bytes_uncompressed(), -1);
  data.AddBytes(5, 7);
  EXPECT_EQ(data.bytes_read(), 5);
  EXPECT_EQ(data.bytes_uncompressed(), 7);
}

TEST(ChunkDataTables, SumsThatOverflowStayAtTheLargest) {
  ChunkData data;
  data.AddBytes(INT64_MAX - 1, -1);
  data.AddBytes(5, -1);
  EXPECT_EQ(data.bytes_read(), INT64_MAX);
  data.AddCut("all", INT64_MAX, nullptr, nullptr);
  data.AddCut("all", 1, nullptr, nullptr);
  EXPECT_EQ(Cuts(&data), ",\"cuts\":[{\"name\":\"all\",\"events\":9223372036854775807,\"weights\":null}]");
}

TEST(ChunkDataTables, FindsRowsWhateverTheirOrder) {
  ChunkData data;
  for (const char* name : {"a", "b", "c", "c", "a", "b", "b", "a", "c"}) data.AddMetric(name, 1, "");
  EXPECT_EQ(Metrics(&data),
            ",\"metrics\":[{\"name\":\"a\",\"unit\":\"\",\"count\":3,\"sum\":3,\"min\":1,\"max\":1},"
            "{\"name\":\"b\",\"unit\":\"\",\"count\":3,\"sum\":3,\"min\":1,\"max\":1},"
            "{\"name\":\"c\",\"unit\":\"\",\"count\":3,\"sum\":3,\"min\":1,\"max\":1}]");
}

TEST(ChunkDataTables, MergingAddsWhatAnotherKept) {
  ChunkData owner;
  ChunkData helper;
  owner.AddMetric("pt", 5, "GeV");
  helper.AddMetric("pt", -1, "GeV");
  helper.AddMetric("only here", 2, "");
  const double weights = 1.5;
  helper.AddCut("all", 3, &weights, nullptr);
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

TEST(ChunkDataTables, MergingAnEmptyOneChangesNothing) {
  ChunkData owner;
  ChunkData helper;
  owner.AddMetric("pt", 5, "GeV");
  const std::string before = Metrics(&owner);
  owner.MergeTables(helper);
  EXPECT_EQ(Metrics(&owner), before);
  EXPECT_EQ(owner.bytes_read(), -1);
  EXPECT_EQ(owner.rss_peak_bytes(), -1);
}

TEST(ChunkDataTables, MemoryKeepsTheReadingsOfItsLargestDelta) {
  ChunkData data;
  const int row = data.MemoryRowIndex("", data.sections().root(), "jets");
  data.AddMemory(row, 100, 150);
  data.AddMemory(row, 150, 400);
  data.AddMemory(row, 400, 300);
  JsonLine line;
  data.AppendMemory(&line);
  EXPECT_EQ(line.text(),
            ",\"memory_sections\":[{\"path\":\"jets\",\"count\":3,\"delta_bytes\":200,\"min_bytes\":-100,"
            "\"max_bytes\":250,\"rss_start_bytes\":150,\"rss_stop_bytes\":400,\"peak_bytes\":400}]");
  EXPECT_EQ(data.rss_peak_bytes(), 400);
}

TEST(ChunkDataTables, ResetForgetsEverything) {
  ChunkData data;
  data.AddMetric("pt", 5, "GeV");
  data.AddCut("all", 3, nullptr, nullptr);
  data.AddBytes(1, 1);
  data.SawRss(10);
  data.CountDropped();
  data.Reset();
  EXPECT_EQ(Metrics(&data), ",\"metrics\":[]");
  EXPECT_EQ(Cuts(&data), ",\"cuts\":[]");
  EXPECT_EQ(data.bytes_read(), -1);
  EXPECT_EQ(data.rss_peak_bytes(), -1);
  EXPECT_EQ(data.dropped(), 0u);
}

}  // namespace
}  // namespace internal
}  // namespace crema
