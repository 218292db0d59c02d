// Text whose width on a terminal is known: one code point, one column.
//
// Names come from records that anybody may have written. A tab, an escape sequence, a combining accent or a wide letter
// would break the box or worse, so only characters that every terminal draws in one column are let through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crema {

struct TerminalStyle {
  /// Columns of the terminal. The summary uses at most 100 of them; below 80 it leaves out bars and the block over
  /// time.
  int width = 100;
  /// ANSI colours. They are never the only sign: the text says the same without them.
  bool color = false;
  /// Pure ASCII: box as `+ - |`, bars as `#`, spark lines as digits, marks as `OK`, `WARN`, `BAD`.
  bool ascii = false;
};

/// White space becomes a space; what has no width is dropped; control characters, bad UTF-8 and letters that are not
/// one column wide everywhere become `?`. With `style.ascii`, signs are spelled (`≥` as `>=`). Idempotent.
std::string DisplayText(std::string_view text, const TerminalStyle& style);

/// For a line outside boxes, of which all letters can stay: white space becomes a space; control characters, signs that
/// turn the direction of writing, and bad UTF-8 become `?`.
std::string PlainLine(std::string_view text);

/// Columns of a display text: its code points.
int ColumnsOf(std::string_view display_text);

/// The display text of `text` in at most `columns` columns, cut with `…`.
std::string Cut(std::string_view text, int columns, const TerminalStyle& style);

/// As `Cut`, keeping the end of the text: of a long path it is the end that distinguishes files.
std::string CutFront(std::string_view text, int columns, const TerminalStyle& style);

enum class Align { kLeft, kRight };

/// The display text of `text`, cut or padded to exactly `columns` columns.
std::string Pad(std::string_view text, int columns, Align align, const TerminalStyle& style);

/// The display text of `text` broken into lines of at most `columns` columns: at spaces, but not between a
/// number and its unit, and anywhere in a word longer than a line.
std::vector<std::string> Wrap(std::string_view text, int columns, const TerminalStyle& style);

/// A sign, `count` times (none where `count` is negative).
std::string Repeated(std::string_view sign, int count);

}  // namespace crema
