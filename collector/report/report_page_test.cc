// The page of a run of which little is known: every block is there, and says why it is empty.
#include "collector/report/report_page.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "collector/measurement/measurement.h"
#include "collector/plot_data/run_detail.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

RunDetail NothingRecorded() {
  RunDetail detail;
  detail.why_no_attempts = "no chunk was recorded";
  return detail;
}

std::string PageOf(const Json& document, const RunDetail& detail) {
  return ReportPage(MeasurementOf(document), detail, {}, {{"light", Json::object()}, {"dark", Json::object()}});
}

/// From a block's heading to the next block.
std::string BlockOf(const std::string& page, const std::string& id) {
  const size_t from = page.find("\" aria-labelledby=\"" + id + "\"");  // not in a rule of the style
  if (from == std::string::npos) return "";
  return page.substr(from, page.find("<section class=\"block\"", from) - from);
}

TEST(ReportPage, EveryBlockWithoutDataSaysWhy) {
  const std::string page = PageOf(Json{{"run", {{"engine", "dask"}}}}, NothingRecorded());
  for (const char* block : {"timeline", "time", "workers", "chunks", "fine", "custom", "failures"}) {
    const std::string html = BlockOf(page, block);
    EXPECT_TRUE(absl::StrContains(html, "class=\"absent\"") || absl::StrContains(html, "class=\"quiet\""))
        << block << ": " << html;
  }
  EXPECT_TRUE(absl::StrContains(BlockOf(page, "timeline"), "no chunk was recorded"));
  EXPECT_EQ(BlockOf(PageOf(Json::object(), NothingRecorded()), "fine"), "") << "only engines keep these books";
}

TEST(ReportPage, WhatIsSentBetweenWorkersIsNoWorkOfTasks) {
  const Json document = Json::parse(R"({"run": {"engine": "dask"}, "fine": [
      {"context": "p2p", "worker": "w", "activity": "shuffle", "unit": "seconds", "value": 5},
      {"context": "execute", "worker": "w", "function": "f", "activity": "compute", "unit": "seconds", "value": 2}]})");
  const std::string html = BlockOf(PageOf(document, NothingRecorded()), "fine");
  const size_t between = html.find("Sent between workers, by ");
  ASSERT_NE(between, std::string::npos) << html;
  EXPECT_EQ(html.substr(0, between).find("shuffle"), std::string::npos);
  EXPECT_NE(html.substr(between).find("shuffle"), std::string::npos);
}

TEST(ReportPage, AnExitStatusIsShownWhereNothingSaysHowTheRunEnded) {
  const std::string html = BlockOf(PageOf(Json{{"run", {{"exit_status", 3}}}}, NothingRecorded()), "environment");
  EXPECT_TRUE(absl::StrContains(html, ">exit status 3<")) << html;
}

TEST(ReportPage, AKeyFigureThatWasNotMeasuredIsADashWithTheReason) {
  const Json document = Json::parse(R"({"metrics": {"cpu_efficiency": null, "wall_time": 10},
      "quality": {"not_measured": {"cpu_efficiency": "no chunk has a CPU time"}}})");
  const std::string page = PageOf(document, NothingRecorded());
  const size_t tile = page.find("id=\"tile-cpu_efficiency\"");
  ASSERT_NE(tile, std::string::npos);
  const std::string html = page.substr(tile, page.find("</div>\n", tile) - tile);
  EXPECT_TRUE(absl::StrContains(html, "<span class=\"dash\" title=\"not measured\">–</span>")) << html;
  EXPECT_TRUE(absl::StrContains(html, "not measured: no chunk has a CPU time")) << html;
}

