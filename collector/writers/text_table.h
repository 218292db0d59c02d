// Rows and columns of text, laid out to a width: columns align, the least important ones go first.
#ifndef CREMA_COLLECTOR_WRITERS_TEXT_TABLE_H_
#define CREMA_COLLECTOR_WRITERS_TEXT_TABLE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/writers/display_text.h"
#include "collector/writers/terminal_box.h"

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

/// A bold line, after an empty one where text stands before it.
void AddTitle(std::string_view title, const TerminalStyle& style, std::string* text);

/// A dim sentence, broken over as many lines as it needs.
void AddNote(const std::string& note, const TerminalStyle& style, std::string* text);

/// One block of lines, `indent` columns from the left, the values aligned under each other.
std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                          const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TEXT_TABLE_H_
