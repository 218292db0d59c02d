// What sections are made of, from lines `stacks`.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/record_lines_fixture.h"
#include "collector/metrics/recorded/sampled_tables.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using MeasureFunctionsTest = MeasureTest;

Line Stacks(double seconds, const char* dataset, const char* section, const Line& stacks) {
  return {{"type", "stacks"},
          {"time_ns", At(seconds)},
          {"dataset", dataset == nullptr ? Line() : Line(dataset)},
          {"section", section},
          {"hertz", 100},
          {"functions", {{"process", "/a.py", 1}, {"fit", "/a.py", 20}, {"(other)", nullptr, nullptr}}},
          {"stacks", stacks}};
}

TEST_F(MeasureFunctionsTest, AddsUpTheInnermostFunctionsOfASectionAndDataset) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 0, 1),
                    Stacks(1, "zjets", "select", {{40, 40, 0, 1}, {20, 20, 0}, {15, 15, 0, 0, 1}}),
                    Stacks(2, "zjets", "select", {{5, 25, 0, 1}, {10, 10, 2}}),
                    Stacks(2, "ttbar", "select", Line::array({{7, 7, 0}})),
                    Stacks(2, nullptr, "", Line::array({{3, 3, 1}})), EndLine(10)});
  const Document document = Take();
  const Document& rows = document["functions"];
  ASSERT_EQ(rows.size(), 5u) << rows.dump(1);
  EXPECT_EQ(rows[0]["section"], "");
  EXPECT_TRUE(rows[0]["dataset"].is_null());
  EXPECT_EQ(rows[1]["dataset"], "ttbar");
  EXPECT_EQ(rows[1]["share"], 1);
  EXPECT_GT(rows[1]["share_error"], 0);  // all sightings were in one function; the next may be in another one
  EXPECT_EQ(rows[2]["function"], "fit");
  EXPECT_EQ(rows[2]["file"], "/a.py");
  EXPECT_EQ(rows[2]["line"], 20);
  EXPECT_EQ(rows[2]["samples"], 60);
  EXPECT_DOUBLE_EQ(rows[2]["share"].get<double>(), 60.0 / 90);
  // 90 samples, of which five were one sighting, tell as much as 90² / 110 sightings.
  EXPECT_NEAR(rows[2]["share_error"].get<double>(), 0.1056, 0.0001);
  EXPECT_EQ(rows[3]["function"], "process");
  EXPECT_EQ(rows[3]["samples"], 20);
  EXPECT_EQ(rows[4]["function"], "(other)");
  EXPECT_TRUE(rows[4]["file"].is_null());
  EXPECT_TRUE(rows[4]["line"].is_null());
}

TEST_F(MeasureFunctionsTest, SaysWhyNativeFunctionsAreMissingOrHaveNoNames) {
  Line native = Stacks(1, "zjets", "select", {{40, 40, 0}, {10, 10, 1}});
  native["modules"] = {{"prog", "/nowhere/prog", "00ff"}, {"libold.so", "/nowhere/libold.so", nullptr}};
  native["functions"] = {{"prog+0x1139", nullptr, nullptr}, {"libold.so+0x20", nullptr, nullptr}};
  Line refused = Stacks(1, nullptr, "", Line::array());
  refused["refused"] = "the program uses, or blocks, all real-time signals";
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 0, 1), native, refused, refused, EndLine(10)});
  const Document document = Take();
  const Document& rows = document["functions"];
  ASSERT_EQ(rows.size(), 2u) << rows.dump(1);
  EXPECT_EQ(rows[0]["function"], "prog+0x1139");
  EXPECT_EQ(rows[0]["file"], "/nowhere/prog");
  EXPECT_TRUE(rows[0]["line"].is_null());
  EXPECT_EQ(rows[0]["share"], 0.8);
  const std::string warnings = document["quality"]["warnings"].dump();
  EXPECT_NE(warnings.find("/nowhere/prog is not there, or is not a program or library; its functions have no names"),
            std::string::npos)
      << warnings;
  const std::string reason = "stacks of native functions are missing: the program uses, or blocks, all";
  const size_t first = warnings.find(reason);
  EXPECT_NE(first, std::string::npos) << warnings;
  EXPECT_EQ(warnings.find(reason, first + 1), std::string::npos) << warnings;
}

