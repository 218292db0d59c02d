// What holds for every chart.
#include "collector/charts/chart.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/charts/charts_fixture.h"
#include "collector/charts/drawing.h"
#include "collector/format/colours.h"
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

class AllCharts : public testing::Test {
 protected:
  AllCharts() {
    input_.measurement = &measurement_;
    input_.detail = &detail_;
    input_.baseline = &measurement_;
    input_.baseline_detail = &detail_;
  }

  /// Every chart of the input, drawn or not.
  std::vector<Chart> Made() {
    measurement_ = MeasurementOf(document_);
    std::vector<Chart> charts;
    for (const std::string& name : ChartNames(input_)) {
      absl::StatusOr<Chart> chart = MakeChart(name, input_);
      EXPECT_TRUE(chart.ok()) << name << ": " << chart.status();
      if (chart.ok()) charts.push_back(*std::move(chart));
    }
    return charts;
  }

  Json document_ = MadeDocument();
  Measurement measurement_;
  RunDetail detail_ = MadeDetail();
  ChartInput input_;
};

void ForEachText(const Json& json, const std::function<void(const std::string&)>& on_text) {
  if (json.is_string()) on_text(json.get<std::string>());
  if (!json.is_structured()) return;
  for (const Json& child : json) ForEachText(child, on_text);
}

size_t CountRows(const Json& json) {
  size_t rows = 0;
  if (json.is_object() && json.contains("values") && json["values"].is_array()) rows = json["values"].size();
  if (!json.is_structured()) return rows;
  for (const Json& child : json) rows += CountRows(child);
  return rows;
}

TEST_F(AllCharts, EachHasFiguresOrAReasonNeverBoth) {
  for (const Chart& chart : Made()) {
    EXPECT_NE(chart.spec.is_null(), chart.reason.empty()) << chart.name;
    EXPECT_FALSE(chart.title.empty()) << chart.name;
  }
}

TEST_F(AllCharts, AllAreDrawnOfARunThatHasEverything) {
  for (const Chart& chart : Made()) {
    // the made run has few metrics, and no events of task frameworks: EventCharts draws those
    if (chart.name.rfind("compare_", 0) == 0 || chart.name.rfind("event_latenc", 0) == 0) continue;
    EXPECT_FALSE(chart.spec.is_null()) << chart.name << ": " << chart.reason;
  }
}

TEST_F(AllCharts, EachSpecificationStandsOnItsOwn) {
  for (const Chart& chart : Made()) {
    if (chart.spec.is_null()) continue;
    EXPECT_EQ(chart.spec["$schema"], "https://vega.github.io/schema/vega-lite/v5.json") << chart.name;
    EXPECT_EQ(chart.spec["title"]["text"], chart.title) << chart.name;
    EXPECT_EQ(chart.spec["config"], ChartConfig(ChartTheme::kLight)) << chart.name;
    EXPECT_EQ(chart.spec["usermeta"]["crema"], chart.name);
    ForEachText(chart.spec, [&chart](const std::string& text) {
      const bool is_schema = text == "https://vega.github.io/schema/vega-lite/v5.json";
      EXPECT_TRUE(is_schema || text.find("://") == std::string::npos) << chart.name << " names an address: " << text;
    });
  }
}

TEST_F(AllCharts, EachIsDescribedForScreenReadersWithItsFinding) {
  for (const Chart& chart : Made()) {
    if (chart.spec.is_null()) continue;
    const std::string description = chart.spec["description"];
    EXPECT_EQ(description.rfind(chart.title, 0), 0u) << chart.name;
    EXPECT_GT(description.size(), chart.title.size() + 5) << chart.name;
    EXPECT_EQ(chart.subtitle.rfind("made · ", 0), 0u) << chart.name;
  }
}

TEST_F(AllCharts, ColoursStandInTheConfigOnly) {
  for (Chart& chart : Made()) {
    if (chart.spec.is_null()) continue;
    chart.spec.erase("config");
    ForEachText(chart.spec, [&chart](const std::string& text) {
      EXPECT_FALSE(text.size() == 7 && text[0] == '#') << chart.name << " has a colour of its own: " << text;
    });
  }
}