TEST(ReportPage, ACommandWithoutChunksHasTheFiguresOfItsProcessesAndOneLineForWhatGuardsAdd) {
  const Json document = Json::parse(R"({"metrics": {"wall_time": 10, "job_cpu_efficiency": 0.25, "max_processes": 4,
      "tree_peak_rss_bytes": 1048576, "tree_peak_memory_bytes": 1048576, "tree_read_bytes": 2000000, "process_peak_rss_bytes": 524288,
      "tree_cpu_user": 8, "tree_cpu_system": 2, "allocated_cores": 4},
      "processes": [{"name": "sort", "pid": 12, "cpu": 7.5, "peak_memory_bytes": 524288}],
      "definitions": {"wall_time": {"unit": "s"}, "tree_peak_memory_bytes": {"unit": "B"}, "tree_read_bytes": {"unit": "B"},
      "process_peak_rss_bytes": {"unit": "B"}, "max_processes": {"unit": "count"}},
      "quality": {"not_measured": {"tree_write_bytes": "the kernel does not count it"}}})");
  const std::string page = PageOf(document, NothingRecorded());
  EXPECT_TRUE(
      absl::StrContains(page, "data-key=\"metrics.job_cpu_efficiency\" value=\"0.25\">25</data>\u00a0<small>%<"));
  EXPECT_TRUE(absl::StrContains(
      page, "data-key=\"metrics.tree_peak_memory_bytes\" value=\"1048576\">1</data>\u00a0<small>MiB<"));
  EXPECT_TRUE(
      absl::StrContains(page, "data-key=\"metrics.tree_read_bytes\" value=\"2000000\">2</data>\u00a0<small>MB<"));
  EXPECT_TRUE(absl::StrContains(page, ">512\u00a0KiB</data> in the largest process"));
  EXPECT_TRUE(absl::StrContains(page, "not measured: the kernel does not count it"));
  EXPECT_TRUE(absl::StrContains(page, "What its 4 cores did"));
  EXPECT_TRUE(absl::StrContains(
      page,
      "aria-label=\"CPU in the program 20.0\u00a0%, CPU in the kernel 5.0\u00a0%, Not used, or waiting 75.0\u00a0%\""));
  EXPECT_TRUE(absl::StrContains(page, "Per process, to its last sample"));
  EXPECT_TRUE(absl::StrContains(page, "CPU in program")) << "the headline has the sum with that in the kernel";
  EXPECT_TRUE(absl::StrContains(page, "mapped files and read-ahead included"));
  EXPECT_TRUE(absl::StrContains(page, ">sort<"));
  EXPECT_TRUE(absl::StrContains(page, "id=\"without-chunks\""));
  for (const char* block : {"timeline", "time", "throughput", "workers", "chunks", "inputs", "custom", "failures"}) {
    EXPECT_EQ(BlockOf(page, block), "") << block;
  }
  EXPECT_FALSE(absl::StrContains(page, "href=\"#timeline\""));
}

TEST(ReportPage, WaitingBeyondTheCoresIsNotInTheTimeOfTheCores) {
  const Json document = Json::parse(
      R"({"metrics": {"core_seconds": 20, "oversubscribed_core_seconds": 11.8}, "budget": [{"part": "compute",
      "group": "CPU in your code", "core_seconds": 20, "share": 1}]})");
  const std::string html = BlockOf(PageOf(document, NothingRecorded()), "time");
  EXPECT_TRUE(absl::StrContains(html, "split so that each core-second is in one row")) << html;
  EXPECT_TRUE(absl::StrContains(
      html, "Threads beyond the number of cores waited for 11.8\u00a0s more; this is not time of a core."));
}

TEST(ReportPage, RequestsToStorageAreATableBesideTheInputs) {
  EXPECT_FALSE(absl::StrContains(PageOf(Json::object(), NothingRecorded()), "id=\"requests\""));
  const Json document = Json::parse(R"({"requests": [{"server": "root://<eos>", "operation": "readv", "calls": 1200,
      "bytes": 2000000, "seconds": 3, "max_seconds": 0.5, "errors": 7}]})");
  const std::string html = BlockOf(PageOf(document, NothingRecorded()), "inputs");
  const std::string card = html.substr(html.find("id=\"requests\""));
  for (const char* part :
       {"root://&lt;eos&gt;", ">readv<", "1\u00a0200", "2\u00a0MB", "3.00\u00a0s", "500\u00a0ms", ">7<"}) {
    EXPECT_TRUE(absl::StrContains(card, part)) << part << " in " << card;
  }
}

