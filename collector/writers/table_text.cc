#include "collector/writers/table_text.h"

#include <algorithm>
#include <vector>

#include "collector/writers/display_text.h"
#include "collector/writers/terminal_box.h"
#include "collector/writers/text_table.h"

namespace crema {
namespace {

std::string JoinedWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void AddTitle(std::string_view title, const TerminalStyle& style, std::string* text) {
  if (!text->empty()) *text += "\n";
  *text += Painted({Cut(title, style.width, style), Paint::kBold}, style) + "\n";
}

void AddNote(const std::string& note, const TerminalStyle& style, std::string* text) {
  for (const std::string& line : Wrap(note, std::max(20, style.width), style)) {
    *text += Painted({line, Paint::kDim}, style) + "\n";
  }
}

void AddTable(const DocumentTable& table, const TerminalStyle& style, std::string* text) {
  const LaidOutTable laid_out = LayOut(table.text, style.width, style);
  for (const PaintedLine& line : laid_out.lines) {
    PaintedLine pieces = line;
    // nothing trails at the end of a line
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      piece->text.erase(piece->text.find_last_not_of(' ') + 1);
      if (!piece->text.empty()) break;
    }
    for (const PaintedText& piece : pieces) *text += Painted(piece, style);
    *text += "\n";
  }
  if (!laid_out.left_out.empty()) AddNote("left out at this width: " + JoinedWords(laid_out.left_out), style, text);
  if (!table.not_measured.empty()) AddNote("not measured: " + JoinedWords(table.not_measured), style, text);
}

void AddRows(const CellTable& cells, std::string_view if_empty, const TerminalStyle& style, std::string* text) {
  if (cells.rows.empty()) {
    AddNote(std::string(if_empty), style, text);
    return;
  }
  AddTable(TableOf(cells), style, text);
}

}  // namespace crema
