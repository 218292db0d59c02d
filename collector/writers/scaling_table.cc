#include "collector/writers/scaling_table.h"

#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/records/loose_json.h"
#include "collector/writers/document_table.h"
#include "collector/writers/table_text.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::vector<CellColumn> PointColumns(bool is_predicted) {
  std::vector<CellColumn> columns = {{"name", "run", Kind::kPath, 0},
                                     {"cores_text", "cores", Kind::kText, 0},
                                     {"wall_time", "wall time", Kind::kDuration, 0},
                                     {"throughput", "rate", Kind::kRate, 2},
                                     {"speedup", "speed-up", Kind::kNumber, 0},
                                     {"efficiency", "efficiency", Kind::kShare, 0},
                                     {"core_seconds", "core-seconds", Kind::kNumber, 1},
                                     {"cost", "cost", Kind::kNumber, 3}};
  // runs that were measured have no range
  if (is_predicted) columns.insert(columns.begin() + 3, {"range", "90 % of runs", Kind::kText, 0});
  return columns;
}

std::vector<CellColumn> FitColumns() {
  return {{"law", "fit", Kind::kText, 0},
          {"sigma", "serial or queued", Kind::kText, 0},
          {"kappa", "each pair of cores", Kind::kText, 0},
          {"fastest", "fastest at", Kind::kText, 0},
          {"worthwhile", "last worthwhile core", Kind::kText, 0},
          {"error", "error of a run", Kind::kShare, 1}};
}

bool IsTrue(const Json& row, const char* key) { return Field(row, key).is_boolean() && Field(row, key).get<bool>(); }

Json PointRow(const Json& point) {
  Json row = point;
  const std::string cores = HumanCount(NumberField(point, "cores").value_or(0));
  row["cores_text"] = IsTrue(point, "cores_vary") ? "on average " + cores : cores;
  const auto low = NumberField(point, "low"), high = NumberField(point, "high");
  if (low.has_value() && high.has_value()) {
    row["range"] = fmt::format("{} to {}", HumanDuration(*low), HumanDuration(*high));
  }
  return row;
}

/// `12 (10 to 15)`, `12 (10 or more)`, `none (40 or more)`.
std::string Range(const Json& number, std::string (*text)(double)) {
  const auto value = NumberField(number, "value"), low = NumberField(number, "low"), high = NumberField(number, "high");
  if (!value.has_value() && !low.has_value()) return "none";
  return fmt::format("{} ({})", value.has_value() ? text(*value) : "none",
                     high.has_value() ? fmt::format("{} to {}", text(low.value_or(0)), text(*high))
                                      : text(low.value_or(0)) + " or more");
}

std::string Share(double share) { return HumanPercent(share); }
std::string Count(double count) { return HumanCount(count); }

Json FitRow(const Json& fit) {
  const bool is_usl = TextField(fit, "law") == "usl";
  return {{"law", is_usl ? "USL" : "Amdahl"},
          {"sigma", Range(Field(fit, "sigma"), Share)},
          {"kappa", is_usl ? Range(Field(fit, "kappa"), Share) : "–"},
          {"fastest", is_usl ? Range(Field(fit, "fastest"), Count) : "–"},
          {"worthwhile", Range(Field(fit, "worthwhile"), Count)},
          {"error", Field(fit, "error")}};
}

}  // namespace

std::string RenderScaling(const Json& scaling, const TerminalStyle& style) {
  std::string text;
  AddNote(TextField(scaling, "sentence"), style, &text);
  Json rows = Json::array();
  for (const Json& point : ListField(scaling, "points")) rows.push_back(PointRow(point));
  const bool is_predicted = TextField(scaling, "kind") == "predicted";
  if (!rows.empty()) AddTable(TableOf(CellsOf(rows, PointColumns(is_predicted))), style, &text);
  Json fits = Json::array();
  for (const Json& fit : ListField(scaling, "fits")) fits.push_back(FitRow(fit));
  if (!fits.empty()) {
    AddTitle("fits, with 90 % intervals", style, &text);
    AddTable(TableOf(CellsOf(fits, FitColumns())), style, &text);
  }
  const std::string not_fitted = TextField(scaling, "not_fitted");
  if (!not_fitted.empty() && !rows.empty()) AddNote("no fit: " + not_fitted, style, &text);
  for (const Json& note : ListField(scaling, "notes")) {
    if (note.is_string()) AddNote("note: " + note.get<std::string>(), style, &text);
  }
  for (const Json& run : ListField(scaling, "left_out")) {
    AddNote(fmt::format("left out: {}: {}", TextField(run, "name"), TextField(run, "reason")), style, &text);
  }
  return text;
}

}  // namespace crema
