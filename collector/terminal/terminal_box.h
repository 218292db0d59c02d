// Text whose width on a terminal is known: one code point, one column.
//
// Names come from records that anybody may have written. A tab, an escape sequence, a combining accent or a wide letter
// would break the box or worse, so only characters that every terminal draws in one column are let through.
#pragma once

#include "collector/diagnosis/key_figures.h"
#include "collector/measurement/measurement.h"

namespace crema {

struct TerminalStyle {
  /// Columns of the terminal. The summary uses at most 100 of them; below 80 it leaves out bars and the block over
  /// time.
  int width = 100;
  /// ANSI colours. They are never the only sign: the text says the same without them.
  bool color = false;
  /// Pure ASCII: box as `+ - |`, bars as `#`, spark lines as digits, marks as `OK`, `WARN`, `BAD`.
  bool ascii = false;
  /// What commands take for the run: it goes into those of texts that name none. Empty: it is not known.
  std::string_view source = {};
};

/// White space becomes a space; what has no width is dropped; control characters, bad UTF-8 and letters that are not
/// one column wide everywhere become `?`. With `style.ascii`, signs are spelled (`≥` as `>=`). Idempotent.
std::string DisplayText(std::string_view text, const TerminalStyle& style);

/// For a line outside boxes, which keeps all its letters: white space becomes a space; control characters, signs that
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

// The frame of the summary: lines of painted text, every one exactly as wide as the others.

/// What a piece of text means; collector/format/colours.h has the colours.
enum class Paint {
  kPlain,
  kDim,
  kBold,
  kGood,
  kWatch,
  kBad,
  kCompute,
  kWaiting,
  kOpening,
  kOutside,
  kOverhead,
  kStillOpen
};

struct PaintedText {
  std::string text;
  Paint paint = Paint::kPlain;
};

using PaintedLine = std::vector<PaintedText>;

/// The text, in its colour where `style.color` says so.
std::string Painted(const PaintedText& piece, const TerminalStyle& style);

/// `✓ good`, `▲ watch` or `✕ bad`, in its colour.
PaintedText MarkText(Mark mark);

/// `✓`, `▲` or `✕`, in its colour.
PaintedText MarkSign(Mark mark);

class TerminalBox {
 public:
  /// The box is `style.width` wide, at least 20 and at most 100 columns.
  explicit TerminalBox(const TerminalStyle& style);

  const TerminalStyle& style() const { return style_; }
  /// Columns inside the frame and its margins.
  int inner_columns() const { return width_ - 4; }
  /// Below 80 columns there is no room for bars.
  bool has_bars() const { return width_ >= 80; }

  /// The top edge, with what the box is about on the left and its state on the right.
  void Open(std::string_view left, std::string_view name, const PaintedText& right);
  /// A rule with a title: a block begins.
  void Rule(std::string_view title);
  /// One line; what does not fit is cut.
  void Line(PaintedLine pieces);
  /// As many lines as the text needs.
  void Paragraph(std::string_view text, Paint paint) {
    for (const std::string& line : Wrap(text, inner_columns(), style_)) Line({{line, paint}});
  }
  /// The bottom edge; the whole text.
  std::string Close();

 private:
  void Edge(std::string_view corner_left, PaintedLine left, PaintedLine right, std::string_view corner_right);

  TerminalStyle style_;
  int width_;
  std::string text_;
};

/// A bar of `share` (clamped to 0..1) of `columns`, not padded. A share above 0 is never invisible.
std::string Bar(double share, int columns, const TerminalStyle& style);

/// As `Bar`, with the rest of the columns shaded: the scale is seen.
std::string BarOnTrack(double share, int columns, const TerminalStyle& style);

/// One sign a value, from 0 to `top`; a value that is not there is a blank.
std::string SparkLine(const std::vector<std::optional<double>>& values, double top, const TerminalStyle& style);

/// The sum over workers of `timelines[series]`, averaged over each of `columns` equal parts of the run's wall time. A
/// value holds until the next one or until its worker stops; a part without any value is nullopt. Empty where the
/// series or the wall time was not measured.
std::vector<std::optional<double>> TimelineColumns(const Measurement& measurement, std::string_view series,
                                                   int columns);

}  // namespace crema
