#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "collector/measurement/measurement.h"
#include "collector/report/report_page.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers and units do not part at the end of a line.
std::string WithBlanks(std::string html) {
  constexpr std::string_view kNoBreak = "\u00a0";
  for (size_t at; (at = html.find(kNoBreak)) != std::string::npos;) html.replace(at, kNoBreak.size(), " ");
  return html;
}

TEST(SummaryFragment, IsOnePieceAlsoOfNothing) {
  for (const Json& document : {Json(), Json::object(), Json::array(), Json(1)}) {
    const std::string html = SummaryFragment(MeasurementOf(document));
    EXPECT_EQ(html.rfind("<div class=\"crema\"><style>", 0), 0U);
    EXPECT_EQ(html.substr(html.size() - 7), "</div>\n");
    EXPECT_TRUE(absl::StrContains(html, "Not known: "));
    EXPECT_TRUE(absl::StrContains(html, "Nothing is known about the quality"));
  }
}

TEST(SummaryFragment, ShowsWhatTheTerminalShows) {
  const Json document = Json::parse(R"({"headline": "All is well.", "metrics": {"wall_time": 30.25, "core_seconds": 4},
      "run": {"name": "zjets", "state": "finished"},
      "budget": [{"part": "compute", "group": "CPU in your code", "core_seconds": 3},
                 {"part": "idle", "group": "Idle", "core_seconds": 1}],
      "sections": [{"path": "read", "count": 1, "self": 2, "share": 0.5}],
      "datasets": [{"name": "ttbar", "chunks": 1}], "workers": [{"name": "h:1", "chunks": 1}],
      "cuts": [{"name": "all", "events": 3, "total_efficiency": 1}],
      "verdicts": [{"severity": "warning", "sentence": "It waits.", "suggestion": "Read less.", "saving": 0.25}],
      "quality": {"records_read": 7, "warnings": ["a clock is off"], "not_measured": {"balance": "no cores"}}})");
  const std::string html = WithBlanks(SummaryFragment(MeasurementOf(document)));
  for (const char* part :
       {"All is well.", "zjets", "✓ finished", "30.3 s", "metrics[&#39;wall_time&#39;] = 30.25", "not measured",
        "▲ watch</b> · ≈ 25 % of the core-seconds", "It waits.", "Read less.", "CPU in your code", "75.0 %", "25.0 %",
        "<bdi>read</bdi>", "<bdi>ttbar</bdi>", "<bdi>h:1</bdi>", "<bdi>all</bdi>", "records read", "a clock is off",
        "1 figure not measured"}) {
    EXPECT_TRUE(absl::StrContains(html, part)) << part;
  }
}

TEST(SummaryFragment, NamesStayText) {
  const std::string name = "</style><script>alert(1)</script>\xE2\x80\xAE";
  Json document = {{"headline", name}, {"run", {{"name", name}}}, {"metrics", {{"peak_memory_bytes", 9}}}};
  document["workers"] = {{{"name", name}, {"peak_memory_bytes", 9}, {"memory_limit_bytes", 10}}};
  document["sections"] = {{{"path", name}, {"self", 1}}};
  document["budget"] = {{{"group", name}, {"part", name}, {"core_seconds", 1}}};
  document["verdicts"] = {{{"sentence", name}, {"suggestion", name}, {"severity", name}}};
  document["quality"] = {{"warnings", {name}}, {"not_measured", {{"wall_time", name}}}};
  const std::string html = SummaryFragment(MeasurementOf(document));
  EXPECT_FALSE(absl::StrContains(html, "<script"));
  EXPECT_EQ(html.find("</style>"), html.rfind("</style>"));
  EXPECT_FALSE(absl::StrContains(html, "\xE2\x80\xAE"));
}

TEST(NeutralColour, LiesBetweenTheTwoOfTheTable) {
  EXPECT_EQ(NeutralColour("wait"), "#ca7600") << "lighter ones are lost on white";
  EXPECT_EQ(NeutralColour("overhead").size(), 7U);
  EXPECT_NE(NeutralColour("overhead"), "#6b2d5c");
  EXPECT_NE(NeutralColour("overhead"), "#e3c9f0");
}

}  // namespace
}  // namespace crema
