// What a verdict or a chart belongs to is on the page: no finding leads nowhere, and no chart is left out in silence.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "collector/charts/chart.h"
#include "collector/diagnosis/verdict_table.h"
#include "collector/measurement/measurement.h"
#include "collector/plot_data/run_detail.h"
#include "collector/report/page_block.h"
#include "collector/report/report_page.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::string PageWithCharts(const Json& document, const std::vector<PageChart>& charts) {
  RunDetail detail;
  detail.why_no_attempts = "no chunk was recorded";
  return ReportPage(MeasurementOf(document), detail, charts, {{"light", Json::object()}, {"dark", Json::object()}});
}

Json WithVerdict(std::string_view id) {
  return {{"verdicts", {{{"id", id}, {"severity", "warning"}, {"sentence", "so it is"}, {"suggestion", "do this"}}}}};
}

/// Where the card of the only finding leads to, and the words of the link.
std::smatch LinkOfFinding(const std::string& page) {
  const std::regex link(R"re(do this <a href="#([a-z]*)">([^<]*)</a>)re");
  std::smatch found;
  std::regex_search(page, found, link);
  return found;
}

TEST(PagePlaces, EachVerdictLeadsToABlockOfThePage) {
  for (const VerdictRule& rule : VerdictTable()) {
    const std::string page = PageWithCharts(WithVerdict(rule.id), {});
    const std::smatch link = LinkOfFinding(page);
    ASSERT_FALSE(link.empty()) << rule.id;
    EXPECT_EQ(link[1].str(), rule.place) << rule.id;
    const std::string heading = link[1] == "overview" ? "id=\"overview\" aria-label=\"" + link[2].str() + "\""
                                                      : "<h2 id=\"" + link[1].str() + "\">" + link[2].str();
    EXPECT_TRUE(absl::StrContains(page, heading)) << rule.id << ": " << heading;
  }
}

TEST(PagePlaces, AVerdictOfAnotherVersionLeadsToTheOverview) {
  const std::string page = PageWithCharts(WithVerdict("not-yet-known"), {});
  EXPECT_EQ(LinkOfFinding(page)[1], "overview");
}

/// The document of a run whose page has the block: some blocks say in one line that their input was not recorded.
Json DocumentWith(std::string_view block) {
  if (block == "processes")
    return {{"metrics", {{"max_processes", 1}, {"tree_cpu_user", 1.0}}}};  // of a command without chunks
  if (block == "fine") return {{"fine", {{{"function", "select"}, {"activity", "compute"}, {"value", 1}}}}};
  if (block == "custom") return {{"custom_metrics", {{{"metric", "jets"}, {"sum", 1}}}}};
  return Json::object();
}

/// One that has something to draw.
PageChart ChartOf(const ChartKind& kind) {
  PageChart chart;
  chart.family = kind.family;
  chart.chart.name = std::string(kind.name.substr(0, kind.name.find('<')));
  chart.chart.spec = {{"mark", "bar"}};
  return chart;
}

TEST(PagePlaces, EachChartIsOnThePage) {
  for (const ChartKind& kind : ChartKinds()) {
    if (IsDrawnByThePage(kind.name) || kind.family == "Comparison") continue;  // a page compares in its own way
    const PageChart chart = ChartOf(kind);
    const std::string page = PageWithCharts(DocumentWith(BlockOfFamily(kind.family)), {chart});
    EXPECT_TRUE(absl::StrContains(page, "data-chart=\"" + chart.chart.name + "\"")) << kind.name;
  }
}

TEST(PagePlaces, ThePageNamesOnlyChartsThatThereAre) {
  std::set<std::string> known = {MakePredictionChart({}).name, MakeScalingChart({}).name};
  for (const ChartKind& kind : ChartKinds()) known.emplace(kind.name);
  for (const std::string_view name : ChartsThatThePageNames()) EXPECT_EQ(known.count(std::string(name)), 1U) << name;
}

}  // namespace
}  // namespace crema
