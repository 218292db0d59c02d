#include "collector/writers/prediction_table.h"

#include "collector/appearance/human_numbers.h"
#include "collector/records/loose_json.h"
#include "collector/writers/document_table.h"
#include "collector/writers/table_text.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::vector<CellColumn> PredictionColumns() {
  return {{"change", "with", Kind::kText, 0},
          {"wall_time", "wall time", Kind::kDuration, 0},
          {"difference", "change", Kind::kText, 0},
          {"range", "90 % of runs", Kind::kText, 0},
          {"core_seconds", "core-seconds", Kind::kNumber, 1},
          {"core_hours", "core-hours", Kind::kNumber, 2},
          {"efficiency", "CPU efficiency", Kind::kShare, 2},
          {"busy_share", "lanes busy", Kind::kShare, 3}};
}

}  // namespace

std::string RenderPrediction(const Json& prediction, const TerminalStyle& style) {
  const double measured = NumberField(Field(prediction, "measured"), "wall_time").value_or(0);
  const auto replayed = NumberField(Field(prediction, "replayed"), "wall_time");
  std::string text;
  const std::string refused = TextField(prediction, "refused");
  if (!refused.empty()) {
    AddNote("nothing is predicted from this run: " + refused, style, &text);
    return text;
  }
  AddNote(fmt::format("The run took {}. Its chunks, replayed on its own lanes, take {}.", HumanDuration(measured),
                      HumanDuration(replayed.value_or(0))),
          style, &text);
  if (NumberField(prediction, "blocked_slope").has_value()) {
    AddNote(
        "In this run chunks were blocked for longer while more of them were open. With other lanes they are taken "
        "to be so, too.",
        style, &text);
  }
  Json rows = Json::array();
  std::string not_told;
  for (const Json& row : ListField(prediction, "predicted")) {
    const auto wall_time = NumberField(row, "wall_time");
    if (!wall_time.has_value()) {
      not_told += fmt::format("{}: {}\n", TextField(row, "change"), TextField(row, "not_told"));
      continue;
    }
    Json shown = row;
    shown["range"] = fmt::format("{} to {}", HumanDuration(NumberField(row, "low").value_or(0)),
                                 HumanDuration(NumberField(row, "high").value_or(0)));
    shown["difference"] = measured > 0 ? HumanChange(*wall_time / measured - 1) : "";
    rows.push_back(std::move(shown));
  }
  if (!rows.empty()) AddTable(TableOf(CellsOf(rows, PredictionColumns())), style, &text);
  for (size_t begin = 0; begin < not_told.size();) {
    const size_t end = not_told.find('\n', begin);
    AddNote("not told for " + not_told.substr(begin, end - begin), style, &text);
    begin = end + 1;
  }
  return text;
}

}  // namespace crema
