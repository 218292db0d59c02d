#include "collector/writers/terminal_box.h"

#include <algorithm>

#include "collector/appearance/colours.h"
#include "collector/writers/display_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int kLeastWidth = 20;
constexpr int kMostWidth = 100;

/// SGR parameters (ECMA-48).
std::string_view ColourOf(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      return "";
    case Paint::kDim:
      return TerminalColour("muted");
    case Paint::kBold:
      return "1";
    case Paint::kGood:
      return TerminalColour("goodText");
    case Paint::kWatch:
      return TerminalColour("watchText");
    case Paint::kBad:
      return TerminalColour("badText");
    case Paint::kCompute:
      return TerminalColour("cpu");
    case Paint::kWaiting:
      return TerminalColour("wait");
    case Paint::kOpening:
      return TerminalColour("opening");
    case Paint::kOutside:
      return TerminalColour("outside");
    case Paint::kOverhead:
      return TerminalColour("overhead");
    case Paint::kStillOpen:
      return TerminalColour("stillOpen");
  }
  return "";
}

/// Cuts the pieces to `columns`, from the right; returns the columns they take.
int CutPieces(PaintedLine* pieces, int columns, const TerminalStyle& style) {
  int taken = 0;
  for (PaintedText& piece : *pieces) {
    piece.text = Cut(piece.text, columns - taken, style);
    taken += ColumnsOf(piece.text);
  }
  return taken;
}

}  // namespace

std::string Painted(const PaintedText& piece, const TerminalStyle& style) {
  const std::string_view colour = ColourOf(piece.paint);
  if (!style.color || colour.empty() || piece.text.empty()) return piece.text;
  return fmt::format("\x1b[{}m{}\x1b[0m", colour, piece.text);
}

PaintedText MarkText(Mark mark) {
  PaintedText sign = MarkSign(mark);
  sign.text += mark == Mark::kGood ? " good" : mark == Mark::kWatch ? " watch" : " bad";
  return sign;
}

PaintedText MarkSign(Mark mark) {
  switch (mark) {
    case Mark::kGood:
      return {"✓", Paint::kGood};
    case Mark::kWatch:
      return {"▲", Paint::kWatch};
    case Mark::kBad:
      break;
  }
  return {"✕", Paint::kBad};
}

TerminalBox::TerminalBox(const TerminalStyle& style)
    : style_(style), width_(std::clamp(style.width, kLeastWidth, kMostWidth)) {}

void TerminalBox::Edge(std::string_view corner_left, const PaintedLine& left, const PaintedLine& right,
                       std::string_view corner_right) {
  const std::string_view dash = style_.ascii ? "-" : "─";
  // corner, dash, … dash, corner, and at least one dash between left and right
  const int room = width_ - 5;
  PaintedLine right_pieces = right;
  const int right_columns = CutPieces(&right_pieces, room, style_);
  PaintedLine left_pieces = left;
  const int left_columns = CutPieces(&left_pieces, room - right_columns, style_);
  const int between = width_ - 4 - left_columns - right_columns;
  text_ += Painted({std::string(corner_left) + std::string(dash), Paint::kDim}, style_);
  for (const PaintedText& piece : left_pieces) text_ += Painted(piece, style_);
  text_ += Painted({Repeated(dash, between), Paint::kDim}, style_);
  for (const PaintedText& piece : right_pieces) text_ += Painted(piece, style_);
  text_ += Painted({std::string(dash) + std::string(corner_right), Paint::kDim}, style_);
  text_ += '\n';
}

void TerminalBox::Open(std::string_view left, std::string_view name, const PaintedText& right) {
  Edge(style_.ascii ? "+" : "┌",
       {{fmt::format(" {} · ", left), Paint::kDim}, {std::string(name), Paint::kBold}, {" ", Paint::kDim}},
       {{" ", Paint::kDim}, right, {" ", Paint::kDim}}, style_.ascii ? "+" : "┐");
}

void TerminalBox::Rule(std::string_view title) {
  Edge(style_.ascii ? "+" : "├", {{fmt::format(" {} ", title), Paint::kDim}}, {}, style_.ascii ? "+" : "┤");
}

void TerminalBox::Line(const PaintedLine& pieces) {
  PaintedLine cut = pieces;
  const int taken = CutPieces(&cut, inner_columns(), style_);
  const PaintedText side = {style_.ascii ? "|" : "│", Paint::kDim};
  text_ += Painted(side, style_) + " ";
  for (const PaintedText& piece : cut) text_ += Painted(piece, style_);
  text_ += std::string(static_cast<size_t>(inner_columns() - taken), ' ') + " " + Painted(side, style_) + "\n";
}

void TerminalBox::Paragraph(std::string_view text, Paint paint) {
  for (const std::string& line : Wrap(text, inner_columns(), style_)) Line({{line, paint}});
}

std::string TerminalBox::Close() {
  Edge(style_.ascii ? "+" : "└", {}, {}, style_.ascii ? "+" : "┘");
  return std::move(text_);
}

}  // namespace crema
