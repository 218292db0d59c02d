// The frame of the summary: lines of painted text, every one exactly as wide as the others.
#ifndef CREMA_COLLECTOR_WRITERS_TERMINAL_BOX_H_
#define CREMA_COLLECTOR_WRITERS_TERMINAL_BOX_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/key_figure_bands.h"
#include "collector/writers/terminal_style.h"

namespace crema {

/// What a piece of text means; collector/appearance/colours.h has the colours.
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
  void Line(const PaintedLine& pieces);
  /// As many lines as the text needs.
  void Paragraph(std::string_view text, Paint paint);
  /// The bottom edge; the whole text.
  std::string Close();

 private:
  void Edge(std::string_view corner_left, const PaintedLine& left, const PaintedLine& right,
            std::string_view corner_right);

  TerminalStyle style_;
  int width_;
  std::string text_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TERMINAL_BOX_H_
