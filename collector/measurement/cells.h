// Rows of any type as cells, for tables that people see and for spreadsheets.
#pragma once

#include <functional>

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

/// Rows as people are shown them: the columns that have a header, by their place.
CellTable CellsOf(absl::Span<const Column> columns, size_t rows, const std::function<const void*(size_t)>& row);
template <class Row>
CellTable CellsOf(const std::vector<Row>& rows) {
  return CellsOf(Row::Columns(), rows.size(), [&rows](size_t index) { return &rows[index]; });
}

/// A table of the document as people are shown it; its first column says what a row is.
CellTable CellsOf(const Table& table, const Measurement& measurement);

/// A number; nullopt: the cell is null, or something else.
std::optional<double> NumberOf(const Cell& cell);
inline bool IsNull(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }
/// All its digits, as JSON has them.
std::string DigitsOf(const Number& number);

}  // namespace crema
