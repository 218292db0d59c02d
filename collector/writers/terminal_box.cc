#include "collector/writers/terminal_box.h"

#include <algorithm>

#include "collector/appearance/colours.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int kLeastWidth = 20;
constexpr int kMostWidth = 100;

/// SGR parameters (ECMA-48).
std::string_view ColourOf(Paint paint) {
  if (paint == Paint::kBold) return "1";
  // in the order of the paints
  constexpr std::string_view kNames[] = {"",    "muted", "",        "goodText", "watchText", "badText",
                                         "cpu", "wait",  "opening", "outside",  "overhead",  "stillOpen"};
  const std::string_view name = kNames[static_cast<size_t>(paint)];
  return name.empty() ? name : TerminalColour(name);
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

constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::array<std::string_view, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

struct Columns {
  double width;                  ///< seconds of one column
  std::vector<double> integral;  ///< value x seconds
  std::vector<double> covered;   ///< seconds on which the sum is known; workers are not distinguished

  void Add(double from, double to, double value) {
    if (!(to > from)) return;
    const auto last = static_cast<double>(integral.size() - 1);
    const auto first_column = static_cast<size_t>(std::clamp(std::floor(from / width), 0.0, last));
    const auto last_column = static_cast<size_t>(std::clamp(std::floor(to / width), 0.0, last));
    for (size_t at = first_column; at <= last_column; ++at) {
      const double begin = std::max(from, static_cast<double>(at) * width);
      const double end = std::min(to, static_cast<double>(at + 1) * width);
      if (end <= begin) continue;
      integral[at] += value * (end - begin);
      covered[at] += end - begin;
    }
  }
};

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
  if (mark == Mark::kGood) return {"✓", Paint::kGood};
  return mark == Mark::kWatch ? PaintedText{"▲", Paint::kWatch} : PaintedText{"✕", Paint::kBad};
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

std::string Bar(double share, int columns, const TerminalStyle& style) {
  if (!(share > 0) || columns <= 0) return "";
  const double filled = std::min(share, 1.0) * columns;
  if (style.ascii) return Repeated("#", std::max(1, static_cast<int>(std::lround(filled))));
  const int eighths = std::max(1, static_cast<int>(std::lround(filled * 8)));
  return Repeated("█", eighths / 8) + std::string(kEighths[static_cast<size_t>(eighths % 8)]);
}

std::string BarOnTrack(double share, int columns, const TerminalStyle& style) {
  const std::string bar = Bar(share, columns, style);
  return bar + Repeated(style.ascii ? "." : "░", columns - ColumnsOf(bar));
}

std::string SparkLine(const std::vector<std::optional<double>>& values, double top, const TerminalStyle& style) {
  std::string line;
  for (const std::optional<double>& value : values) {
    if (!value.has_value() || !std::isfinite(*value)) {
      line += ' ';
      continue;
    }
    const double share = top > 0 ? std::clamp(*value / top, 0.0, 1.0) : 0;
    if (style.ascii) {
      line += static_cast<char>('0' + std::lround(share * 9));
    } else {
      line += kLevels[static_cast<size_t>(std::lround(share * 7))];
    }
  }
  return line;
}

std::vector<std::optional<double>> TimelineColumns(const Measurement& measurement, std::string_view series,
                                                   int columns) {
  const std::vector<std::pair<std::string, Timeline>>* workers = measurement.timelines.Find(series);
  const double wall_time = measurement.Metric("wall_time").value_or(0);
  if (workers == nullptr || !(wall_time > 0) || columns <= 0) return {};
  const std::map<std::string, double> stops = WorkerStops(measurement);
  const auto count = static_cast<size_t>(columns);
  Columns sums{wall_time / columns, std::vector<double>(count, 0), std::vector<double>(count, 0)};
  bool has_point = false;
  for (const auto& [worker, points] : *workers) {
    const auto stop = stops.find(worker);
    const double last = std::min(wall_time, stop == stops.end() ? wall_time : stop->second);
    for (size_t at = 0; at < points.size(); ++at) {
      if (std::isnan(points[at].value)) continue;
      has_point = true;
      const bool is_last = at + 1 == points.size() || std::isnan(points[at + 1].value);
      const double until = is_last ? last : std::min(last, points[at + 1].seconds);
      sums.Add(std::max(0.0, points[at].seconds), until, points[at].value);
    }
  }
  if (!has_point) return {};
  std::vector<std::optional<double>> values(count);
  for (size_t at = 0; at < count; ++at) {
    if (sums.covered[at] > 0) values[at] = sums.integral[at] / sums.width;
  }
  return values;
}

}  // namespace crema
