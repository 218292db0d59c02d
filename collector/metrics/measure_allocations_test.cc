// What sections allocated, from lines `allocations`.
#include <string>

#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using MeasureAllocationsTest = MeasureTest;

Line Site(const char* of, const char* path, int64_t calls, int64_t bytes, int64_t live, int64_t peak, int64_t growth) {
  return {{"path", path},
          {"of", of},
          {"allocations", calls},
          {"allocated_bytes", bytes},
          {"live_bytes", live},
          {"peak_live_bytes", peak},
          {"live_growth_bytes", growth}};
}

Line Allocations(double seconds, bool last, const Line& sites) {
  int64_t calls = 0, bytes = 0, live = 0, peak = 0;
  for (const Line& site : sites) {
    calls += site["allocations"].get<int64_t>();
    bytes += site["allocated_bytes"].get<int64_t>();
    live += site["live_bytes"].get<int64_t>();
    peak += site["peak_live_bytes"].get<int64_t>();
  }
  return {{"type", "allocations"}, {"time_ns", At(seconds)},  {"last", last},
          {"reason", nullptr},     {"allocations", calls},    {"allocated_bytes", bytes},
          {"live_bytes", live},    {"peak_live_bytes", peak}, {"cost_ns", 50 * calls},
          {"sites", sites}};
}

Line ChunkWithSections() {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["sections"] = {SectionRowLine("read", 600'000'000, 400'000'000),
                       SectionRowLine("read/unzip", 200'000'000, 200'000'000)};
  Line helper = SectionRowLine("read/sort", 1000, 1000);
  helper["helper"] = true;
  chunk["sections"].push_back(helper);
  return chunk;
}

Line EndWithSection() {
  Line end = EndLine(10);
  end["sections"] = {SectionRowLine("set up", 1000, 1000)};
  return end;
}

const Document& AllocationRowOf(const Document& rows, const std::string& path, bool helper = false) {
  for (const Document& row : rows) {
    if (row["path"] == path && row["helper"] == helper) return row;
  }
  static const Document kNoRow;
  return kNoRow;
}

TEST_F(MeasureAllocationsTest, TheLastLineOfEachProcessCounts) {
  const Line early = {Site("chunk", "read", 1, 10, 10, 10, 0)};
  const Line of_one = {Site("chunk", "", 2, 20, 0, 20, 0),           Site("chunk", "read", 10, 1000, 100, 500, 60),
                       Site("helper", "read/sort", 3, 30, 0, 30, 0), Site("helper", "read", 4, 40, 5, 40, 0),
                       Site("process", "", 50, 5000, 2000, 2500, 0), Site("process", "set up", 6, 60, 60, 60, 0)};
  const Line of_other = {Site("chunk", "read", 5, 700, 200, 400, -20)};
  Write("a.jsonl", {ProcessLine(1, 0), Allocations(0, false, early), ChunkWithSections(), Allocations(9, true, of_one),
                    EndWithSection()});
  Write("b.jsonl", {ProcessLine(2, 0), ChunkWithSections(), Allocations(9, true, of_other), EndLine(10)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["allocations"], 80);
  EXPECT_EQ(document["metrics"]["allocated_bytes"], 6850);
  EXPECT_EQ(document["metrics"]["live_bytes"], 2365);
  EXPECT_EQ(document["metrics"]["peak_live_bytes"], 3150) << "of one process";
  EXPECT_EQ(document["quality"]["allocations_cost_s"], 80 * 50e-9);
  const Document& read = AllocationRowOf(document["sections"], "read");
  EXPECT_EQ(read["allocations"], 15);
  EXPECT_EQ(read["allocated_bytes"], 1700);
  EXPECT_EQ(read["live_bytes"], 300);
  EXPECT_EQ(read["peak_live_bytes"], 500);
  EXPECT_EQ(read["live_growth_bytes"], 60);
  EXPECT_EQ(AllocationRowOf(document["sections"], "read/unzip")["allocations"], 0);
  EXPECT_EQ(AllocationRowOf(document["sections"], "read/sort", true)["allocations"], 3);
  const Document& other = AllocationRowOf(document["sections"], "(other)");
  EXPECT_EQ(other["allocations"], 6) << "chunks outside sections, and helpers outside theirs";
  EXPECT_TRUE(other["peak_live_bytes"].is_null()) << "peaks of two do not add up";
  EXPECT_EQ(AllocationRowOf(document["process_sections"], "set up")["allocations"], 6);
}

TEST_F(MeasureAllocationsTest, AreNullWithTheReasonOfTheProcessThatHasNone) {
  Line without = Allocations(0, true, Line::array());
  for (const char* figure : {"allocations", "allocated_bytes", "live_bytes", "peak_live_bytes", "cost_ns"}) {
    without[figure] = nullptr;
  }
  without["reason"] = "the program has an allocator inside";
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithSections(),
                    Allocations(9, true, Line::array({Site("chunk", "read", 5, 700, 200, 400, 0)})), EndLine(10)});
  Write("b.jsonl", {ProcessLine(2, 0), without, ChunkWithSections(), EndLine(10)});
  const Document document = Take();
  EXPECT_TRUE(document["metrics"]["allocations"].is_null());
  EXPECT_EQ(document["quality"]["not_measured"]["live_bytes"], "the program has an allocator inside");
  EXPECT_TRUE(AllocationRowOf(document["sections"], "read")["allocations"].is_null());
}

