#include "collector/measurement/cells.h"

#include <algorithm>

#include "nlohmann/json.hpp"

namespace crema {

std::vector<const Column*> ShownColumns(absl::Span<const Column> columns) {
  std::vector<const Column*> shown;
  for (const Column& column : columns) {
    if (!column.header.empty()) shown.push_back(&column);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const Column* a, const Column* b) { return a->place < b->place; });
  return shown;
}

std::vector<CellColumn> HeadsOf(const std::vector<const Column*>& columns) {
  std::vector<CellColumn> heads;
  for (const Column* column : columns) {
    heads.push_back({column->key, std::string(column->header), column->kind, column->rank, column->opt_in});
  }
  return heads;
}

CellTable CellsOf(const Table& table, const Measurement& measurement) {
  const std::vector<const Column*> columns = ShownColumns(table.columns());
  CellTable cells = {HeadsOf(columns), {}};
  if (!table.header.empty()) {
    cells.columns.front().header = table.header;
    cells.columns.front().kind = table.header_kind;
  }
  for (size_t i = 0; i < table.size(measurement); ++i) {
    std::vector<Cell>& row = cells.rows.emplace_back();
    for (const Column* column : columns) row.push_back(column->cell(table.row(measurement, i)));
  }
  return cells;
}

std::optional<double> NumberOf(const Cell& cell) {
  const Number* number = std::get_if<Number>(&cell);
  return number == nullptr ? std::nullopt : std::optional<double>(*number);
}

std::string DigitsOf(const Number& number) {
  Json value;
  WriteValue(number, &value);
  return value.dump();
}

bool IsNull(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

}  // namespace crema
