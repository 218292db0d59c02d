// The blocks of the page, in the order in which they are read. Each is a pure function of what was measured.
#pragma once

#include "collector/charts/chart.h"
#include "collector/measurement/measurement.h"
#include "collector/plot_data/run_detail.h"
#include "collector/scaling/scaling_study.h"

namespace crema {

/// A chart, and the family it belongs to (`ChartKind::family`).
struct PageChart {
  std::string family;
  Chart chart;
};

/// That are shown before one unfolds the others: more than three things to do are none.
inline constexpr size_t kMostFindings = 3;

/// What the page brings along, which the build makes from page/ and the npm packages.
struct PageAsset {
  std::string_view text;
  std::string_view hash;  ///< as a Content-Security-Policy wants it: `'sha256-…'`
};

extern const PageAsset kPageStyle;
extern const PageAsset kPageScript;
/// Vega, Vega-Lite and Vega's interpreter; empty where the build did not find them.
extern const PageAsset kChartScript;
extern const std::string_view kChartScriptVersions;  ///< `vega 6.4.0, vega-lite 6.5.0, ...`

/// What had to be left out so that the file stays small.
struct PageLimits {
  size_t table_rows = 200;
  bool sections_of_chunks = true, tasks = true;
  std::vector<std::string> notes;  ///< for the footer
};

/// What a replay of the run says.
struct RunOutlook {
  Prediction prediction;  ///< the best first
  ScalingStudy scaling;
};

struct PageInput {
  const Measurement& measurement;
  const RunDetail& detail;
  const std::vector<PageChart>& charts;
  PageLimits limits;
  const Measurement* baseline = nullptr;  ///< another measurement, to compare with
  const RunOutlook* outlook = nullptr;
  const Json* flames = nullptr;  ///< `FlamesOf`; null: no stacks were sampled, or none can be read
};

struct PageBlock {
  std::string_view id;     ///< of its heading; never changes, as people link to it
  std::string_view title;  ///< heading, and its name in the list of sections
  std::string intro = {};  ///< HTML: one or two sentences
  std::string html = {};
  std::string data = {};   ///< script elements, put at the end of the page
  std::string brief = {};  ///< HTML: one paragraph in place of all this, of a block that has nothing to show
};

PageBlock OverviewBlock(const PageInput& input);
PageBlock TimelineBlock(const PageInput& input);
PageBlock TimeBlock(const PageInput& input);
PageBlock OutlookBlock(const PageInput& input);
PageBlock ThroughputBlock(const PageInput& input);
PageBlock WorkersBlock(const PageInput& input);
/// For a run of which only the process tree is known.
PageBlock ProcessesBlock(const PageInput& input);
PageBlock ChunksBlock(const PageInput& input);
PageBlock InputsBlock(const PageInput& input);
PageBlock FineBlock(const PageInput& input);
PageBlock CustomBlock(const PageInput& input);
PageBlock FailuresBlock(const PageInput& input);
PageBlock EnvironmentBlock(const PageInput& input);
PageBlock GlossaryBlock(const PageInput& input);

/// In the head: which run the page compares with, and what should be equal and is not. Empty without a baseline.
std::string BaselineLine(const PageInput& input);

/// One bar of a whole: each part's name, colour and share.
struct ColouredShare {
  std::string name;
  std::string_view colour;
  double share = 0;
};
std::string SplitBar(const std::vector<ColouredShare>& parts);

/// The id of the block that a verdict is about; the overview for a verdict that only another version of crema knows.
std::string_view BlockOfVerdict(std::string_view verdict);

/// A line that unfolds, among those below the cards of a block.
std::string Fold(std::string_view title, const std::string& html);

/// The charts of a block in cards, and a line for each that has nothing to draw; and their specifications. `folds`:
/// what else is folded there.
std::string ChartCards(const PageInput& input, std::string_view block, const std::string& folds = "");
std::string ChartData(const PageInput& input, std::string_view block);

/// The id of the block that shows a family of charts; empty where none does.
std::string_view BlockOfFamily(std::string_view family);

/// The names of charts that the page treats in a way of their own.
std::vector<std::string_view> ChartsThatThePageNames();
/// Whether the page draws the chart itself, with more in it.
bool IsDrawnByThePage(std::string_view chart);

}  // namespace crema
