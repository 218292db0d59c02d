#include <string>

#include "collector/terminal/document_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TerminalStyle kStyle = {100, false, false};

std::string Text(const PaintedLine& line) {
  std::string text;
  for (const PaintedText& piece : line) text += piece.text;
  return text;
}

TextTable Fruit() {
  TextTable table;
  table.columns = {{"name", Align::kLeft, 0, true},
                   {"weight", Align::kRight, 0},
                   {"colour", Align::kLeft, 1},
                   {"price", Align::kRight, 2}};
  table.rows = {{{"a very long name of an apple, longer than most"}, {"120 g"}, {"red"}, {"1"}},
                {{"fig"}, {"8 g"}, {"violet"}, {"2"}}};
  return table;
}

TEST(LayOut, AlignsColumns) {
  const LaidOutTable laid_out = LayOut(Fruit(), 100, kStyle);
  ASSERT_EQ(laid_out.lines.size(), 3u);
  EXPECT_EQ(Text(laid_out.lines[0]), "name                                            weight  colour  price");
  EXPECT_EQ(Text(laid_out.lines[2]), "fig                                                8 g  violet      2");
  EXPECT_THAT(laid_out.left_out, IsEmpty());
}

TEST(LayOut, CutsElasticColumnsBeforeItLeavesOthersOut) {
  const LaidOutTable laid_out = LayOut(Fruit(), 50, kStyle);
  EXPECT_EQ(Text(laid_out.lines[1]), "a very long name of an app…   120 g  red         1");
  EXPECT_THAT(laid_out.left_out, IsEmpty());
}

TEST(LayOut, LeavesOutTheHighestRankFirstAndSaysSo) {
  EXPECT_THAT(LayOut(Fruit(), 42, kStyle).left_out, ElementsAre("price"));
  EXPECT_THAT(LayOut(Fruit(), 33, kStyle).left_out, ElementsAre("colour", "price"));
}

TEST(LayOut, LeavesOutRankZeroLastAndNeverTheFirstColumn) {
  EXPECT_EQ(Text(LayOut(Fruit(), 16, kStyle).lines[2]), "fig          8 g");
  EXPECT_EQ(Text(LayOut(Fruit(), 5, kStyle).lines[2]).substr(0, 3), "fig");
  EXPECT_EQ(LayOut(Fruit(), 5, kStyle).lines[2].size(), 1u);
}

TEST(LayOut, GivesEveryLineTheSameWidthWhateverTheNames) {
  TextTable table = Fruit();
  table.rows[0][0].text = "数据\x1b[31m e\u0301\n";
  const LaidOutTable laid_out = LayOut(table, 60, kStyle);
  for (const PaintedLine& line : laid_out.lines) EXPECT_EQ(ColumnsOf(Text(line)), laid_out.columns);
}

TEST(LayOut, HasNoHeaderLineWithoutHeaders) {
  TextTable table = Fruit();
  for (TableColumn& column : table.columns) column.header.clear();
  EXPECT_EQ(LayOut(table, 100, kStyle).lines.size(), 2u);
}

}  // namespace
}  // namespace crema
