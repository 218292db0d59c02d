#include "collector/terminal/terminal_box.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::ElementsAre;

const TerminalStyle kUnicode = {100, false, false};
const TerminalStyle kAscii = {100, false, true};

TEST(DisplayText, KeepsLettersThatAreOneColumnWide) {
  EXPECT_EQ(DisplayText("Z→ℓℓ Übung ηφ день", kUnicode), "Z→ℓℓ Übung ηφ день");
  EXPECT_EQ(DisplayText("p_T ≥ 30 GeV", kUnicode), "p_T ≥ 30 GeV");
}

TEST(DisplayText, TakesAwayWhatCouldSteerTheTerminal) {
  EXPECT_EQ(DisplayText("\x1b[31mred\x07\x9b", kUnicode), "?[31mred??");
  EXPECT_EQ(DisplayText("line\nbreak\ttab", kUnicode), "line break tab");
  EXPECT_EQ(DisplayText("\u202eright to left\u202c", kUnicode), "right to left");
}

TEST(DisplayText, ReplacesWhatIsNotOneColumnWide) {
  EXPECT_EQ(DisplayText("数据 🚀", kUnicode), "?? ?");
  EXPECT_EQ(DisplayText("e\u0301", kUnicode), "e");
}

TEST(DisplayText, SurvivesBadUtf8) {
  EXPECT_EQ(DisplayText("\xff\xc3_\xe2\x82", kUnicode), "??_??");
  EXPECT_EQ(DisplayText("\xc0\xaf\xed\xa0\x80", kUnicode), "?????");
  EXPECT_EQ(DisplayText("\xf0\x9f", kUnicode), "??");
}

TEST(DisplayText, SpellsSignsInAscii) {
  EXPECT_EQ(DisplayText("≥ 70 % · 4 × µs – …", kAscii), ">= 70 % - 4 x us - ...");
  EXPECT_EQ(DisplayText("✓ Ü", kAscii), "OK ?");
}

TEST(DisplayText, PutsTheSourceIntoCommandsThatNameNone) {
  TerminalStyle style;
  style.source = "'my run' --run 7";
  const std::string text =
      "See crema show --table chunks --failed. crema export RUN --to chunks; crema show --table quality, crema show x.";
  const std::string complete =
      "See crema show 'my run' --run 7 --table chunks --failed. crema export 'my run' --run 7 --to chunks; crema show "
      "'my run' --run 7 --table quality, crema show x.";
  EXPECT_EQ(DisplayText(text, style), complete);
  EXPECT_EQ(DisplayText(complete, style), complete);
  EXPECT_EQ(DisplayText(text, kUnicode), text);
}

TEST(DisplayText, IsIdempotent) {
  const std::string hostile = "\x1b[0m≥\xff 数 e\u0301\u202e…✓\t";
  for (const TerminalStyle& style : {kUnicode, kAscii}) {
    const std::string once = DisplayText(hostile, style);
    EXPECT_EQ(DisplayText(once, style), once);
  }
}

/// Fault [shown]: names with the escape sequences of terminals in them, in lists and in messages
/// Shown: `?` in their place
TEST(PlainLine, TakesAwayWhatCouldSteerTheTerminalAndKeepsLetters) {
  EXPECT_EQ(PlainLine("\x1b[31mred\x07 \u009b\u202ex\n\xff"), "?[31mred? ??x ?");
  EXPECT_EQ(PlainLine("/data/数据/größe–🚀"), "/data/数据/größe–🚀");
}

TEST(Cut, MarksWhereItCut) {
  EXPECT_EQ(Cut("background", 10, kUnicode), "background");
  EXPECT_EQ(Cut("background", 9, kUnicode), "backgrou…");
  EXPECT_EQ(Cut("background", 9, kAscii), "backgr...");
  EXPECT_EQ(Cut("background", 1, kUnicode), "…");
  EXPECT_EQ(Cut("background", 2, kAscii), "..");
  EXPECT_EQ(Cut("background", 0, kUnicode), "");
  EXPECT_EQ(Cut("background", -3, kUnicode), "");
}

TEST(CutFront, KeepsTheEnd) {
  EXPECT_EQ(CutFront("/data/größe.root", 11, kUnicode), "…größe.root");
  EXPECT_EQ(CutFront("größe.root", 10, kUnicode), "größe.root");
}

TEST(Pad, FillsToTheWidthCountingCodePoints) {
  EXPECT_EQ(Pad("µs", 4, Align::kRight, kUnicode), "  µs");
  EXPECT_EQ(Pad("µs", 4, Align::kLeft, kUnicode), "µs  ");
  EXPECT_EQ(ColumnsOf(Pad("数据数据数据", 4, Align::kLeft, kUnicode)), 4);
}

TEST(Wrap, BreaksAtSpacesButNotBetweenANumberAndItsUnit) {
  EXPECT_THAT(Wrap("of 12 056 core-seconds 33 % were", 14, kUnicode),
              ElementsAre("of 12 056", "core-seconds", "33 % were"));
}

TEST(Wrap, BreaksAWordThatIsLongerThanALine) {
  EXPECT_THAT(Wrap("see /a/very/long/path:12", 10, kUnicode), ElementsAre("see", "/a/very/lo", "ng/path:12"));
}

TEST(Wrap, OfNothingIsNoLine) { EXPECT_THAT(Wrap("  ", 10, kUnicode), ElementsAre()); }

}  // namespace
}  // namespace crema
