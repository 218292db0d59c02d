// Names of files, datasets and errors are anybody's: whatever they hold, they stay text.
#include "collector/report/html.h"

#include <gtest/gtest.h>

#include <string>

#include "collector/measurement/catalog.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(Escaped, MarkupStaysText) {
  EXPECT_EQ(Escaped("<img src=\"x\" onerror='a&b'>"), "&lt;img src=&quot;x&quot; onerror=&#39;a&amp;b&#39;&gt;");
}

TEST(Escaped, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(Escaped("a\xFF\xFE"
                    "b"),
            "a\uFFFD\uFFFDb");
  EXPECT_EQ(Escaped("cut \xE2\x82"), "cut \uFFFD\uFFFD");              // the beginning of a euro sign
  EXPECT_EQ(Escaped("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a lone surrogate
  EXPECT_EQ(Escaped("\xC0\xAFx"), "\uFFFD\uFFFDx");                    // an overlong slash
  EXPECT_EQ(Escaped("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond Unicode
  EXPECT_EQ(Escaped("é € 😀"), "é € 😀");
}

TEST(Escaped, ControlCharactersAreShownAndLineEndsAreBlanks) {
  EXPECT_EQ(Escaped("a\tb\nc"), "a b c");
  EXPECT_EQ(Escaped(std::string("a\0b\x1B[31m", 8)), "a\uFFFDb\uFFFD[31m");
  EXPECT_EQ(Escaped("\xC2\x85"), "\uFFFD");
}

TEST(Escaped, SignsThatTurnTheDirectionAreShown) {
  for (const char* sign : {"\u202A", "\u202E", "\u2066", "\u2069"}) EXPECT_EQ(Escaped(sign), "\uFFFD");
  EXPECT_EQ(Escaped("\u2029\u202F\u2065\u206A…"), "\u2029\u202F\u2065\u206A…");
}

TEST(Name, IsIsolatedAndAnEmptyOneIsSaid) {
  EXPECT_EQ(Name("ttbar"), "<bdi>ttbar</bdi>");
  EXPECT_EQ(Name(""), "<bdi class=\"none\">(unnamed)</bdi>");
}

TEST(Name, ALongOneIsCutAndWholeInItsTitle) {
  const std::string name = "<" + std::string(100, 'x') + "end";
  const std::string html = Name(name, 12);
  EXPECT_NE(html.find("title=\"&lt;" + std::string(100, 'x') + "end\""), std::string::npos) << html;
  EXPECT_NE(html.find(">&lt;xx…xxxxxend</bdi>"), std::string::npos) << html;
}

TEST(Name, CutsBetweenCodePoints) {
  std::string name;
  for (int i = 0; i < 40; ++i) name += "é";
  EXPECT_EQ(Name(name, 10).find("\uFFFD"), std::string::npos);
}

TEST(PathName, ShowsTheFileAndHasThePathInItsTitle) {
  EXPECT_EQ(PathName("root://host//data/a.root"), "<bdi title=\"root://host//data/a.root\">a.root</bdi>");
  EXPECT_EQ(PathName("a.root"), "<bdi>a.root</bdi>");
}

TEST(Figure, HoldsTheValueWithAllItsDigits) {
  EXPECT_EQ(Figure("metrics.wall_time", 0.1 + 0.2, "0.3 s"),
            "<data data-key=\"metrics.wall_time\" value=\"0.30000000000000004\">0.3\u00a0s</data>");
}

TEST(Term, LinksToTheGlossaryWhereItHasTheKey) {
  Measurement measurement;
  measurement.metrics.Set("fine_metrics_coverage", 1.0);
  EXPECT_EQ(Term(measurement, "fine_metrics_coverage", "Coverage"),
            "<a class=\"term\" href=\"#term-fine_metrics_coverage\" title=\"The share of Dask&#39;s own compute "
            "seconds of tasks for which fine metrics inside the same tasks (by prefix) account. If these come to more "
            "than Dask&#39;s seconds, quality.warnings says so. Tasks of other executors than Dask&#39;s threads are "
            "left out: Dask meters nothing inside them.\">Coverage</a>");
  EXPECT_EQ(Term(measurement, "made_up", "A & B"), "A &amp; B");
}

TEST(Pill, ASignAndAWordGoWithTheColour) {
  EXPECT_EQ(Pill(Mark::kWatch), "<span class=\"pill watch\">▲ watch</span>");
  EXPECT_EQ(Pill(Mark::kBad, "<failed>"), "<span class=\"pill bad\">✕ &lt;failed&gt;</span>");
}

TEST(Bar, IsNeverWiderThanItsCellNorLessThanNothing) {
  EXPECT_NE(Bar(7, "cpu").find("width=\"100.00%\""), std::string::npos);
  EXPECT_NE(Bar(-1, "cpu").find("width=\"0.00%\""), std::string::npos);
  EXPECT_NE(Bar(0.0 / 0.0, "cpu").find("width=\"0.00%\""), std::string::npos);
}

TEST(ScriptJson, CannotEndItsScriptElement) {
  const std::string text = ScriptJson({{"name", "</script><!--"}});
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(Json::parse(text)["name"], "</script><!--");
}

TEST(ScriptJson, TakesBytesThatAreNoUtf8) { EXPECT_EQ(Json::parse(ScriptJson({"a\xFF"}))[0], "a\uFFFD"); }

}  // namespace
}  // namespace crema