TEST_F(AllCharts, EachColourThatIsNamedHasAValueInBothThemes) {
  for (const ChartTheme theme : {ChartTheme::kLight, ChartTheme::kDark}) {
    std::set<std::string> known;
    const Json config = ChartConfig(theme);
    for (const Json& parameter : config["params"]) known.insert(parameter["name"].get<std::string>());
    for (Chart& chart : Made()) {
      if (chart.spec.is_null()) continue;
      chart.spec.erase("config");
      const std::function<void(const Json&)> check = [&](const Json& json) {
        if (json.is_object() && json.size() == 1 && json.contains("expr")) {
          EXPECT_EQ(known.count(json["expr"].get<std::string>()), 1u) << chart.name << " " << json;
        }
        if (json.is_object() && json.contains("style") && json["style"].is_string()) {
          EXPECT_TRUE(config["style"].contains(json["style"].get<std::string>())) << chart.name << " " << json;
        }
        if (!json.is_structured()) return;
        for (const Json& child : json) check(child);
      };
      check(chart.spec);
    }
  }
}

TEST_F(AllCharts, TheyDependOnNothingButTheirInput) {
  const std::vector<Chart> first = Made(), second = Made();
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].spec, second[i].spec) << first[i].name;
}

TEST_F(AllCharts, OfAnEmptyDocumentThereAreReasonsOnly) {
  document_ = Json::object();
  detail_ = RunDetail();
  detail_.why_no_attempts = "no chunk was recorded";
  for (const Chart& chart : Made()) {
    EXPECT_TRUE(chart.spec.is_null()) << chart.name << " draws what is not there";
    EXPECT_FALSE(chart.reason.empty()) << chart.name;
  }
}

/// Names of guards, options and sources that give a chart its figures.
bool NamesWhatWouldFillIt(const std::string& reason) {
  for (const char* remedy :
       {"TrackMetrics", "TrackSection", "TrackEvent", "TrackActivity", "RecordCut", "SetFileInfo", "SetEvents",
        "AddBytesRead", "crema run", "through its engine", "record logs of the SDK"}) {
    if (reason.find(remedy) != std::string::npos) return true;
  }
  return false;
}

TEST_F(AllCharts, OfARunWithoutChunksEachNamesWhatWouldFillIt) {
  document_ = {{"metrics", {{"cpu_efficiency", nullptr}, {"bytes_read_share", nullptr}}}};
  for (const char* key : {"cpu_efficiency", "bytes_read_share", "core_seconds"}) {
    document_["quality"]["not_measured"][key] = FindMetric(key)->why_null;
  }
  input_.baseline = nullptr;
  for (const RunDetail* detail : {static_cast<const RunDetail*>(nullptr), &std::as_const(detail_)}) {
    detail_ = RunDetail();
    detail_.why_no_attempts = kNoChunk;
    input_.detail = detail;
    for (const Chart& chart : Made()) {
      EXPECT_TRUE(NamesWhatWouldFillIt(chart.reason)) << chart.name << ": " << chart.reason;
    }
  }
}

TEST_F(AllCharts, OfChunksThatRecordedNothingEachNamesWhatWouldFillIt) {
  document_ = Json::parse(R"({"metrics": {"wall_time": 10, "num_attempts": 4},
    "datasets": [{"name": "ttbar"}], "files": [{"name": "a.root"}], "workers": [{"name": "node:1"}],
    "timelines": {"worker_memory": {}}})");
  detail_ = RunDetail();
  detail_.over_time.busy_seconds = {4};
  input_.baseline = nullptr;
  for (const char* name : {"throughput_timeline", "runtime_vs_events", "memory_vs_events", "dataset_rates",
                           "file_read_rates", "bytes_accessed_per_chunk", "read_rate_per_worker_heatmap", "cpu_heatmap",
                           "memory_small_multiples", "activity_breakdown"}) {
    measurement_ = MeasurementOf(document_);
    const std::string reason = MakeChart(name, input_)->reason;
    EXPECT_TRUE(NamesWhatWouldFillIt(reason)) << name << ": " << reason;
    EXPECT_EQ(reason.find("no chunk was recorded"), std::string::npos) << name << ": " << reason;
  }
}

TEST_F(AllCharts, ABudgetThatIsMissingIsNotCalledCoreSecondsThatAre) {
  document_["budget"] = Json::array();  // as of roastcoffea, which has the cores but not when each worker lived
  measurement_ = MeasurementOf(document_);
  const std::string reason = MakeChart("activity_breakdown", input_)->reason;
  EXPECT_EQ(reason, WhyNoRows("budget", measurement_));
  EXPECT_EQ(reason.find("not measured"), std::string::npos) << reason;
}

