#include "collector/measurement/cells.h"

#include "collector/idioms/sequences.h"
#include "nlohmann/json.hpp"

namespace crema {

CellTable CellsOf(absl::Span<const Column> columns, size_t rows, const std::function<const void*(size_t)>& row) {
  std::vector<const Column*> shown = PlacesWhere(columns, [](const Column& column) { return !column.header.empty(); });
  SortBy(&shown, &Column::place);
  CellTable cells;
  for (const Column* column : shown) {
    cells.columns.push_back({column->key, std::string(column->header), column->kind, column->rank, column->opt_in});
  }
  for (size_t i = 0; i < rows; ++i) {
    cells.rows.push_back(Mapped<Cell>(shown, [&](const Column* column) { return column->cell(row(i)); }));
  }
  return cells;
}

CellTable CellsOf(const Table& table, const Measurement& measurement) {
  CellTable cells =
      CellsOf(table.columns(), table.size(measurement), [&](size_t index) { return table.row(measurement, index); });
  if (!table.header.empty()) {
    cells.columns.front().header = table.header;
    cells.columns.front().kind = table.header_kind;
  }
  return cells;
}

std::optional<double> NumberOf(const Cell& cell) {
  const Number* number = std::get_if<Number>(&cell);
  return number == nullptr ? std::nullopt : std::optional<double>(*number);
}

std::string DigitsOf(const Number& number) { return JsonOf(number).dump(); }

}  // namespace crema
