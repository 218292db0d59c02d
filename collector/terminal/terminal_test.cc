#include "collector/terminal/terminal.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "collector/diagnosis/verdicts.h"
#include "collector/measurement/measurement.h"
#include "collector/terminal/terminal_box.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Json = nlohmann::ordered_json;

const std::vector<std::string> kDocuments = {"healthy", "waiting", "empty", "running", "killed", "names"};

void AddInsight(Json* document) {
  Measurement measurement = MeasurementOf(*document);
  AddInsight(&measurement);
  const Json judged = JsonOf(measurement);
  for (const char* key : {"chunk_size_advice", "resource_advice", "verdicts", "headline", "trouble"}) {
    (*document)[key] = judged[key];
  }
}

std::string RenderSummary(const Json& document, const TerminalStyle& style) {
  return RenderSummary(MeasurementOf(document), style);
}

absl::StatusOr<std::string> RenderTable(const Json& document, std::string_view table, const TerminalStyle& style) {
  return RenderTable(MeasurementOf(document), table, style);
}

absl::StatusOr<std::string> RenderMetric(const Json& document, std::string_view key, const TerminalStyle& style) {
  return RenderMetric(MeasurementOf(document), key, style);
}

Json Document(const std::string& name) {
  std::ifstream in("collector/terminal/testdata/" + name + ".json");
  Json document = Json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
  AddInsight(&document);
  return document;
}

