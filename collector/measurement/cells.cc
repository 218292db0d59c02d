#include "collector/measurement/cells.h"

#include "collector/idioms/sequences.h"
#include "nlohmann/json.hpp"

namespace crema {

std::vector<const Column*> ShownColumns(absl::Span<const Column> columns) {
  std::vector<const Column*> shown = PlacesWhere(columns, [](const Column& column) { return !column.header.empty(); });
  SortBy(&shown, &Column::place);
  return shown;
}

std::vector<CellColumn> HeadsOf(const std::vector<const Column*>& columns) {
  return Mapped<CellColumn>(columns, [](const Column* column) {
    return CellColumn{column->key, std::string(column->header), column->kind, column->rank, column->opt_in};
  });
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

}  // namespace crema