TEST_F(AllCharts, WithoutDetailTheOthersAreStillDrawn) {
  input_.detail = nullptr;
  input_.baseline_detail = nullptr;
  size_t drawn = 0;
  for (const Chart& chart : Made()) drawn += chart.spec.is_null() ? 0 : 1;
  EXPECT_GE(drawn, 18u);
}

TEST_F(AllCharts, OfAnyShapeOfDocumentNoneFails) {
  for (const char* text : {"[]", "null", "3", R"({"budget": 3, "sections": {}, "timelines": []})",
                           R"({"sections": [[], {"path": 3}], "timelines": {"worker_memory": {"w": [[], [1], "x"]}}})",
                           R"({"metrics": {"wall_time": -1}, "timelines": {"worker_counts": [[1, 1]]}})"}) {
    document_ = Json::parse(text);
    for (const Chart& chart : Made()) EXPECT_NE(chart.spec.is_null(), chart.reason.empty()) << chart.name;
  }
}

TEST_F(AllCharts, MarksStayBoundedHoweverLargeTheRun) {
  detail_.attempts.clear();
  for (int i = 0; i < 40'000; ++i) {
    detail_.attempts.push_back(MadeAttempt(static_cast<uint32_t>(i % 2), i * 0.00025, 0.0002, i, AttemptState::kOk));
    detail_.attempts.back().dataset = static_cast<uint32_t>(i / 2 % 2);
  }
  for (const char* key :
       {"worker_memory", "worker_memory_limit", "worker_cpu", "worker_cores", "worker_active_tasks"}) {
    for (int worker = 0; worker < 400; ++worker) {
      Json points = Json::array();
      for (int i = 0; i < 100; ++i) points.push_back({0.1 * i, 1 + (i + worker) % 7});
      document_["timelines"][key]["node:" + std::to_string(worker)] = points;
    }
  }
  for (const Chart& chart : Made()) {
    EXPECT_LE(CountRows(chart.spec), 2 * kMostMarks) << chart.name;
  }
}

TEST(ChartNames, AnUnknownNameIsNotFoundInOneLine) {
  const Measurement measurement = MeasurementOf(MadeDocument());
  ChartInput input;
  input.measurement = &measurement;
  for (const char* name : {"pie", "custom_pie", "compare_pie", "custom_", ""}) {
    const absl::StatusOr<Chart> chart = MakeChart(name, input);
    EXPECT_EQ(chart.status().code(), absl::StatusCode::kNotFound) << name;
    EXPECT_EQ(std::string(chart.status().message()).find('\n'), std::string::npos);
  }
}

TEST(ChartNames, AFormerNameLeadsToTheChartThatAnswers) {
  std::set<std::string_view> names;
  for (const ChartKind& kind : ChartKinds()) EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
  const Measurement measurement = MeasurementOf(MadeDocument());
  ChartInput input;
  input.measurement = &measurement;
  for (const auto& [former, answer] : kFormerCharts) {
    EXPECT_EQ(names.count(former), 0u) << former;
    EXPECT_EQ(names.count(answer), 1u) << answer;
    const absl::StatusOr<Chart> chart = MakeChart(former, input);
    EXPECT_EQ(chart.status().code(), absl::StatusCode::kNotFound);
    EXPECT_NE(std::string(chart.status().message()).find(answer), std::string::npos) << chart.status();
  }
}

TEST(ChartNames, AreSuggestedWhereOneIsMisspelt) {
  Json document = MadeDocument();
  document["custom_metrics"][0]["name"] = "jets";
  const Measurement measurement = MeasurementOf(document);
  ChartInput input;
  input.measurement = &measurement;
  for (const auto& [name, meant] : {std::pair("sectoin_icicle", "did you mean section_icicle"),
                                    {"custom_jtes", "did you mean jets?"},
                                    {"compare_wal_time", "did you mean wall_time"}}) {
    const std::string message(MakeChart(name, input).status().message());
    EXPECT_NE(message.find(meant), std::string::npos) << message;
  }
}

TEST(ChartNames, ANameThatUsersGaveIsText) {
  Json document = MadeDocument();
  document["custom_metrics"][0]["name"] = "\u202E</script>";
  const Measurement measurement = MeasurementOf(document);
  ChartInput input;
  input.measurement = &measurement;
  const absl::StatusOr<Chart> chart = MakeChart("custom_\u202E</script>", input);
  ASSERT_TRUE(chart.ok()) << chart.status();
  EXPECT_EQ(chart->title, "What values did  </script> have?");
}

}  // namespace
}  // namespace crema