std::string WithoutColour(std::string text) {
  for (size_t at = text.find("\x1b["); at != std::string::npos; at = text.find("\x1b[", at)) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

void ExpectWholeBox(const std::string& text, int width) {
  EXPECT_EQ(text.back(), '\n');
  for (const std::string& line : Lines(WithoutColour(text))) ASSERT_EQ(ColumnsOf(line), width) << line;
}

std::string Everything(const Json& document, const TerminalStyle& style) {
  std::string text = RenderSummary(document, style);
  for (std::string_view table : TableNames()) text += RenderTable(document, table, style).value();
  return text;
}

TEST(RenderSummary, HasTheSameWidthInEveryLineOfEveryDocumentAtEveryWidth) {
  for (const std::string& name : kDocuments) {
    const Json document = Document(name);
    for (int width = 20; width <= 100; ++width) {
      for (bool ascii : {false, true}) {
        SCOPED_TRACE(testing::Message() << name << " " << width << (ascii ? " ascii" : ""));
        ExpectWholeBox(RenderSummary(document, {width, width % 2 == 0, ascii}), width);
      }
    }
  }
}

TEST(RenderSummary, StopsAtAHundredColumns) { ExpectWholeBox(RenderSummary(Document("healthy"), {240}), 100); }

TEST(RenderSummary, SaysTheSameWithAndWithoutColour) {
  for (const std::string& name : kDocuments) {
    const Json document = Document(name);
    const std::string plain = RenderSummary(document, {100, false, false});
    EXPECT_EQ(WithoutColour(RenderSummary(document, {100, true, false})), plain);
    EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  }
}

TEST(RenderSummary, IsAsciiWhereAskedTo) {
  for (const std::string& name : kDocuments) {
    for (char byte : Everything(Document(name), {100, false, true})) {
      ASSERT_TRUE(byte == '\n' || (byte >= ' ' && byte <= '~')) << name;
    }
  }
}

TEST(RenderSummary, OpensWithTheHeadlineAndClosesWithTheQuality) {
  const std::string text = RenderSummary(Document("healthy"), {});
  const size_t headline = text.find("Compute-bound: your code computed for 86 %");
  const size_t figures = text.find("key figures");
  const size_t trust = text.find("can I trust this?");
  ASSERT_NE(trust, std::string::npos);
  EXPECT_LT(headline, figures);
  EXPECT_EQ(text.find("├", trust), std::string::npos);
}

TEST(RenderSummary, WritesItsHeadlineItselfWhereTheDocumentHasNone) {
  Json document = Document("healthy");
  document.erase("headline");
  EXPECT_THAT(RenderSummary(document, {}), HasSubstr("Compute-bound: your code computed for 86 %"));
}

TEST(RenderSummary, LeavesOutBarsAndTimeBelowEightyColumns) {
  const Json document = Document("healthy");
  EXPECT_THAT(RenderSummary(document, {80}), AllOf(HasSubstr("█"), HasSubstr("over time")));
  EXPECT_THAT(RenderSummary(document, {79}), AllOf(Not(HasSubstr("█")), Not(HasSubstr("over time"))));
}

TEST(RenderSummary, SaysWhyABlockIsMissing) {
  Measurement measurement = MeasurementOf(Document("empty"));
  for (const char* key : {"tree_cpu_user", "tree_peak_rss_bytes"}) measurement.metrics.SetNull(key, "not measured");
  EXPECT_THAT(RenderSummary(measurement, {}),
              AllOf(HasSubstr("core-second budget: no chunk was recorded"), HasSubstr("over time: no worker samples")));
}

TEST(RenderSummary, SaysThatChunksNamedNoDataset) {
  Json document = Document("healthy");
  document["datasets"] = Json::array();
  EXPECT_THAT(RenderSummary(document, {}), HasSubstr("datasets: no chunk named its dataset"));
}

TEST(RenderSummary, ShowsFiveBudgetGroups) {
  const std::string text = RenderSummary(Document("waiting"), {});
  for (const char* group : {"CPU in your code", "Waiting in your code", "Opening and reading around your code",
                            "Framework and repeats", "Idle"}) {
    EXPECT_THAT(text, HasSubstr(group));
  }
}

TEST(RenderSummary, ShowsNotMeasuredAsADashAndZeroAsZero) {
  Json document = Document("healthy");
  document["metrics"]["cpu_efficiency"] = nullptr;
  document["quality"]["not_measured"]["cpu_efficiency"] = "cores unknown";
  document["metrics"]["io_overhead_pct"] = 0;
  const std::string text = RenderSummary(document, {});
  EXPECT_THAT(text, testing::ContainsRegex("CPU efficiency +–  .*of the whole job"));
  EXPECT_THAT(text, testing::ContainsRegex("Blocked in code +0 % "));
}

/// A run of a batch system whose jobs left no records.
Json WithoutRecords() {
  Json document = Document("healthy");
  document["metrics"]["chunk_cpu_time"] = nullptr;
  document["metrics"]["num_attempts"] = nullptr;
  document["budget"] = {{{"part", "compute"}, {"group", "CPU in your code"}, {"core_seconds", 0.0}, {"share", 0.0}},
                        {{"part", "idle"}, {"group", "Idle"}, {"core_seconds", 0.0}, {"share", 0.0}},
                        {{"part", "unmeasured"}, {"group", "Not measured"}, {"core_seconds", 20.0}, {"share", 1.0}}};
  return document;
}

TEST(RenderSummary, ShowsNoZeroForAPartThatNothingMeasured) {
  Json document = WithoutRecords();
  std::string text = RenderSummary(document, {});
  EXPECT_THAT(text, testing::ContainsRegex("CPU in your code +– +–  not measured"));
  EXPECT_THAT(text, testing::ContainsRegex("Idle +– +–  not measured"));
  EXPECT_THAT(text, testing::ContainsRegex("Not measured +20.0 s +100.0 %"));
  EXPECT_THAT(text, Not(HasSubstr("open chunks"))) << "how many were open is not known either";
  EXPECT_THAT(RenderTable(document, "budget", {}).value(), testing::ContainsRegex("compute +CPU in your code +– +–"));
  document["metrics"]["chunk_cpu_time"] = 1.5;
  text = RenderSummary(document, {});
  EXPECT_THAT(text, testing::ContainsRegex("CPU in your code +0 s +0.0 %")) << "chunks with CPU time were measured";
}

TEST(RenderSummary, KeepsAZeroWhereNothingIsUnmeasured) {
  Json document = WithoutRecords();
  document["budget"][1]["core_seconds"] = 20.0;
  document["budget"].erase(2);
  EXPECT_THAT(RenderSummary(document, {}), testing::ContainsRegex("CPU in your code +0 s +0.0 %"));
}

TEST(RenderSummary, WrapsTheReasonOfAKeyFigure) {
  Json document = Document("healthy");
  document["metrics"]["io_overhead_pct"] = nullptr;
  document["quality"]["not_measured"]["io_overhead_pct"] =
      "blocked time needs CPU time and run delay, which no attempt recorded, and which need schedstat of the kernel";
  for (const int width : {60, 80, 100}) {
    const std::string text = RenderSummary(document, {width});
    EXPECT_THAT(text, AllOf(HasSubstr("blocked time"), HasSubstr("schedstat"))) << width;
    EXPECT_THAT(text, HasSubstr("kernel ")) << width;
    ExpectWholeBox(text, width);
  }
}

TEST(RenderSummary, SaysWhatFiguresThatAreNotMeasuredMayNeed) {
  EXPECT_THAT(RenderSummary(Document("healthy"), {}),
              HasSubstr("3 figures not measured (may need guards or options): crema show --table quality lists them"));
}

TEST(RenderSummary, AlwaysShowsTheTimeOutsideSections) {
  Json document = Document("healthy");
  Json sections = Json::array();
  for (int i = 0; i < 40; ++i) {
    Json row = document["sections"][0];
    row["path"] = "section" + std::to_string(i);
    sections.push_back(row);
  }
  sections.push_back(document["sections"].back());
  document["sections"] = sections;
  EXPECT_THAT(RenderSummary(document, {}), AllOf(HasSubstr("(other)"), HasSubstr("30 more: crema show")));
}

TEST(RenderSummary, SaysHowMuchOfTheSectionsIsWaitingForACpu) {
  Json document = Document("healthy");
  document["metrics"]["busy_time"] = 10.0;
  document["metrics"]["chunk_cpu_wait"] = 1.6;
  EXPECT_THAT(RenderSummary(document, {}), HasSubstr("waiting for a CPU, inside these times: 1.60 s (16 %)"));
  document["metrics"]["chunk_cpu_wait"] = nullptr;
  EXPECT_THAT(RenderSummary(document, {}), Not(HasSubstr("inside these times")));
}

/// Every field of the first two levels, replaced by values of every other kind.
TEST(Terminal, SurvivesFieldsOfTheWrongKind) {
  const Json good = Document("healthy");
  const std::vector<Json> wrong = {
      nullptr,        true,
      "text",         -1e300,
      1e300,          Json::array(),
      Json::object(), Json::parse(R"([1, "x", null, [], [1], {"name": 7, "path": [], "self": "x"}])")};
  for (const auto& [key, value] : good.items()) {
    for (const Json& bad : wrong) {
      Json document = good;
      document[key] = bad;
      AddInsight(&document);
      SCOPED_TRACE(key + " = " + bad.dump());
      ExpectWholeBox(RenderSummary(document, {90}), 90);
      EXPECT_FALSE(Everything(document, {90}).empty());
      if (!value.is_object()) continue;
      for (const auto& [inner, inner_value] : value.items()) {
        document = good;
        document[key][inner] = bad;
        AddInsight(&document);
        SCOPED_TRACE(inner);
        ExpectWholeBox(RenderSummary(document, {90}), 90);
      }
    }
  }
}

TEST(Terminal, SurvivesDocumentsThatAreNone) {
  for (const Json& document : {Json(), Json("text"), Json::array({1, 2}), Json(3)}) {
    ExpectWholeBox(RenderSummary(document, {100}), 100);
    EXPECT_FALSE(Everything(document, {100}).empty());
    EXPECT_FALSE(RenderMetric(document, "wall_time", {}).ok());
  }
}

TEST(RenderTable, KnowsTheTablesThatItPrints) {
  EXPECT_THAT(TableNames(),
              ElementsAre("run", "quality", "metrics", "chunks", "memory", "sections", "phases", "datasets", "files",
                          "workers", "hosts", "threads", "memory_sections", "custom_metrics", "attributes", "cuts",
                          "requests", "events", "modules", "task_threads", "waits", "functions", "gpu_kernels", "fine",
                          "budget", "stragglers", "chunk_fits", "expected_time", "slow_spells", "contention",
                          "processes", "verdicts", "process_sections", "chunk_size_advice", "resource_advice"));
}

TEST(RenderTable, OfChunksListsTheirAttributes) {
  Json document = Document("healthy");
  EXPECT_THAT(RenderTable(document, "chunks", {100}).value(), Not(HasSubstr("attribute")));
  document["attributes"] = {{{"name", "file_kind"}, {"value", "merged"}, {"chunks", 118}},
                            {{"name", "file_kind"}, {"value", "(other)"}, {"chunks", 2}}};
  const std::string text = RenderTable(document, "chunks", {100}).value();
  const std::vector<std::string> lines = Lines(text.substr(text.find("\nattributes\n") + 1));
  ASSERT_GT(lines.size(), 4u);
  EXPECT_EQ(lines[1], "attribute  value    chunks");
  EXPECT_EQ(lines[2], "file_kind  merged      118");
  EXPECT_EQ(lines[3], "file_kind  (other)       2");
  EXPECT_THAT(lines[4], HasSubstr("crema export --to chunks"));
}

TEST(RenderTable, OfFunctionsAndWaitsNeedsGuardsInTheCommand) {
  for (const char* table : {"functions", "waits"}) {
    EXPECT_THAT(RenderTable(Document("command"), table, {100}).value(), HasSubstr("need guards"));
    EXPECT_THAT(RenderTable(Document("healthy"), table, {100}).value(), Not(HasSubstr("need guards")));
  }
}

TEST(RenderTable, OfQualitySaysWhatRootDoesNotReport) {
  Json document = Document("healthy");
  document["attributes"] = {{{"name", "reading"}, {"value", "ROOT does not report it"}, {"chunks", 7}},
                            {{"name", "site"}, {"value", "x"}, {"chunks", 7}}};
  std::string text = RenderTable(document, "quality", {100}).value();
  const std::string quoted = "the attribute reading says: ROOT does not report it (attempts: 7)\n";
  EXPECT_GT(text.find(quoted), text.find("\nnot measured\n"));
  EXPECT_THAT(text, AllOf(HasSubstr(quoted), Not(HasSubstr("site"))));
  document["metrics"] = Json::object();
  document["quality"].erase("not_measured");
  text = RenderTable(document, "quality", {100}).value();
  EXPECT_THAT(text, HasSubstr("\nnot measured\n" + quoted)) << "it has its title, too, where no figure is null";
  document["quality"]["summed_chunks"] = 3;
  EXPECT_THAT(RenderTable(document, "quality", {100}).value(), HasSubstr("(attempts: at least 7)"));
}

TEST(RenderTable, OfAttributesClaimsNoMoreThanThatNoneWasCounted) {
  Json document = Document("healthy");
  document.erase("attributes");
  EXPECT_EQ(RenderTable(document, "attributes", {100}).value(),
            "no attribute of an ended chunk was counted; call SetAttribute in a chunk\n");
}

TEST(RenderTable, SaysWhatWouldFillATableOfChunks) {
  Json document = Document("healthy");
  for (const char* table : {"workers", "hosts", "threads", "contention"}) {
    document[table] = Json::array();
    EXPECT_EQ(RenderTable(document, table, {}).value(),
              "the source of these chunks does not record it; record logs of the SDK have it\n");
  }
  document["metrics"]["num_attempts"] = nullptr;
  for (const char* table : {"workers", "hosts", "datasets", "files"}) {
    document[table] = Json::array();
    EXPECT_EQ(RenderTable(document, table, {}).value(),
              "no chunk was recorded; put TrackMetrics around a chunk of work\n");
  }
}

TEST(RenderTable, SaysWhyTheProgramHasNoStacks) {
  Json document = Document("healthy");
  document["functions"] = Json::array();
  document["quality"]["lost_samples"] = 0;
  EXPECT_THAT(RenderTable(document, "functions", {}).value(), HasSubstr("chunks used little CPU time"));
  document["quality"]["warnings"] = {"a clock stepped", "stacks of native functions are missing: ROOT has the signal"};
  EXPECT_EQ(RenderTable(document, "functions", {}).value(),
            "stacks of native functions are missing: ROOT has the signal\n");
}

TEST(RenderTable, SaysHowManyChunksAFitNeeds) {
  Json document = Document("healthy");
  for (const char* table : {"expected_time", "chunk_size_advice"}) {
    document[table] = Json::array();
    EXPECT_EQ(RenderTable(document, table, {}).value(), "too few chunks: a fit needs 8 ok ones of one dataset\n");
  }
  document["metrics"]["num_attempts"] = nullptr;
  EXPECT_THAT(RenderTable(document, "expected_time", {}).value(),
              AllOf(HasSubstr("put TrackMetrics"), HasSubstr("8 ok ones")));
}

TEST(RenderTable, SaysWhyADatasetHasNoFit) {
  Json document = Document("healthy");
  document["chunk_fits"] = {{{"dataset", "ttbar"}, {"attempts", 4}, {"fixed_seconds", 1.5}}};
  EXPECT_THAT(RenderTable(document, "chunk_fits", {}).value(), Not(HasSubstr("SetEvents")));
  document["chunk_fits"][0]["fixed_seconds"] = nullptr;
  EXPECT_THAT(RenderTable(document, "chunk_fits", {}).value(), HasSubstr("different numbers of events (SetEvents)"));
  document["chunk_fits"] = Json::array();
  EXPECT_EQ(RenderTable(document, "chunk_fits", {}).value(), "no single chunk that ended well is known\n");
}

TEST(RenderTable, OfChunksSaysWhyThereAreNone) {
  Json document = Document("healthy");
  document["chunk_fits"] = Json::array();
  document["metrics"]["chunk_duration_mean"] = 0.5;
  EXPECT_THAT(RenderTable(document, "chunks", {}).value(), Not(HasSubstr("that ended well")));
  document["metrics"]["chunk_duration_mean"] = nullptr;
  EXPECT_THAT(RenderTable(document, "chunks", {}).value(), HasSubstr("no single chunk that ended well is known"));
  document["metrics"]["num_attempts"] = nullptr;
  EXPECT_EQ(RenderTable(document, "chunks", {}).value(),
            "no chunk was recorded; put TrackMetrics around a chunk of work\n");
}

TEST(RenderTable, SaysWhatVerdictsNeed) {
  Json document = Document("healthy");
  document["verdicts"] = Json::array();
  EXPECT_EQ(RenderTable(document, "verdicts", {}).value(), "nothing stands out in what was measured\n");
  document["metrics"]["num_attempts"] = nullptr;
  EXPECT_THAT(RenderTable(document, "verdicts", {}).value(),
              AllOf(HasSubstr("nothing stands out"), HasSubstr("chunks (TrackMetrics)"), HasSubstr("1 core-second")));
}

TEST(RenderTable, HasNoBudgetWhereNoCoreSecondWasMeasured) {
  Json document = Document("healthy");
  document["budget"] = Json::array({Json{{"part", "compute"}, {"group", "CPU in your code"}, {"core_seconds", 0.0}}});
  EXPECT_THAT(RenderTable(document, "budget", {}).value(), HasSubstr("no budget: it needs the CPU time of chunks"));
  document["metrics"]["core_seconds"] = nullptr;
  document["quality"]["not_measured"]["core_seconds"] = "no process recorded a chunk";
  EXPECT_EQ(RenderTable(document, "budget", {}).value(), "no budget: no process recorded a chunk\n");
}

TEST(RenderTable, PutsReasonsUnderTheirRows) {
  const std::string reason =
      "the chunks that were open at one time were always as many, so that no slope can be seen in how long they waited";
  Json document = Document("healthy");
  document["contention"] = Json::array({Json{{"attempts", 480}, {"reason", reason}}});
  for (const int width : {60, 100}) {
    const std::vector<std::string> lines = Lines(RenderTable(document, "contention", {width}).value());
    ASSERT_GT(lines.size(), 3u);
    EXPECT_THAT(lines[0], Not(HasSubstr("reason")));
    std::string below;
    for (size_t i = 2; i < lines.size() && lines[i].substr(0, 2) == "  "; ++i) below += lines[i].substr(1);
    EXPECT_EQ(below, " " + reason) << width;
  }
  EXPECT_THAT(RenderTable(document, "contention", {100}).value(),
              HasSubstr("not measured: lanes from, to, from, at least\n"))
      << "no name twice";
  document["contention"][0]["reason"] = nullptr;
  EXPECT_THAT(RenderTable(document, "contention", {100}).value(), Not(HasSubstr("reason")));
}

TEST(RenderTable, KeepsAt100ColumnsWhatAVerdictSendsOneThereFor) {
  Json document = Document("healthy");
  document["stragglers"] = Json::array({Json{{"chunk", "12"},
                                             {"dataset", "ttbar"},
                                             {"file", "root://eos.example.org//data/run2018/ttbar_017.root"},
                                             {"entry_start", 100000},
                                             {"entry_stop", 200000},
                                             {"worker", "node01:4211"},
                                             {"start", 19.5},
                                             {"duration", 63.3},
                                             {"predicted", 18.2},
                                             {"events", 100000},
                                             {"cpu", 19.3},
                                             {"cpu_wait", 44.0},
                                             {"blocked", 0.1},
                                             {"reason", "cpu_wait"},
                                             {"section", "read"}}});
  EXPECT_THAT(RenderTable(document, "stragglers", {100}).value(),
              AllOf(HasSubstr("ttbar_017.root"), HasSubstr("node01:4211")));
  const std::string reason = "its connection broke: killed, crashed, or out of memory";
  document["workers"][1].update({{"left_reason", reason}, {"engine_peak_memory_bytes", 1 << 30}});
  const std::string workers = RenderTable(document, "workers", {100}).value();
  EXPECT_THAT(workers, AllOf(HasSubstr("\n  " + reason + "\n"), HasSubstr("peak memory"), HasSubstr("1 GiB")));
  EXPECT_THAT(workers, Not(HasSubstr("left because")));
}

TEST(RenderTable, NamesTheKnownTablesForAnUnknownOne) {
  const absl::StatusOr<std::string> table = RenderTable(Document("healthy"), "chunk", {});
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(table.status().message()), AllOf(HasSubstr("'chunk'"), HasSubstr("datasets, files")));
}

