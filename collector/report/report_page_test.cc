// The page of a run of which little is known: every block is there, and says why it is empty.
#include "collector/report/report_page.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "collector/detail/run_detail.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

bool Holds(const std::string& html, std::string_view part) { return html.find(part) != std::string::npos; }

RunDetail NothingRecorded() {
  RunDetail detail;
  detail.why_no_attempts = "no chunk was recorded";
  return detail;
}

std::string PageOf(const Json& document, const RunDetail& detail) {
  return ReportPage(document, detail, {}, {{"light", Json::object()}, {"dark", Json::object()}});
}

/// From a block's heading to the next block.
std::string BlockOf(const std::string& page, const std::string& id) {
  const size_t from = page.find("aria-labelledby=\"" + id + "\"");
  if (from == std::string::npos) return "";
  return page.substr(from, page.find("<section class=\"block\"", from) - from);
}

TEST(ReportPage, EveryBlockWithoutDataSaysWhy) {
  const std::string page = PageOf(Json::object(), NothingRecorded());
  for (const char* block : {"timeline", "time", "workers", "chunks", "fine", "custom", "failures"}) {
    const std::string html = BlockOf(page, block);
    EXPECT_TRUE(Holds(html, "class=\"absent\"") || Holds(html, "class=\"quiet\"")) << block << ": " << html;
  }
  EXPECT_TRUE(Holds(BlockOf(page, "timeline"), "no chunk was recorded"));
}

TEST(ReportPage, AKeyFigureThatWasNotMeasuredIsADashWithTheReason) {
  const Json document = Json::parse(R"({"metrics": {"cpu_efficiency": null, "wall_time": 10},
      "quality": {"not_measured": {"cpu_efficiency": "no chunk has a CPU time"}}})");
  const std::string page = PageOf(document, NothingRecorded());
  const size_t tile = page.find("id=\"tile-cpu_efficiency\"");
  ASSERT_NE(tile, std::string::npos);
  const std::string html = page.substr(tile, page.find("</div>\n", tile) - tile);
  EXPECT_TRUE(Holds(html, "<span class=\"dash\" title=\"not measured\">–</span>")) << html;
  EXPECT_TRUE(Holds(html, "not measured: no chunk has a CPU time")) << html;
}

TEST(ReportPage, ACommandWithoutChunksHasTheFiguresOfItsProcessesAndOneLineForWhatGuardsAdd) {
  const Json document = Json::parse(R"({"metrics": {"wall_time": 10, "job_cpu_efficiency": 0.25, "max_processes": 4,
      "tree_peak_rss_bytes": 1048576, "tree_read_bytes": 2000000, "process_peak_rss_bytes": 524288},
      "definitions": {"wall_time": {"unit": "s"}, "tree_peak_rss_bytes": {"unit": "B"}, "tree_read_bytes": {"unit": "B"},
      "process_peak_rss_bytes": {"unit": "B"}, "max_processes": {"unit": "count"}},
      "quality": {"not_measured": {"tree_write_bytes": "the kernel does not count it"}}})");
  const std::string page = PageOf(document, NothingRecorded());
  EXPECT_TRUE(Holds(page, "data-key=\"metrics.job_cpu_efficiency\" value=\"0.25\">25\u00a0%<"));
  EXPECT_TRUE(Holds(page, "data-key=\"metrics.tree_peak_rss_bytes\" value=\"1048576\">1\u00a0MiB<"));
  EXPECT_TRUE(Holds(page, "data-key=\"metrics.tree_read_bytes\" value=\"2000000\">2\u00a0MB<"));
  EXPECT_TRUE(Holds(page, ">512\u00a0KiB</data> in the largest process"));
  EXPECT_TRUE(Holds(page, "not measured: the kernel does not count it"));
  EXPECT_TRUE(Holds(page, "id=\"without-chunks\""));
  for (const char* block : {"timeline", "time", "throughput", "workers", "chunks", "inputs", "custom", "failures"}) {
    EXPECT_EQ(BlockOf(page, block), "") << block;
  }
  EXPECT_FALSE(Holds(page, "href=\"#timeline\""));
}

/// A page with one chart that is folded, of `values` over ranks.
std::string PageWithChart(const std::vector<double>& values) {
  Json points = Json::array();
  for (size_t i = 0; i < values.size(); ++i) points.push_back({{"rank", i}, {"v", values[i]}});
  const Json axes = {{"x", {{"field", "rank"}, {"type", "quantitative"}}},
                     {"y", {{"field", "v"}, {"type", "quantitative"}}}};
  PageChart chart;
  chart.family = "Chunks";
  chart.chart.name = "made";
  chart.chart.title = "How many?";
  chart.chart.spec = {{"height", 600}, {"data", {{"values", points}}}, {"mark", "line"}, {"encoding", axes}};
  return ReportPage(Json::object(), NothingRecorded(), {chart}, {{"light", Json::object()}, {"dark", Json::object()}});
}

TEST(ReportPage, AChartWhoseValuesAreAllEqualIsASentence) {
  const std::string equal = PageWithChart({6, 6, 6});
  EXPECT_TRUE(Holds(equal, "<b>How many?</b> all values are equal: 6"));
  EXPECT_FALSE(Holds(equal, "data-chart=\"made\""));
  EXPECT_TRUE(Holds(PageWithChart({6, 6, 7}), "data-chart=\"made\""));
  EXPECT_TRUE(Holds(PageWithChart({6}), "data-chart=\"made\""));
}

TEST(ReportPage, RoomIsKeptForAChartThatIsNotYetDrawn) {
  const std::string page = PageWithChart({1, 2});
  EXPECT_TRUE(Holds(page, "data-height=\"284\""));
  EXPECT_TRUE(Holds(page, "\"height\":220"));
}