TEST(ReportPage, FunctionsAreATableBesideTheSectionsThatTheyAreOf) {
  EXPECT_FALSE(absl::StrContains(PageOf(Json::object(), NothingRecorded()), "id=\"functions\""));
  const Json document =
      Json::parse(R"({"functions": [{"section": "select/jets", "dataset": "zjets", "function": "<fit>",
      "file": "/a.py", "line": 12, "samples": 700, "share": 0.7, "share_error": 0.0144}]})");
  const std::string html = BlockOf(PageOf(document, NothingRecorded()), "time");
  const std::string card = html.substr(html.find("id=\"functions\""));
  for (const char* part : {"select/jets", "&lt;fit&gt;", "/a.py", "70.0\u00a0%", "1.4\u00a0%"}) {
    EXPECT_TRUE(absl::StrContains(card, part)) << part << " in " << card;
  }
}

TEST(ReportPage, TheTableOfWorkersHasTheirShortNames) {
  const Json document = Json::parse(R"({"workers": [{"name": "tcp://lxb-0001.cern.example:4000", "chunks": 3},
      {"name": "tcp://lxb-0002.cern.example:4000", "chunks": 4}]})");
  const std::string html = BlockOf(PageOf(document, NothingRecorded()), "workers");
  EXPECT_TRUE(absl::StrContains(html, ">0001:4000<")) << html;
  EXPECT_TRUE(absl::StrContains(html, ">0002:4000<")) << html;
}

TEST(ReportPage, BarsOfSectionsSayWhatTheyMostlyDid) {
  const Json document = Json::parse(R"({"sections": [
      {"path": "read", "helper": false, "self": 9, "share": 0.9, "total": 9, "cpu": 1},
      {"path": "select", "helper": false, "self": 2, "share": 0.2, "total": 2, "cpu": 2},
      {"path": "fill", "helper": false, "self": 1, "share": 0.1, "total": 1, "cpu": null}]})");
  const std::string page = PageOf(document, NothingRecorded());
  const std::string table = page.substr(page.find("<caption>Sections by own time"));
  const size_t read = table.find(">read<"), select = table.find(">select<"), fill = table.find(">fill<");
  ASSERT_LT(read, select);
  ASSERT_LT(select, fill);
  EXPECT_TRUE(absl::StrContains(table.substr(read, select - read), "<rect class=\"wait\""));
  EXPECT_TRUE(absl::StrContains(table.substr(select, fill - select), "<rect class=\"cpu\""));
  EXPECT_TRUE(absl::StrContains(table.substr(fill, 500), "<rect class=\"unknown\""));
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
  return ReportPage(Measurement(), NothingRecorded(), {chart}, {{"light", Json::object()}, {"dark", Json::object()}});
}

TEST(ReportPage, AChartWhoseValuesAreAllEqualIsASentence) {
  const std::string equal = PageWithChart({6, 6, 6});
  EXPECT_TRUE(absl::StrContains(equal, "<b>How many?</b> all values are equal: 6"));
  EXPECT_FALSE(absl::StrContains(equal, "data-chart=\"made\""));
  EXPECT_TRUE(absl::StrContains(PageWithChart({6, 6, 7}), "data-chart=\"made\""));
  EXPECT_TRUE(absl::StrContains(PageWithChart({6}), "data-chart=\"made\""));
}

TEST(ReportPage, RoomIsKeptForAChartThatIsNotYetDrawn) {
  const std::string page = PageWithChart({1, 2});
  EXPECT_TRUE(absl::StrContains(page, "data-height=\"264\""));
  EXPECT_TRUE(absl::StrContains(page, "\"height\":200"));
}

/// The key figure of that id, in a page with a baseline.
std::string TileOf(const Json& document, const Json& baseline, const std::string& key) {
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  const Measurement before = MeasurementOf(baseline);
  const std::string page = ReportPage(MeasurementOf(document), NothingRecorded(), {}, themes, &before);
  const size_t from = page.find("id=\"tile-" + key + "\"");
  return from == std::string::npos ? page : page.substr(from, page.find("</div>\n", from) - from);
}

