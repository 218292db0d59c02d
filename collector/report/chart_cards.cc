// The standard charts of a block: those that say most in cards, the others folded; all drawn when they come into view.
#include <set>

#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/records/json_fields.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"

namespace crema {
namespace {

/// Where the families of charts are on the page.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kFamilies = {{
    {"Where time goes", "time"},
    {"What would help", "outlook"},
    {"Timeline", "timeline"},
    {"Throughput", "throughput"},
    {"Workers", "workers"},
    {"Engine", "workers"},
    {"Processes", "processes"},
    {"Chunks", "chunks"},
    {"Datasets", "inputs"},
    {"Fine metrics", "fine"},
    {"Custom metrics", "custom"},
    {"Key figures", "environment"},
}};

/// What is seen at once, in this order; the others of a block are folded.
struct Shown {
  std::string_view name;
  bool is_wide;
};
constexpr std::array<Shown, 11> kShown = {{
    {"event_latencies", false},
    {"event_latency_timeline", false},
    {"throughput_timeline", true},
    {"memory_small_multiples", true},
    {"process_timeline", true},
    {"cpu_heatmap", false},
    {"worker_balance", false},
    {"runtime_distribution", false},
    {"runtime_vs_events", false},
    {"fine_by_function", false},
    {"fine_by_activity", false},
}};

constexpr std::array<std::string_view, 5> kDrawnByThePage = {"chunk_timeline", "concurrency_timeline", "section_icicle",
                                                             "cut_flow", "slowest_chunks"};

size_t RankOf(std::string_view name) {
  const auto found = absl::c_find_if(kShown, [name](const Shown& shown) { return shown.name == name; });
  return static_cast<size_t>(found - kShown.begin());
}

std::vector<const Chart*> ChartsOf(const PageInput& input, std::string_view block) {
  std::vector<const Chart*> charts;
  for (const PageChart& chart : input.charts) {
    if (BlockOfFamily(chart.family) == block && !IsDrawnByThePage(chart.chart.name)) charts.push_back(&chart.chart);
  }
  SortBy(&charts, [](const Chart* a) { return RankOf(a->name); });
  return charts;
}

/// Charts of a page are looked at one after the other: lower than those that are alone.
constexpr int kHighest = 200, kHighestPanel = 110;

/// Its panels are beside each other where there is room (page/charts.js).
constexpr std::string_view kSideBySide = "throughput_timeline";

void Lower(Json* view, int most) {
  if (NumberField(*view, "height").value_or(0) > most) (*view)["height"] = most;
}

/// The card has the title, and the theme's colours are in the page once.
Json OnCard(const Chart& chart) {
  Json spec = chart.spec;
  spec.erase("config");
  spec.erase("title");
  Lower(&spec, kHighest);
  if (spec.contains("vconcat")) {
    for (auto& part : spec["vconcat"]) Lower(&part, kHighestPanel);
    if (chart.name == kSideBySide) spec["hconcat"] = spec["vconcat"], spec.erase("vconcat");
  }
  spec["background"] = nullptr;
  spec["padding"] = 2;
  return spec;
}

/// The encoding of the view itself or of its first layer.
const Json& EncodingOf(const Json& spec) {
  const Json& layers = ListField(spec, "layer");
  return Field(layers.empty() ? spec : layers.front(), "encoding");
}

/// The value that all of a chart's are; nullopt where they differ, or where it draws fewer than two.
std::optional<double> OnlyValue(const Json& spec) {
  const Json& encoding = EncodingOf(spec);
  const auto is_quantity = [&](const char* axis) {
    return TextField(Field(encoding, axis), "type") == "quantitative" && Field(encoding, axis).contains("field");
  };
  const char* axis = is_quantity("y") ? "y" : "x";
  const bool has_ranges = encoding.contains("x2") || encoding.contains("y2");  // of a histogram
  if (!is_quantity(axis) || has_ranges) return std::nullopt;
  const std::string field = TextField(Field(encoding, axis), "field");
  std::optional<double> only;
  size_t count = 0;
  for (const auto& value : ListField(Field(spec, "data"), "values")) {
    const std::optional<double> number = NumberField(value, field);
    if (!number.has_value()) continue;
    if (count++ > 0 && *number != *only) return std::nullopt;
    only = number;
  }
  return count > 1 ? only : std::nullopt;
}

size_t RowsOf(const Json& spec, const std::string& field) {
  std::set<std::string> rows;
  for (const auto& row : Field(Field(spec, "data"), "values")) {
    if (row.is_object() && row.contains(field)) rows.insert(JsonText(row[field]));
  }
  return rows.size();
}