TEST_F(MeasureAllocationsTest, AreNullWhereAProcessWasKilled) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithSections(),
                    Allocations(0.5, false, Line::array({Site("chunk", "read", 5, 700, 200, 400, 0)}))});
  const Document document = Take();
  EXPECT_TRUE(document["metrics"]["allocated_bytes"].is_null());
  EXPECT_NE(document["quality"]["not_measured"]["allocated_bytes"].get<std::string>().find("was killed"),
            std::string::npos);
}

TEST_F(MeasureAllocationsTest, LiveBytesAloneMayBeUnknown) {
  Line line = Allocations(9, true, Line::array({Site("chunk", "read", 5, 700, 200, 400, 0)}));
  for (Line* row : {&line, &line["sites"][0]}) (*row)["live_bytes"] = (*row)["peak_live_bytes"] = nullptr;
  line["sites"][0]["live_growth_bytes"] = nullptr;
  line["reason"] = "the end of some blocks was not seen";
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithSections(), line, EndLine(10)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["allocations"], 5);
  EXPECT_TRUE(document["metrics"]["live_bytes"].is_null());
  EXPECT_EQ(document["quality"]["not_measured"]["live_bytes"], "the end of some blocks was not seen");
  EXPECT_EQ(AllocationRowOf(document["sections"], "read")["allocated_bytes"], 700);
  EXPECT_TRUE(AllocationRowOf(document["sections"], "read")["live_bytes"].is_null());
}

TEST_F(MeasureAllocationsTest, ChangeNoOtherFigure) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithSections(), EndLine(10)});
  Document without = Take();
  Write("a.jsonl", {ProcessLine(1, 0), ChunkWithSections(),
                    Allocations(9, true, Line::array({Site("chunk", "read", 5, 700, 200, 400, 0)})), EndLine(10)});
  Document with = Take();
  EXPECT_NE(with["sections"], without["sections"]);
  for (Document* document : {&with, &without}) {
    for (Document& row : (*document)["sections"]) {
      for (const char* field :
           {"allocations", "allocated_bytes", "live_bytes", "peak_live_bytes", "live_growth_bytes"}) {
        row.erase(field);
        (*document)["metrics"].erase(field);
        (*document)["quality"]["not_measured"].erase(field);
      }
    }
    (*document)["quality"].erase("records_read");
    (*document)["quality"].erase("allocations_cost_s");
    document->erase("provenance");
  }
  EXPECT_EQ(with, without);
}

}  // namespace
}  // namespace crema
