// Tables for the terminal: how values are written, which columns are left out, and how the rest is laid out.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/terminal/terminal_box.h"

namespace crema {

struct TableColumn {
  std::string header;  ///< of all columns empty: the table has no header line
  Align align = Align::kRight;
  int rank = 0;             ///< the highest goes first; of equal ones the rightmost
  bool is_elastic = false;  ///< is cut when the columns that stay still do not fit
  bool keeps_end = false;   ///< is cut at the front
};

struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<PaintedLine> rows;  ///< one piece a column
};

struct LaidOutTable {
  std::vector<PaintedLine> lines;     ///< the header first; pieces are padded, the last one too
  std::vector<std::string> left_out;  ///< headers of the columns that did not fit
  int columns = 0;                    ///< width of every line
};

/// Lays the table out in at most `width` columns, as far as its first column allows.
LaidOutTable LayOut(const TextTable& table, int width, const TerminalStyle& style);

/// A bold line, after an empty one where text is before it.
void AddTitle(std::string_view title, const TerminalStyle& style, std::string* text);

/// A sentence, broken over as many lines as it needs, `indent` columns from the left.
void AddLines(const std::string& sentence, int indent, Paint paint, const TerminalStyle& style, std::string* text);
/// A dim one.
void AddNote(const std::string& note, const TerminalStyle& style, std::string* text);

/// One block of lines, `indent` columns from the left, the values aligned under each other.
std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                          const TerminalStyle& style);

inline bool IsText(Kind kind) { return kind == Kind::kText || kind == Kind::kPath || kind == Kind::kFunction; }

/// A value in words; `–` where it is null or not of its kind.
std::string CellText(const Cell& cell, Kind kind);

struct DocumentTable {
  TextTable text;
  std::vector<std::string> reasons;       ///< by row: a sentence to put under it; empty: none
  std::vector<std::string> not_measured;  ///< headers of the columns that are null in every row, and left out
};

/// Whether a row has a value there.
bool HasValues(const CellTable& cells, size_t column);

DocumentTable TableOf(const CellTable& cells);

/// The table with its reasons, and under it the columns that did not fit or were not measured.
void AddTable(const DocumentTable& table, const TerminalStyle& style, std::string* text);

/// Rows of JSON that is not a measurement, by the columns' keys.
CellTable CellsOf(const Json& rows, std::vector<CellColumn> columns);

/// All digits the document holds; lists with spaces between.
std::string ExactText(const Cell& value);
std::string ExactText(const std::vector<std::string>& words);
std::string ExactText(const MetricValue& value);

/// For people: `6 m 17 s` of a value in `s`, `3.61 GiB` of memory and `284 GB` of data in `B`; an unknown unit is
/// written behind the number. `–` for null.
std::string MetricText(std::string_view key, const MetricValue& value, std::string_view unit);

/// The keys that it has, in docs/metrics.md's order, an alias after its key.
std::vector<std::string_view> KeysOf(const MetricSet& metrics);

}  // namespace crema