TEST(ReportPage, AKeyFigureSaysHowItDiffersFromTheBaselines) {
  const Json before = Json::parse(R"({"metrics": {"wall_time": 10, "total_events": 5, "cpu_efficiency": 0.5,
      "peak_memory_bytes": null, "balance": 0.9, "num_attempts": 9, "num_failed_attempts": 2}})");
  const Json now = Json::parse(R"({"metrics": {"wall_time": 8, "total_events": 5, "cpu_efficiency": 0.42,
      "peak_memory_bytes": 1024, "balance": 0.9, "num_attempts": 9, "num_failed_attempts": 3}})");
  EXPECT_TRUE(absl::StrContains(TileOf(now, before, "wall_time"),
                                "<p class=\"change better\">✓ -20.0\u00a0% from 10.0\u00a0s: better</p>"));
  EXPECT_TRUE(absl::StrContains(TileOf(now, before, "cpu_efficiency"),
                                "<p class=\"change worse\">✕ -8.0\u00a0points from 50\u00a0%: worse</p>"));
  EXPECT_TRUE(absl::StrContains(TileOf(now, before, "balance"), "<p class=\"change\">as in the baseline</p>"));
  EXPECT_TRUE(absl::StrContains(TileOf(now, before, "peak_memory_bytes"),
                                "<p class=\"change\">not measured in the baseline</p>"));
  EXPECT_TRUE(absl::StrContains(TileOf(now, before, "num_failed_attempts"),
                                "<p class=\"change\">+1 from 2: within the noise, \u00b14.4</p>"));
  EXPECT_FALSE(absl::StrContains(PageOf(now, NothingRecorded()), "class=\"change"));
}

TEST(ReportPage, TheTimeOfOtherWorkIsNeitherBetterNorWorse) {
  const Json before =
      Json::parse(R"({"run": {"name": "<i>old</i>"}, "metrics": {"wall_time": 10, "total_events": 5}})");
  const Json now = Json::parse(R"({"metrics": {"wall_time": 8, "total_events": 4}})");
  EXPECT_TRUE(absl::StrContains(TileOf(now, before, "wall_time"),
                                "<p class=\"change\">-20.0\u00a0% from 10.0\u00a0s: of other events</p>"));
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  const Measurement baseline = MeasurementOf(before);
  const std::string page = ReportPage(MeasurementOf(now), NothingRecorded(), {}, themes, &baseline);
  EXPECT_TRUE(absl::StrContains(page, "&lt;i&gt;old&lt;/i&gt;"));
  EXPECT_TRUE(
      absl::StrContains(page, "<strong>What should be equal is not: <bdi>events</bdi> 5 before, 4 now.</strong>"));
}

TEST(ReportPage, NamesInTheHeadStayTextWhateverBytesTheyHold) {
  const Json document = {{"run", {{"name", "</title><script>alert(1)</script>\xFF"}}}};
  const std::string page = PageOf(document, NothingRecorded());
  EXPECT_FALSE(absl::StrContains(page, "<script>alert"));
  EXPECT_FALSE(absl::StrContains(page, "\xFF"));
  EXPECT_TRUE(absl::StrContains(page, "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\uFFFD"))
      << page.substr(0, 3000);
}

TEST(ReportPage, IsKnownByItsBeginning) {
  EXPECT_TRUE(IsReportPage(PageOf(Json::object(), NothingRecorded()).substr(0, 1000)));
  EXPECT_FALSE(IsReportPage("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"));
}

TEST(ReportPage, TheFindingOfFailuresSaysWhichErrorWasMostOften) {
  RunDetail detail = NothingRecorded();
  detail.errors = {"", "basket checksum", "XRootD: operation <expired>"};
  detail.workers.resize(1);
  detail.workers[0].name = "w5";
  detail.files = {"x.root"};
  detail.datasets.resize(1);
  for (const uint32_t error : {2U, 1U, 2U}) {
    DetailAttempt& attempt = detail.attempts.emplace_back();
    attempt.state = AttemptState::kFailed;
    attempt.error = error;
    attempt.start_ns = 136'000'000'000;
  }
  const Json document = Json::parse(
      R"({"verdicts": [{"id": "failing-chunks", "severity": "warning", "sentence": "3 of 9 attempts failed."}]})");
  const std::string page = PageOf(document, detail);
  EXPECT_TRUE(absl::StrContains(
      page,
      "Most often: <q><bdi>XRootD: operation &lt;expired&gt;</bdi></q> (2 of 3; first on <bdi>w5</bdi> at 2:16)."))
      << BlockOf(page, "overview");
}