/// About how high a chart becomes, in pixels: the room that is kept for it until it is drawn.
int HeightOf(const Json& spec) {
  constexpr double kAxisAndLegend = 64, kUsual = 240, kPanelHead = 45, kLegendLine = 15;
  if (const Json& parts = ListField(spec, "vconcat"); !parts.empty()) return SumOf<int>(parts, HeightOf);
  if (const Json& beside = ListField(spec, "hconcat"); !beside.empty()) return HeightOf(beside.front());
  const Json& height = Field(spec, "height");
  double inside = height.is_number() ? height.get<double>() : kUsual;
  if (height.is_object()) {
    const std::string rows = TextField(Field(EncodingOf(spec), "y"), "field");
    inside = NumberField(height, "step").value_or(20) * static_cast<double>(RowsOf(spec, rows));
  }
  if (const std::string facet = TextField(Field(spec, "facet"), "field"); !facet.empty()) {
    const double columns = std::max(1.0, NumberField(spec, "columns").value_or(1));
    const double rows = std::ceil(static_cast<double>(RowsOf(spec, facet)) / columns);
    inside = rows * (NumberField(Field(spec, "spec"), "height").value_or(kUsual) + kPanelHead) - kAxisAndLegend / 2;
  }
  for (const auto& layer : ListField(spec, "layer")) {
    const Json& colour = Field(Field(layer, "encoding"), "color");
    const size_t names = ListField(Field(colour, "scale"), "domain").size();
    if (TextField(Field(colour, "legend"), "orient") == "bottom") inside += kLegendLine * static_cast<double>(names);
  }
  return static_cast<int>(std::lround(inside + kAxisAndLegend));
}

std::string CardOfChart(const Chart& chart, bool is_wide) {
  return fmt::format(
      "<figure class=\"card chart{3}\" id=\"chart-{0}\"><figcaption><h3>{1}</h3><p class=\"sub\">{2}</p></figcaption>"
      "<div class=\"canvas js\" data-chart=\"{0}\" data-height=\"{4}\" role=\"img\" aria-label=\"{1} {2}\"></div>"
      "<p class=\"nojs\">The picture needs scripting.</p>"
      "<details class=\"js\" data-table=\"{0}\"><summary>show as table</summary></details></figure>\n",
      Escaped(chart.name), Escaped(chart.title), Escaped(chart.subtitle), is_wide ? " wide" : "",
      HeightOf(OnCard(chart)));
}

}  // namespace

std::string Fold(std::string_view title, const std::string& html) {
  return fmt::format("<details class=\"absent-charts\"><summary>{}</summary>{}</details>\n", Escaped(title), html);
}

std::string ChartCards(const PageInput& input, std::string_view block, const std::string& folds) {
  std::string cards, folded, absent;
  size_t more = 0;
  for (const Chart* chart : ChartsOf(input, block)) {
    const size_t rank = RankOf(chart->name);
    if (chart->spec.is_null()) {
      absent += fmt::format("<li><b>{}</b> {}</li>\n", Escaped(chart->title), Escaped(chart->reason));
    } else if (rank == kShown.size() && OnlyValue(chart->spec).has_value()) {
      absent += fmt::format("<li><b>{}</b> all values are equal: {}</li>\n", Escaped(chart->title),
                            Escaped(HumanNumber(*OnlyValue(chart->spec))));
    } else if (rank < kShown.size()) {
      cards += CardOfChart(*chart, kShown[rank].is_wide);
    } else {
      folded += CardOfChart(*chart, false);
      ++more;
    }
  }
  std::string html = cards.empty() ? "" : "<div class=\"charts\">\n" + cards + "</div>\n";
  if (more > 0) {
    folded = Fold(Counted(more, "more chart", "more charts"), "<div class=\"charts\">\n" + folded + "</div>");
  }
  if (!absent.empty()) absent = Fold("charts that are not drawn, and why", "<ul>" + absent + "</ul>");
  if (!(folded + folds + absent).empty()) html += "<div class=\"folds\">" + folds + folded + absent + "</div>\n";
  return html;
}

std::string ChartData(const PageInput& input, std::string_view block) {
  std::string data;
  for (const Chart* chart : ChartsOf(input, block)) {
    if (!chart->spec.is_null()) data += DataScript("spec-" + chart->name, OnCard(*chart));
  }
  return data;
}

std::string_view BlockOfFamily(std::string_view family) {
  const auto* found = FindBy(kFamilies, &std::pair<std::string_view, std::string_view>::first, family);
  return found == nullptr ? "" : found->second;
}

bool IsDrawnByThePage(std::string_view chart) { return absl::c_find(kDrawnByThePage, chart) != kDrawnByThePage.end(); }

std::vector<std::string_view> ChartsThatThePageNames() {
  std::vector<std::string_view> names(kDrawnByThePage.begin(), kDrawnByThePage.end());
  for (const Shown& shown : kShown) names.push_back(shown.name);
  names.push_back(kSideBySide);
  return names;
}

}  // namespace crema