TEST(RenderTable, NamesTheColumnsThatDidNotFit) {
  const std::string text = RenderTable(Document("healthy"), "datasets", {60, false, false}).value();
  EXPECT_THAT(text, HasSubstr("left out at this width: "));
  for (const std::string& line : Lines(text)) EXPECT_LE(ColumnsOf(line), 60) << line;
}

TEST(RenderTable, StaysWithinEveryWidthFrom40To200) {
  for (const std::string& name : kDocuments) {
    const Json document = Document(name);
    for (int width = 40; width <= 200; width += 3) {
      const TerminalStyle style{width, width % 2 == 0, width % 3 == 0};
      for (std::string_view table : TableNames()) {
        for (const std::string& line : Lines(WithoutColour(RenderTable(document, table, style).value()))) {
          ASSERT_LE(ColumnsOf(line), width) << name << " " << table << "\n" << line;
        }
      }
    }
  }
}

TEST(RenderTable, ShowsTheWholePathOfARowThatDoesNotFollowItsParent) {
  Json document = Document("healthy");
  Json rows = Json::array();
  for (const char* path : {"a", "a/b", "c", "c/d%2Fe"}) rows.push_back({{"path", path}, {"self", 1.0}, {"share", 0.1}});
  rows.push_back({{"path", "a/b"}, {"helper", true}, {"self", 1.0}, {"share", 0.1}});
  rows.push_back({{"path", "a/b/x"}, {"helper", true}, {"self", 1.0}, {"share", 0.1}});
  document["sections"] = rows;
  EXPECT_THAT(
      RenderTable(document, "sections", {120}).value(),
      AllOf(HasSubstr("\n  b "), HasSubstr("\n  d/e "), HasSubstr("\na/b (helper) "), HasSubstr("\n  x (helper) ")));
}