TEST(ReportPage, TheCutFlowSaysOfHowManyEventsTheResultsMayBe) {
  Json document = Json::parse(R"({"metrics": {"total_events": 900},
      "cuts": [{"name": "all events", "events": 900}],
      "workers": [{"name": "a", "state": "ended", "start": 0, "stop": 100, "chunks": 5, "events": 500},
                  {"name": "b", "state": "lost", "start": 0, "stop": 40, "chunks": 4, "events": 400}]})");
  const auto cut_flow = [&document] { return BlockOf(PageOf(document, NothingRecorded()), "custom"); };
  EXPECT_TRUE(absl::StrContains(cut_flow(), "4 chunks had ended in workers that vanished.")) << cut_flow();
  EXPECT_TRUE(absl::StrContains(cut_flow(), "the results are of 500 to 900 events."));
  document["workers"][1]["state"] = "ended";
  EXPECT_FALSE(absl::StrContains(cut_flow(), "vanished"));
}

TEST(ReportPage, WhatWouldHelpStandsBestFirstOrSaysWhyNot) {
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  RunOutlook outlook;
  outlook.prediction.measured = 10;
  std::vector<PredictedRow>& rows = outlook.prediction.rows;
  rows.resize(4);
  rows[0].change = "--cores 8";
  rows[0].lanes = 12;
  rows[0].wall_time = {5, 4, 6};
  rows[1].change = "--faster <b>=2";
  rows[1].wall_time = {8, 7, 9};
  rows[2].change = "--workers 2";
  rows[2].why_not = "it has one worker";
  rows[3].change = "--without-waiting";
  rows[3].wall_time = {9, 8, 10};
  outlook.scaling.is_predicted = true;
  ReadValue(Json::parse(R"([{"cores": 2, "wall_time": 10, "speedup": 1, "efficiency": 1}, {"cores": 8,
    "lanes": 12, "predicted": true, "wall_time": 5, "low": 4, "high": 6, "speedup": 2, "efficiency": 0.5}])"),
            &outlook.scaling.points);
  const std::string reported =
      BlockOf(ReportPage(Measurement(), NothingRecorded(), {}, themes, nullptr, kLargestPage, &outlook), "outlook");
  const size_t best = reported.find(">8 cores with 12 chunks at once<"),
               next = reported.find(">&lt;b&gt; 2 times as fast<");
  ASSERT_NE(best, std::string::npos) << reported;
  EXPECT_LT(best, next);
  EXPECT_TRUE(absl::StrContains(reported, "title=\"--faster &lt;b&gt;=2\""));
  EXPECT_TRUE(absl::StrContains(reported, "\u221250") || absl::StrContains(reported, "-50")) << reported;
  EXPECT_TRUE(absl::StrContains(reported, "4.00\u00a0s to 6.00\u00a0s")) << reported;
  EXPECT_TRUE(absl::StrContains(reported, "title=\"--without-waiting\">chunks never blocked<")) << reported;
  EXPECT_TRUE(absl::StrContains(reported, "it has one worker"));
  EXPECT_TRUE(absl::StrContains(reported, "Predicted from one run, not measured: on 8 cores with 12 chunks at once"));
  outlook.prediction.refused = "chunks are missing";
  EXPECT_TRUE(absl::StrContains(
      BlockOf(ReportPage(Measurement(), NothingRecorded(), {}, themes, nullptr, kLargestPage, &outlook), "outlook"),
      "Nothing is predicted from this run: chunks are missing"));
}

/// A row in each table, with a value in each column.
Json DocumentWithAllTables() {
  Json document;
  for (const Table& table : Tables()) {
    Json row;
    for (const Column& column : table.columns()) {
      row[std::string(column.key)] = column.unit.empty() ? Json("some text") : Json(1);
    }
    document[std::string(table.key)] = Json::array({row});
  }
  return document;
}

TEST(ReportPage, EachTableOfTheMeasurementIsOnThePage) {
  const Json document = DocumentWithAllTables();
  const std::string page = PageOf(document, NothingRecorded());
  for (const Table& table : Tables()) {
    ASSERT_EQ(table.size(MeasurementOf(document)), 1) << table.key;
    const std::string mark = table.key == "budget"     ? "<table class=\"budget\">"
                             : table.key == "fine"     ? "id=\"fine-function\""
                             : table.key == "verdicts" ? "<div class=\"findings\">"
                                                       : "data-key=\"" + std::string(table.key) + "[0].";
    EXPECT_TRUE(absl::StrContains(page, mark)) << table.key;
  }
  const std::string others = BlockOf(page, "tables");
  EXPECT_TRUE(absl::StrContains(others, "<summary>gpu_kernels</summary>")) << "a finding sends readers there";
  EXPECT_FALSE(absl::StrContains(others, "<summary>datasets</summary>")) << "it has a card";
  EXPECT_EQ(BlockOf(PageOf(Json::object(), NothingRecorded()), "tables"), "");
}

