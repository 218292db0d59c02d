#include "collector/writers/document_table.h"

#include <cmath>
#include <functional>
#include <optional>

#include "collector/appearance/function_names.h"
#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNothing = "–";

/// What tells it from others stands at its end.
bool IsCutAtItsBegin(FieldKind kind) { return kind == FieldKind::kPath || kind == FieldKind::kFunction; }

/// Compact, and never an exception on text that is not UTF-8.
std::string Dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

bool IsText(FieldKind kind) {
  return kind == FieldKind::kText || kind == FieldKind::kPath || kind == FieldKind::kFunction;
}

std::string FieldText(const Json& value, FieldKind kind) {
  if (value.is_null()) return std::string(kNothing);
  if (value.is_string() && kind == FieldKind::kFunction) return ShortFunctionName(value.get_ref<const std::string&>());
  if (value.is_string()) return value.get<std::string>();
  if (kind == FieldKind::kFlag) return value.is_boolean() && value.get<bool>() ? "yes" : "no";
  if (!value.is_number()) return IsText(kind) ? Dump(value) : std::string(kNothing);
  const double number = value.get<double>();
  if (!std::isfinite(number)) return std::string(kNothing);
  switch (kind) {
    case FieldKind::kText:
    case FieldKind::kPath:
    case FieldKind::kFunction:
      return Dump(value);
    case FieldKind::kCount:
      return HumanCount(number);
    case FieldKind::kExactCount:
      return ExactCount(number);
    case FieldKind::kDuration:
      return HumanDuration(number);
    case FieldKind::kMemory:
      return HumanMemory(number);
    case FieldKind::kData:
      return HumanData(number);
    case FieldKind::kShare:
      return HumanPercent(number, 1);
    case FieldKind::kRate:
      return HumanRate(number);
    case FieldKind::kNumber:
    case FieldKind::kFlag:
      break;
  }
  return HumanNumber(number);
}

DocumentTable TableOf(const Json& rows, const std::vector<DocumentColumn>& columns) {
  DocumentTable table;
  std::vector<DocumentColumn> shown;
  for (const DocumentColumn& column : columns) {
    bool is_there = shown.empty() || column.rank == 0;
    for (const Json& row : rows) is_there = is_there || !Field(row, column.field).is_null();
    if (!is_there) {
      if (!column.has_a_switch) table.not_measured.emplace_back(column.header);
      continue;
    }
    const bool is_text = IsText(column.kind);
    shown.push_back(column);
    table.text.columns.push_back({std::string(column.header), is_text ? Align::kLeft : Align::kRight, column.rank,
                                  is_text, IsCutAtItsBegin(column.kind)});
  }
  for (const Json& row : rows) {
    PaintedLine line;
    for (const DocumentColumn& column : shown) {
      line.push_back({FieldText(Field(row, column.field), column.kind), Paint::kPlain});
    }
    table.text.rows.push_back(std::move(line));
  }
  return table;
}

}  // namespace crema