TEST(RenderTable, DrawsSectionsAsATree) {
  const std::string text = RenderTable(Document("healthy"), "sections", {120, false, false}).value();
  EXPECT_THAT(text, AllOf(HasSubstr("\nread "), HasSubstr("\n  decompress "), HasSubstr("(other)"),
                          HasSubstr("outside chunks"), HasSubstr("when run")));
}

TEST(RenderMetric, GivesValueUnitDefinitionAndSource) {
  const std::string text = RenderMetric(Document("healthy"), "wall_time", {80, false, false}).value();
  EXPECT_THAT(text, AllOf(HasSubstr("24.137 (24.1 s)"), HasSubstr("unit        s"),
                          HasSubstr("Stop of the run minus its start"), HasSubstr("command (boundary)")));
}

TEST(RenderMetric, GivesTheReasonOfANull) {
  EXPECT_THAT(RenderMetric(Document("healthy"), "memory_read_hit_ratio", {}).value(),
              HasSubstr("null: no Dask scheduler was asked"));
}

TEST(RenderMetric, SuggestsSimilarKeys) {
  const absl::StatusOr<std::string> metric = RenderMetric(Document("healthy"), "wal_time", {});
  EXPECT_EQ(metric.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(metric.status().message()), HasSubstr("did you mean wall_time"));
}

}  // namespace
}  // namespace crema