TEST_F(MeasureFunctionsTest, ChangesNoOtherFigure) {
  const std::vector<Line> lines = {ProcessLine(1, 0), ChunkLine(0, 0, 1), EndLine(10)};
  std::vector<Line> more = lines;
  more.insert(more.begin() + 2, Stacks(2, "zjets", "", Line::array({{3, 3, 1}})));
  Write("a.jsonl", lines);
  Document without = Take();
  Write("a.jsonl", more);
  Document with = Take();
  EXPECT_FALSE(with["functions"].empty());
  for (Document* document : {&without, &with}) {
    document->erase("functions");
    document->erase("provenance");
    (*document)["quality"].erase("records_read");
  }
  EXPECT_EQ(with.dump(1), without.dump(1));
}

TEST(FunctionTable, BeyondItsRowsKnowsNoShare) {
  FunctionTable table;
  const auto most = static_cast<int64_t>(FunctionTable::kMaxRows);
  for (int64_t i = 0; i < 3 * most; ++i) {
    const std::string name = "f" + std::to_string(i);
    StacksFact stacks;
    stacks.section = "select";
    stacks.functions = {{name, "/a.py", i}};
    stacks.stacks = {{2, 4, {0}}};
    table.Add(stacks);
  }
  int64_t dropped = 0;
  const std::vector<FunctionRow> rows = table.Finalize(&dropped);
  ASSERT_EQ(rows.size(), FunctionTable::kMaxRows + 1);
  EXPECT_EQ(dropped, 4 * most);
  EXPECT_EQ(rows.back().function, "(other)");
  EXPECT_EQ(rows.back().samples, 4 * most);
  EXPECT_EQ(rows.front().share, std::nullopt);
}

TEST(FunctionRows, ThatBecomeEqualByTheirNamesAreOne) {
  std::vector<FunctionRow> rows(3);
  for (FunctionRow& row : rows) row.section = "select";
  rows[0].function = rows[2].function = "fit(int)";
  rows[1].function = "draw()";
  rows[0].samples = rows[0].squares = 30;
  rows[1].samples = rows[1].squares = 50;
  rows[2].samples = rows[2].squares = 20;
  FinishFunctionRows(false, &rows);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].samples, 50);
  EXPECT_EQ(rows[1].samples, 50);
  EXPECT_EQ(rows[0].share, 0.5);
  EXPECT_NEAR(*rows[0].share_error, 0.0962, 0.0001);
}

TEST(FunctionRows, StateAnErrorThatCoversTheTruthInNinetyFiveOfAHundredRuns) {
  std::mt19937 random(7);
  for (const double truth : {0.02, 0.3, 0.6}) {
    for (const int64_t sightings : {50, 1000}) {
      constexpr int kRuns = 2000;
      int covered = 0;
      std::binomial_distribution<int64_t> seen(sightings, truth);
      for (int run = 0; run < kRuns; ++run) {
        std::vector<FunctionRow> rows(2);
        rows[0].function = "f";
        rows[1].function = "g";
        rows[0].samples = rows[0].squares = seen(random);
        rows[1].samples = rows[1].squares = sightings - rows[0].squares;
        FinishFunctionRows(false, &rows);
        const FunctionRow& f = rows[0].function == "f" ? rows[0] : rows[1];
        if (std::abs(*f.share - truth) <= *f.share_error) ++covered;
        if (sightings == 1000) {
          EXPECT_LE(*f.share_error, 0.04);
        }
      }
      EXPECT_GE(covered, 0.93 * kRuns) << "share " << truth << ", sightings " << sightings;
    }
  }
}

}  // namespace
}  // namespace crema
