#include "collector/writers/history_table.h"

#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/records/loose_json.h"
#include "collector/writers/document_table.h"
#include "collector/writers/table_text.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShownHash = 12;
constexpr size_t kShownReasons = 5;

std::vector<CellColumn> RunColumns() {
  return {{"start", "began (UTC)", Kind::kText, 0},
          {"directory", "run", Kind::kPath, 0},
          {"commit", "commit", Kind::kText, 0},
          {"value", "value", Kind::kText, 0},
          {"mark", "change", Kind::kText, 0}};
}

std::vector<CellColumn> LevelColumns() {
  return {{"start", "since (UTC)", Kind::kText, 0}, {"runs", "runs", Kind::kCount, 0},
          {"value", "level", Kind::kText, 0},       {"change", "change", Kind::kText, 0},
          {"range", "range", Kind::kText, 0},       {"commit", "first with", Kind::kText, 0}};
}

/// `2026-11-24 02:34`, of `2026-11-24T02:34:11.123Z`.
std::string Day(const Json& row) {
  std::string start = TextField(row, "start").substr(0, 16);
  std::replace(start.begin(), start.end(), 'T', ' ');
  return start;
}

std::string Value(const Json& history, const Json& row, const char* key) {
  return HumanQuantity(TextField(history, "metric"), NumberField(row, key).value_or(0), TextField(history, "unit"));
}

std::string Change(const Json& history, const Json& row, const char* key) {
  const Json& relative = Field(history, "relative");
  const double change = NumberField(row, key).value_or(0);
  return relative.is_boolean() && relative.get<bool>() ? HumanChange(change) : Value(history, row, key);
}

Json RunRows(const Json& history, size_t rows) {
  const Json& runs = ListField(history, "runs");
  Json shown = Json::array();
  for (size_t i = runs.size() - std::min(rows, runs.size()); i < runs.size(); ++i) {
    const std::string commit = TextField(runs[i], "commit").substr(0, kShownHash);
    Json row = {{"start", Day(runs[i])},
                {"directory", TextField(runs[i], "directory")},
                {"commit", commit.empty() ? Json() : Json(commit)},
                {"value", Value(history, runs[i], "value")},
                {"mark", ""}};
    for (const Json& change : ListField(history, "changes")) {
      if (NumberField(change, "run") == static_cast<double>(i)) row["mark"] = Change(history, change, "change");
    }
    shown.push_back(std::move(row));
  }
  return shown;
}

Json LevelRows(const Json& history) {
  const Json &levels = ListField(history, "levels"), &changes = ListField(history, "changes"),
             &runs = ListField(history, "runs");
  Json shown = Json::array();
  for (size_t i = 0; i < levels.size(); ++i) {
    const auto first = static_cast<size_t>(NumberField(levels[i], "first").value_or(0));
    Json row = {{"start", first < runs.size() ? Day(runs[first]) : ""},
                {"runs", Field(levels[i], "runs")},
                {"value", Value(history, levels[i], "value")}};
    if (i > 0 && i <= changes.size()) {
      const Json& change = changes[i - 1];
      row["change"] = Change(history, change, "change");
      row["range"] = fmt::format("{} to {}", Change(history, change, "low"), Change(history, change, "high"));
      const std::string commit = TextField(change, "commit").substr(0, kShownHash);
      if (!commit.empty()) row["commit"] = commit;
    }
    shown.push_back(std::move(row));
  }
  return shown;
}

}  // namespace

std::string RenderHistory(const Json& history, size_t rows, const TerminalStyle& style) {
  std::string text;
  for (const Json& sentence : ListField(history, "sentences")) {
    if (sentence.is_string()) AddNote(sentence.get<std::string>(), style, &text);
  }
  const std::string metric = TextField(history, "metric");
  const size_t runs = ListField(history, "runs").size();
  if (rows > 0) {
    AddTitle(rows < runs ? fmt::format("{} of the latest {} of {} runs", metric, rows, runs)
                         : fmt::format("{} of {}", metric, Counted(static_cast<double>(runs), "run", "runs")),
             style, &text);
    AddTable(TableOf(CellsOf(RunRows(history, rows), RunColumns())), style, &text);
  }
  if (ListField(history, "levels").size() > 1) {
    AddTitle("levels, with 90 % ranges", style, &text);
    AddTable(TableOf(CellsOf(LevelRows(history), LevelColumns())), style, &text);
  }
  for (const Json& note : ListField(history, "notes")) {
    if (note.is_string()) AddNote("note: " + note.get<std::string>(), style, &text);
  }
  size_t told = 0;
  for (const Json& run : ListField(history, "left_out")) {
    if (++told > kShownReasons) continue;
    AddNote(fmt::format("left out: {}: {}", TextField(run, "directory"), TextField(run, "reason")), style, &text);
  }
  if (told > kShownReasons) AddNote(fmt::format("left out: {} more (--json)", told - kShownReasons), style, &text);
  return text;
}

}  // namespace crema
