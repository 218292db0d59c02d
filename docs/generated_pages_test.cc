// The tables of docs/metrics.md, docs/verdicts.md and docs/plots.md say what the code's own tables say; so do the
// numbers in the text of docs/verdicts.md, and Python's list of tables. After a change of these, write them again:
//   bazel run //docs:generated_pages_test -- --write
#include <fmt/args.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "collector/charts/chart.h"
#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/verdict_table.h"
#include "collector/format/colours.h"
#include "collector/measurement/budget_parts.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/measurement.h"
#include "collector/render/renderer.h"
#include "fmt/format.h"

namespace crema {
namespace {

bool g_write = false;

/// A file with tables that the code knows. All else in it is written by hand.
class Page {
 public:
  explicit Page(const std::string& path) {
    // `bazel run` says where the sources are; a test sees its copy of them.
    const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
    path_ = (workspace == nullptr ? "" : std::string(workspace) + "/") + path;
    std::ifstream file(path_);
    text_ = written_ = std::string(std::istreambuf_iterator<char>(file), {});
  }
  ~Page() {
    if (g_write) std::ofstream(path_) << text_;
    EXPECT_TRUE(g_write || text_ == written_)
        << path_ << " is not what the code says; bazel run //docs:generated_pages_test -- --write";
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  /// Replaces what is between two texts, each of which the page has.
  void Put(std::string_view after, std::string_view before, const std::string& text) {
    const size_t found = text_.find(after), begin = found + after.size();
    const size_t end = found == text_.npos ? found : text_.find(before, begin);
    if (end == text_.npos) {
      ADD_FAILURE() << path_ << " has no `" << after << "` with `" << before << "` behind it";
      return;
    }
    text_.replace(begin, end - begin, text);
  }
  /// Replaces the first table below a heading.
  void PutTable(const std::string& heading, const std::string& table) {
    const size_t found = text_.find("\n" + heading + "\n"), begin = text_.find("\n| ", found);
    if (found == text_.npos || begin == text_.npos) {
      ADD_FAILURE() << path_ << " has no table below " << heading;
      return;
    }
    const size_t end = std::min(text_.find("\n\n", begin), text_.size() - 1);
    text_.replace(begin + 1, end - begin, table);
  }

 private:
  std::string path_;
  std::string text_;
  std::string written_;
};

/// A cell of a table: a bar would end it.
std::string CellText(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string MetricTable(absl::Span<const MetricEntry> entries) {
  std::string table = "| key (alias) | label | unit | definition |\n|---|---|---|---|\n";
  for (const MetricEntry& entry : entries) {
    const std::string alias = entry.alias.empty() ? "" : fmt::format(" (`{}`)", entry.alias);
    table += fmt::format("| `{}`{} | {} | {} | {} |\n", entry.key, alias, CellText(entry.label), CellText(entry.unit),
                         CellText(entry.text));
  }
  return table;
}

std::string QuantityTable() {
  std::string table = "| key | label | unit | of |\n|---|---|---|---|\n";
  for (const ChunkQuantity& quantity : ChunkQuantities()) {
    table += fmt::format("| `{}_*` | {} | {} | {} |\n", quantity.key, quantity.label, quantity.unit, quantity.text);
  }
  return table;
}

/// A table of keys: what they are counted in or belong to, and what they mean.
template <class Rows, class RowOf>
std::string FieldTable(std::string_view head, const Rows& rows, const RowOf& row_of) {
  std::string table = fmt::format("| {} |\n|---|---|---|\n", head);
  for (const auto& row : rows) {
    const auto [key, unit, meaning] = row_of(row);
    table += fmt::format("| `{}` | {} | {} |\n", key, CellText(unit), CellText(meaning));
  }
  return table;
}

std::string ColumnTable(absl::Span<const Column> columns) {
  return FieldTable("field | unit | what it is", columns,
                    [](const Column& column) { return std::tuple(column.key, column.unit, column.meaning); });
}

/// Tables of the same columns are described together, where the first of them stands.
std::string RowTables() {
  std::string text;
  std::set<const Column*> described;
  for (const Table& table : Tables()) {
    const absl::Span<const Column> columns = table.columns();
    if (!described.insert(columns.data()).second) continue;
    std::string names;
    for (const Table& other : Tables()) {
      if (other.columns().data() == columns.data()) {
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", other.key);
      }
    }
    text += fmt::format("### {}\n\n{}\n\n{}\n", names, table.about, ColumnTable(columns));
  }
  return text;
}

TEST(GeneratedPages, MetricsAreThoseOfTheCatalog) {
  Page page("docs/metrics.md");
  page.PutTable("## The run", MetricTable(RunMetrics()));
  page.PutTable("## Workers and the process tree", MetricTable(WorkerMetrics()));
  page.PutTable("## Chunks: distributions", QuantityTable());
  page.PutTable("## Chunks, sections and reading", MetricTable(ChunkMetrics()));
  page.PutTable("## Fine metrics", MetricTable(FineMetrics()));
  page.PutTable("## Efficiency", MetricTable(EfficiencyMetrics()));
  page.PutTable("## The core-second budget",
                FieldTable("part | group | what it is", kBudgetParts,
                           [](const BudgetPartKind& part) { return std::tuple(part.part, part.group, part.meaning); }));
  page.Put("field by field.\n\n", "### `timelines`", RowTables());
  page.PutTable("### `timelines`",
                FieldTable("series | unit | what it is", TimelineKinds(),
                           [](const TimelineKind& kind) { return std::tuple(kind.key, kind.unit, kind.meaning); }));
  page.PutTable("### `quality`", ColumnTable(Quality::Columns()));
}

TEST(GeneratedPages, PythonHasTheTablesOfTheDocument) {
  std::set<std::string_view> names;
  for (const Table& table : Tables()) names.insert(table.key);
  std::string lines;
  for (const std::string_view name : names) lines += fmt::format("    \"{}\",\n", name);
  Page("python/crema_hep/measurement.py").Put("\n_TABLES = (\n", ")\n", lines);
}

std::string RuleText(const VerdictRule& rule) {
  const bool may_be_bad = std::isfinite(rule.threshold.bad);
  std::string text = fmt::format("## `{}`\n\n| | |\n|---|---|\n| severity | {}{} |\n| fires when | {} |\n", rule.id,
                                 ToString(rule.threshold.severity), may_be_bad ? ", or bad" : "", ConditionText(rule));
  text += fmt::format("| threshold | {}{} |\n| reason | {} |\n", ToString(rule.threshold),
                      may_be_bad ? fmt::format("; bad from {}", rule.threshold.bad) : "", rule.reason);
  for (const Bound* bound : rule.also) text += fmt::format("| also | {}: {} |\n", ToString(*bound), bound->reason);
  const std::string_view suggestion = rule.suggestion.empty() ? "nothing is to be done" : rule.suggestion;
  return text + fmt::format("| suggestion | {} |\n\n", suggestion);
}

TEST(GeneratedPages, VerdictsAreThoseOfTheTable) {
  Page page("docs/verdicts.md");
  std::string rules;
  for (const VerdictRule& rule : VerdictTable()) rules += RuleText(rule);
  page.Put("if one of these verdicts fires.\n\n", "## The headline", rules);

  const auto threshold = [](std::string_view id) { return ToString(RuleOf(id).threshold); };
  const std::string overhead = ToString(kOverheadBound), starved = ToString(kStarved);
  page.Put("| compute-bound | CPU in your code ", ", for any", threshold("compute-bound"));
  page.Put("| waiting-bound, short of CPU | waiting in your code ", " and more than CPU",
           threshold("waiting-bound") + ", or " + ToString(kWaitsToo));
  page.Put("| gpu-bound, gpu-copies | waiting for the GPU ", "; gpu-copies", threshold("gpu-bound"));
  page.Put("| time around your code ", "; set-up-bound", threshold("opening-bound"));
  page.Put("| CPU, or waiting for a CPU, outside chunks ", " | as overhead-bound", overhead);
  page.Put("| overhead-bound | framework and repeated work ", " |\n",
           fmt::format("{} | {}", overhead, kOverheadBound.reason));
  page.Put("| starved | idle ", " |\n", fmt::format("{} | {}", starved, kStarved.reason));
  page.Put("| over-allocated | unused by tasks ", " | as starved", starved);
  page.Put("a verdict's saving, if it is ", ".\n\n",
           fmt::format("{}: {}", ToString(kWorthASentence), kWorthASentence.reason));

  const auto put_number = [&page](std::string_view after, std::string_view before, double number) {
    page.Put(after, before, fmt::format("{:g}", number));
  };
  put_number("to keep the fixed cost below ", " % of its time", 100 * kMostFixedCost);
  put_number("% of its time: ", " fixed / slope", 1 / kMostFixedCost - 1);
  put_number("the expected tail below ", " %. On n cores", 100 * kMostTail);
  put_number("so d <= ", " lane_time", 2 * kMostTail);
  put_number("a worker of average memory below ", " % of the smallest", 100 * kMostMemory);
  put_number("for a dataset with fewer than ", " chunks", kChunksOfFit.value);
  put_number("fixed cost is wider than\n", " % of a median", 100 * kClearFixedCost.value);
  put_number("the largest has less than ", " times the events", kSpreadOfFit.value);
  put_number("sure that events\ntake at most ", " % of a chunk's time", 100 * kSizeHardlyMatters.value);
  put_number("used. Ask for the\n", " % quantile", 100 * kRequestQuantile);
  put_number("A job of less than ", " s shows nothing", kSecondsOfJob.value);
  put_number("Fewer than\n", " jobs give no advice", kJobsOfRequest.value);

  std::string bands = "| figure | good | bad | reason |\n|---|---|---|---|\n";
  for (const KeyFigureBand& band : KeyFigureBands()) {
    bands += fmt::format("| {} | {} {} | {} {} | {} |\n", band.name, band.more_is_better ? ">=" : "<=", band.good,
                         band.more_is_better ? "<" : ">", band.bad, band.reason);
  }
  page.PutTable("## Bands of the key figures", bands);
}

TEST(GeneratedPages, PlotsAreThoseOfTheTable) {
  Page page("docs/plots.md");
  page.Put("pip install vl-convert-python==", "`", std::string(kVlConvertVersion));
  std::string charts = "| name | question | marks |\n|---|---|---|\n";
  for (const ChartKind& kind : ChartKinds()) {
    charts += fmt::format("| `{}` | {} | {} |\n", kind.name, kind.question, kind.text);
  }
  page.PutTable("## Charts", charts);
  std::string colours = "| name | light | dark | stands for |\n|---|---|---|---|\n";
  for (const std::vector<Colour>* table : {&Colours(), &DatasetColours()}) {
    for (const Colour& colour : *table) {
      colours += fmt::format("| {} | `{}` | `{}` | {} |\n", colour.name, colour.light, colour.dark, colour.meaning);
    }
  }
  page.PutTable("## Colours", colours);
}

}  // namespace
}  // namespace crema

int main(int count, char** values) {
  testing::InitGoogleTest(&count, values);
  crema::g_write = count > 1 && std::string_view(values[1]) == "--write";
  return RUN_ALL_TESTS();
}
