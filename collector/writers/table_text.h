// What tables on the terminal are put together from: titles, notes, tables that say what they left out.
#ifndef CREMA_COLLECTOR_WRITERS_TABLE_TEXT_H_
#define CREMA_COLLECTOR_WRITERS_TABLE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/writers/document_table.h"
#include "collector/writers/terminal_style.h"

namespace crema {

/// A bold line, after an empty one where text stands before it.
void AddTitle(std::string_view title, const TerminalStyle& style, std::string* text);

/// A dim sentence, broken over as many lines as it needs.
void AddNote(const std::string& note, const TerminalStyle& style, std::string* text);

/// The table, and under it the columns that did not fit or were not measured.
void AddTable(const DocumentTable& table, const TerminalStyle& style, std::string* text);

/// A table of the rows, or `if_empty` where there are none.
void AddRows(const CellTable& cells, std::string_view if_empty, const TerminalStyle& style, std::string* text);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TABLE_TEXT_H_
