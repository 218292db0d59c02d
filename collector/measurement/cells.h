// Rows of any type as cells, for tables that people see and for spreadsheets.
#pragma once

#include "collector/measurement/column.h"
#include "collector/measurement/measurement.h"

namespace crema {

struct CellColumn {
  std::string_view key;
  std::string header;
  Kind kind = Kind::kCount;
  int rank = 0;
  bool opt_in = false;
};

struct CellTable {
  std::vector<CellColumn> columns;
  std::vector<std::vector<Cell>> rows;  ///< one cell for each column
};

/// The columns that have a header, by their place.
std::vector<const Column*> ShownColumns(absl::Span<const Column> columns);
std::vector<CellColumn> HeadsOf(const std::vector<const Column*>& columns);

/// Rows as people are shown them.
template <class Row>
CellTable CellsOf(const std::vector<Row>& rows) {
  const std::vector<const Column*> columns = ShownColumns(Row::Columns());
  CellTable table = {HeadsOf(columns), {}};
  for (const Row& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const Column* column : columns) cells.push_back(column->cell(&row));
  }
  return table;
}

/// A table of the document as people are shown it; its first column says what a row is.
CellTable CellsOf(const Table& table, const Measurement& measurement);

/// A number; nullopt: the cell is null, or something else.
std::optional<double> NumberOf(const Cell& cell);
inline bool IsNull(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }
/// All its digits, as JSON has them.
std::string DigitsOf(const Number& number);

}  // namespace crema