TEST(ReportPage, OtherTablesEndAfterAsManyRowsAsThoseOfTheBlocks) {
  Json document;
  for (int i = 0; i < 201; ++i) document["threads"].push_back({{"name", std::to_string(i)}, {"chunks", 1}});
  EXPECT_TRUE(absl::StrContains(BlockOf(PageOf(document, NothingRecorded()), "tables"), "1 more in measurement.json."));
}

TEST(ReportPage, FineMetricsEndAfterTwentyUnits) {
  Json document;
  for (const char* unit : {"bytes", "seconds"}) document["fine"].push_back({{"unit", unit}, {"value", 1}});
  for (int i = 0; i < 25; ++i) document["fine"].push_back({{"unit", "unit" + std::to_string(i)}, {"value", 1}});
  document["fine"].push_back({{"unit", "none"}, {"value", nullptr}});
  const std::string html = BlockOf(PageOf(document, NothingRecorded()), "fine");
  EXPECT_TRUE(absl::StrContains(html, "aria-selected=\"true\">seconds</button>")) << html;
  EXPECT_TRUE(absl::StrContains(html, "id=\"panel-fine-worker-19\"")) << html;
  EXPECT_FALSE(absl::StrContains(html, "id=\"panel-fine-worker-20\"")) << html;
  EXPECT_TRUE(absl::StrContains(html, "Units left out: 7; <code>crema show --table fine</code>")) << html;
  for (int i = 0; i < 10; ++i) document["fine"].erase(2);
  EXPECT_FALSE(absl::StrContains(BlockOf(PageOf(document, NothingRecorded()), "fine"), "Units left out"));
}

TEST(ReportPage, WhereItWouldBeTooLargeItSaysWhatIsLeftOut) {
  Json document = {{"datasets", Json::array()}};
  for (int i = 0; i < 150; ++i)
    document["datasets"].push_back({{"name", "dataset " + std::to_string(i)}, {"chunks", 1}});
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  const std::string whole = ReportPage(MeasurementOf(document), NothingRecorded(), {}, themes);
  const std::string cut = ReportPage(MeasurementOf(document), NothingRecorded(), {}, themes, nullptr, 1000);
  EXPECT_LT(cut.size(), whole.size());
  EXPECT_TRUE(absl::StrContains(cut, "tables end after 50 rows"));
  EXPECT_FALSE(absl::StrContains(whole, "tables end after 50 rows"));
}

/// Fault [shown]: so many names that the charts of them would make the report too large to be opened
/// Shown: the report without the largest charts, which it names
TEST(ReportPage, LeavesOutTheLargestChartsBeforeItGetsTooLarge) {
  const Json themes = {{"light", Json::object()}, {"dark", Json::object()}};
  std::vector<PageChart> charts(2);
  for (const size_t marks : {100, 100'000}) {
    charts[marks > 100 ? 1 : 0].family = "Chunks";
    Chart& chart = charts[marks > 100 ? 1 : 0].chart;
    chart.name = marks > 100 ? "many_marks" : "few_marks";
    chart.title = chart.name;
    chart.spec = {{"data", Json::array()}};
    for (size_t i = 0; i < marks; ++i) chart.spec["data"].push_back("section number " + std::to_string(i));
  }
  const std::string whole = ReportPage(Measurement(), NothingRecorded(), charts, themes);
  const size_t largest = whole.size() - 1'000'000;
  const std::string cut = ReportPage(Measurement(), NothingRecorded(), charts, themes, nullptr, largest);
  EXPECT_LE(cut.size(), largest);
  EXPECT_TRUE(absl::StrContains(cut, "the largest charts were left out"));
  EXPECT_TRUE(absl::StrContains(cut, "crema plot many_marks"));
  EXPECT_TRUE(absl::StrContains(cut, "spec-few_marks"));
}

}  // namespace
}  // namespace crema
