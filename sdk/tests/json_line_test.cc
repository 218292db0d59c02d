// JSON as it is written: escapes, UTF-8 and numbers.
#include "sdk/src/log/json_line.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace crema {
namespace internal {
namespace {

std::string AsString(std::string_view text) {
  JsonLine line;
  line.String(text);
  return std::string(line.text());
}

std::string AsNumber(double value) {
  JsonLine line;
  line.Number(value);
  return std::string(line.text());
}

constexpr const char* kBad = "\xef\xbf\xbd";

TEST(JsonLine, EscapesWhatJsonAsksFor) {
  EXPECT_EQ(AsString("plain / text"), "\"plain / text\"");
  EXPECT_EQ(AsString("\"\\"), "\"\\\"\\\\\"");
  EXPECT_EQ(AsString(std::string_view("\0\x1f\n\t", 4)), "\"\\u0000\\u001f\\u000a\\u0009\"");
  EXPECT_EQ(AsString("\x7f"), "\"\\u007f\"");
}

// Eight bytes at a time must give the same result as one by one: tests every byte, at every place of a word and after
// it.
TEST(JsonLine, WritesAByteTheSameWhereverItStands) {
  const auto as_part = [](std::string_view text) {
    JsonLine line;
    line.StringPart(text, true);
    return std::string(line.text());
  };
  for (int byte = 0; byte < 256; ++byte) {
    const std::string alone(1, static_cast<char>(byte));
    for (std::size_t place = 0; place < 19; ++place) {
      const std::string before(place, 'a');
      const std::string after(18 - place, '~');
      EXPECT_EQ(AsString(before + alone + after),
                '"' + before + AsString(alone).substr(1, AsString(alone).size() - 2) + after + '"');
      EXPECT_EQ(as_part(before + alone + after), before + as_part(alone) + after);
    }
  }
}

TEST(JsonLine, KeepsWellFormedUtf8) {
  // The first and last code point of each row of Unicode's table 3-7.
  for (const char* text :
       {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xe0\xbf\xbf", "\xe1\x80\x80", "\xec\xbf\xbf", "\xed\x80\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf0\xbf\xbf\xbf", "\xf1\x80\x80\x80",
        "\xf3\xbf\xbf\xbf", "\xf4\x80\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(AsString(text), "\"" + std::string(text) + "\"");
  }
}

TEST(JsonLine, ReplacesWhatIsNotUtf8) {
  struct Case {
    const char* text;
    int bad;  // bytes that are replaced
  };
  // One below and one above each row of the table, and sequences cut short.
  for (const Case& bad :
       {Case{"\x80", 1}, Case{"\xbf", 1}, Case{"\xc0\x80", 2}, Case{"\xc1\xbf", 2}, Case{"\xe0\x9f\xbf", 3},
        Case{"\xed\xa0\x80", 3}, Case{"\xed\xbf\xbf", 3}, Case{"\xf0\x8f\xbf\xbf", 4}, Case{"\xf4\x90\x80\x80", 4},
        Case{"\xf5\x80\x80\x80", 4}, Case{"\xff", 1}, Case{"\xc2", 1}, Case{"\xe2\x82", 2}, Case{"\xf0\x9f\x90", 3}}) {
    std::string expected = "\"";
    for (int i = 0; i < bad.bad; ++i) expected += kBad;
    EXPECT_EQ(AsString(bad.text), expected + "\"");
    EXPECT_EQ(AsString(std::string(bad.text) + "z"), expected + "z\"");
  }
  EXPECT_EQ(AsString("\xc2z"), "\"" + std::string(kBad) + "z\"");
}

TEST(JsonLine, EscapesSlashesInsidePathsOnly) {
  JsonLine line;
  line.StringPart("a/b", true);
  EXPECT_EQ(line.text(), "a%2Fb");
  EXPECT_EQ(AsString("a/b"), "\"a/b\"");
}

TEST(JsonLine, WritesTheShortestNumberThatReadsBack) {
  EXPECT_EQ(AsNumber(0), "0");
  EXPECT_EQ(AsNumber(0.1), "0.1");
  EXPECT_EQ(AsNumber(-2.5), "-2.5");
  EXPECT_EQ(AsNumber(1e300), "1e+300");
  for (const double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, 9007199254740993.0, -0.0}) {
    EXPECT_EQ(std::strtod(AsNumber(value).c_str(), nullptr), value);
  }
}

TEST(JsonLine, WritesNullForWhatJsonCannotSay) {
  EXPECT_EQ(AsNumber(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(AsNumber(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(AsNumber(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonLine, WritesWholeRangesOfIntegers) {
  JsonLine line;
  line.Integer(INT64_MIN);
  line.Raw(" ");
  line.Integer(INT64_MAX);
  line.Raw(" ");
  line.Unsigned(UINT64_MAX);
  EXPECT_EQ(line.text(), "-9223372036854775808 9223372036854775807 18446744073709551615");
}

TEST(JsonLine, FieldsOfUnknownValueAreNull) {
  JsonLine line;
  line.Field("a", std::optional<std::int64_t>());
  line.FieldText("b", "");
  line.FieldNumber("c", std::nullopt);
  EXPECT_EQ(line.text(), ",\"a\":null,\"b\":null,\"c\":null");
}

TEST(JsonLine, GrowsAsNeededAndIsUsedAgain) {
  JsonLine line;
  const std::string text(100000, 'x');
  line.String(text);
  EXPECT_EQ(line.text(), "\"" + text + "\"");
  line.Clear();
  line.String("short");
  EXPECT_EQ(line.text(), "\"short\"");
  EXPECT_FALSE(line.broken());
}

TEST(CutOnCodePoint, NeverSplitsOne) {
  EXPECT_EQ(CutOnCodePoint("abc", 3), "abc");
  EXPECT_EQ(CutOnCodePoint("abcd", 3), "abc");
  EXPECT_EQ(CutOnCodePoint("a€b", 4), "a€");
  EXPECT_EQ(CutOnCodePoint("a€b", 3), "a");
  EXPECT_EQ(CutOnCodePoint("a€b", 2), "a");
  EXPECT_EQ(CutOnCodePoint("🐈", 3), "");
  EXPECT_EQ(CutOnCodePoint("a", 0), "");
}

TEST(CutOnCodePoint, CutsWhatIsNotUtf8AtTheLimit) { EXPECT_EQ(CutOnCodePoint(std::string(10, '\x80'), 6).size(), 6u); }

}  // namespace
}  // namespace internal
}  // namespace crema
