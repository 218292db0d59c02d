// The frame of the summary: lines of painted text, every one exactly as wide as the others.
#pragma once

#include "collector/insight/key_figure_bands.h"
#include "collector/measurement/measurement.h"
#include "collector/writers/display_text.h"

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