/// The key figure of that id, in a page with a baseline.
std::string TileOf(const Json& document, const Json& baseline, const std::string& key) {
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  const std::string page = ReportPage(document, NothingRecorded(), {}, themes, &baseline);
  const size_t from = page.find("id=\"tile-" + key + "\"");
  return from == std::string::npos ? page : page.substr(from, page.find("</div>\n", from) - from);
}

TEST(ReportPage, AKeyFigureSaysHowItDiffersFromTheBaselines) {
  const Json before = Json::parse(R"({"metrics": {"wall_time": 10, "total_events": 5, "cpu_efficiency": 0.5,
      "peak_memory_bytes": null, "balance": 0.9, "num_attempts": 9, "num_failed_attempts": 2}})");
  const Json now = Json::parse(R"({"metrics": {"wall_time": 8, "total_events": 5, "cpu_efficiency": 0.42,
      "peak_memory_bytes": 1024, "balance": 0.9, "num_attempts": 9, "num_failed_attempts": 3}})");
  EXPECT_TRUE(Holds(TileOf(now, before, "wall_time"),
                    "<p class=\"change better\">✓ -20.0\u00a0% from 10.0\u00a0s: better</p>"));
  EXPECT_TRUE(Holds(TileOf(now, before, "cpu_efficiency"),
                    "<p class=\"change worse\">✕ -8.0\u00a0points from 50\u00a0%: worse</p>"));
  EXPECT_TRUE(Holds(TileOf(now, before, "balance"), "<p class=\"change\">as in the baseline</p>"));
  EXPECT_TRUE(Holds(TileOf(now, before, "peak_memory_bytes"), "<p class=\"change\">not measured in the baseline</p>"));
  EXPECT_TRUE(Holds(TileOf(now, before, "num_failed_attempts"),
                    "<p class=\"change\">+1 from 2: within the noise, \u00b14.4</p>"));
  EXPECT_FALSE(Holds(PageOf(now, NothingRecorded()), "class=\"change"));
}

TEST(ReportPage, TheTimeOfOtherWorkIsNeitherBetterNorWorse) {
  const Json before =
      Json::parse(R"({"run": {"name": "<i>old</i>"}, "metrics": {"wall_time": 10, "total_events": 5}})");
  const Json now = Json::parse(R"({"metrics": {"wall_time": 8, "total_events": 4}})");
  EXPECT_TRUE(Holds(TileOf(now, before, "wall_time"),
                    "<p class=\"change\">-20.0\u00a0% from 10.0\u00a0s: of other events</p>"));
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  const std::string page = ReportPage(now, NothingRecorded(), {}, themes, &before);
  EXPECT_TRUE(Holds(page, "&lt;i&gt;old&lt;/i&gt;"));
  EXPECT_TRUE(Holds(page, "<strong>What should be equal is not: <bdi>events</bdi> 5 before, 4 now.</strong>"));
}

TEST(ReportPage, NamesInTheHeadStayTextWhateverBytesTheyHold) {
  const Json document = {{"run", {{"name", "</title><script>alert(1)</script>\xFF"}}}};
  const std::string page = PageOf(document, NothingRecorded());
  EXPECT_FALSE(Holds(page, "<script>alert"));
  EXPECT_FALSE(Holds(page, "\xFF"));
  EXPECT_TRUE(Holds(page, "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\uFFFD")) << page.substr(0, 3000);
}

TEST(ReportPage, IsKnownByItsBeginning) {
  EXPECT_TRUE(IsReportPage(PageOf(Json::object(), NothingRecorded()).substr(0, 1000)));
  EXPECT_FALSE(IsReportPage("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"));
}

TEST(ReportPage, WhereItWouldBeTooLargeItSaysWhatIsLeftOut) {
  Json document = {{"datasets", Json::array()}};
  for (int i = 0; i < 150; ++i)
    document["datasets"].push_back({{"name", "dataset " + std::to_string(i)}, {"chunks", 1}});
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  const std::string whole = ReportPage(document, NothingRecorded(), {}, themes);
  const std::string cut = ReportPage(document, NothingRecorded(), {}, themes, nullptr, 1000);
  EXPECT_LT(cut.size(), whole.size());
  EXPECT_TRUE(Holds(cut, "tables end after 50 rows"));
  EXPECT_FALSE(Holds(whole, "tables end after 50 rows"));
}

/// Fault [shown]: so many names that the charts of them would make the report too large to be opened
/// Shown: the report without the largest charts, which it names
TEST(ReportPage, LeavesOutTheLargestChartsBeforeItGetsTooLarge) {
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  std::vector<PageChart> charts(2);
  for (const size_t marks : {100, 100'000}) {
    Chart& chart = charts[marks > 100 ? 1 : 0].chart;
    chart.name = marks > 100 ? "many_marks" : "few_marks";
    chart.title = chart.name;
    chart.spec = {{"data", Json::array()}};
    for (size_t i = 0; i < marks; ++i) chart.spec["data"].push_back("section number " + std::to_string(i));
  }
  const std::string whole = ReportPage(Json::object(), NothingRecorded(), charts, themes);
  const size_t largest = whole.size() - 1'000'000;
  const std::string cut = ReportPage(Json::object(), NothingRecorded(), charts, themes, nullptr, largest);
  EXPECT_LE(cut.size(), largest);
  EXPECT_TRUE(Holds(cut, "the largest charts were left out"));
  EXPECT_TRUE(Holds(cut, "crema plot many_marks"));
  EXPECT_TRUE(Holds(cut, "spec-few_marks"));
}

}  // namespace
}  // namespace crema
