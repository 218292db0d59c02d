#include "collector/terminal/terminal_box.h"

#include "absl/strings/str_replace.h"
#include "collector/format/colours.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr uint32_t kBad = 0xfffd;

struct CodeRange {
  uint32_t first;
  uint32_t last;
};

/// Letters and signs that take one column in every terminal and are written from left to right.
constexpr std::array<CodeRange, 14> kOneColumn = {{
    {0x20, 0x7e},      // ASCII
    {0xa1, 0xac},      // Latin-1 signs, without the soft hyphen
    {0xae, 0x24f},     // Latin with accents
    {0x370, 0x377},    // Greek
    {0x37a, 0x482},    // Greek, Cyrillic
    {0x48a, 0x52f},    // Cyrillic
    {0x1e00, 0x1fff},  // Latin and Greek with accents
    {0x2010, 0x2027},  // dashes, quotes, the ellipsis
    {0x2030, 0x205e},  // per mille and the like
    {0x2070, 0x20bf},  // raised and lowered figures, currencies
    {0x2100, 0x218f},  // letters used as signs: ℓ, ℝ
    {0x2190, 0x22ff},  // arrows, mathematics
    {0x2500, 0x25cf},  // boxes, blocks, shapes
    {0x2713, 0x2718},  // ticks and crosses
}};

/// What takes no column: it is left out.
constexpr std::array<CodeRange, 10> kNoColumn = {{
    {0xad, 0xad},
    {0x300, 0x36f},
    {0x483, 0x489},
    {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff},
    {0x200b, 0x200f},
    {0x202a, 0x202e},
    {0x2060, 0x206f},
    {0xfe00, 0xfe2f},
    {0xfeff, 0xfeff},
}};

/// What steers a terminal, or how it draws what follows.
constexpr std::array<CodeRange, 5> kSteering = {{
    {0x00, 0x1f},
    {0x7f, 0x9f},
    {0x200e, 0x200f},
    {0x202a, 0x202e},
    {0x2066, 0x2069},
}};

struct Spelling {
  uint32_t sign;
  std::string_view ascii;
};

constexpr std::array<Spelling, 14> kSpellings = {{
    {0x2013, "-"},     // –
    {0x2014, "-"},     // —
    {0xb7, "-"},       // ·
    {0xd7, "x"},       // ×
    {0x2265, ">="},    // ≥
    {0x2264, "<="},    // ≤
    {0x2248, "~"},     // ≈
    {0x2026, "..."},   // …
    {0xb5, "u"},       // µ
    {0x3bc, "u"},      // μ
    {0x2713, "OK"},    // ✓
    {0x25b2, "WARN"},  // ▲
    {0x2715, "BAD"},   // ✕
    {0x2192, "->"},    // →
}};

template <size_t N>
bool IsIn(const std::array<CodeRange, N>& ranges, uint32_t code) {
  return absl::c_any_of(ranges, [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

/// Takes the first code point off `text`; a byte that begins none is taken alone, as kBad.
uint32_t TakeCodePoint(std::string_view* text) {
  const size_t length = CodePointBytes(*text, 0);
  const auto lead = static_cast<uint8_t>(text->front());
  uint32_t code = length == 0 ? kBad : length == 1 ? lead : lead & (0xff >> (length + 1));
  for (size_t at = 1; at < length; ++at) code = code << 6 | (static_cast<uint8_t>((*text)[at]) & 0x3f);
  text->remove_prefix(std::max<size_t>(length, 1));
  return code;
}

bool IsSpace(uint32_t code) {
  return (code >= 0x09 && code <= 0x0d) || code == 0x85 || code == 0xa0 || (code >= 0x2000 && code <= 0x200a) ||
         code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

/// The bytes of the first `columns` code points of a display text.
std::string_view Front(std::string_view text, int columns) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xc0) != 0x80 && columns-- == 0) break;
  }
  return text.substr(0, at);
}

/// What must not be torn apart: words, and numbers with their units.
std::vector<std::string> Words(const std::string& display_text) {
  constexpr std::string_view kNoBreak = "\u00a0";
  const std::string unbroken = Unbroken(display_text);
  std::vector<std::string> words;
  for (size_t at = 0; at < unbroken.size();) {
    const size_t end = std::min(unbroken.find(' ', at), unbroken.size());
    std::string word = unbroken.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    for (size_t found = 0; (found = word.find(kNoBreak, found)) != std::string::npos; ++found) {
      word.replace(found, kNoBreak.size(), " ");
    }
    words.push_back(std::move(word));
  }
  return words;
}

/// The document's texts name no run in their commands: `crema show --table quality`.
std::string WithSource(std::string text, std::string_view source) {
  if (source.empty()) return text;
  const std::string show = fmt::format("crema show {} --", source), rows = fmt::format("crema export {} --", source);
  return absl::StrReplaceAll(text, {{"crema show --", show}, {"crema export --", rows}, {"crema export RUN --", rows}});
}

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

std::string DisplayText(std::string_view given, const TerminalStyle& style) {
  const std::string complete = WithSource(std::string(given), style.source);
  std::string_view text = complete;
  std::string display;
  display.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    if (const uint32_t code = TakeCodePoint(&text); IsSpace(code)) {
      display += ' ';
    } else if (IsIn(kNoColumn, code)) {
      continue;
    } else if (!IsIn(kOneColumn, code)) {
      display += '?';
    } else if (code < 0x80 || !style.ascii) {
      display += before.substr(0, before.size() - text.size());
    } else {
      const Spelling* found = FindBy(kSpellings, &Spelling::sign, code);
      display += found == nullptr ? "?" : found->ascii;
    }
  }
  return display;
}

std::string PlainLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    if (const uint32_t code = TakeCodePoint(&text); code < 0x80 && IsSpace(code)) {
      line += ' ';
    } else if (code == kBad || IsIn(kSteering, code)) {
      line += '?';
    } else {
      line += before.substr(0, before.size() - text.size());
    }
  }
  return line;
}

int ColumnsOf(std::string_view display_text) {
  return static_cast<int>(absl::c_count_if(display_text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string Cut(std::string_view text, int columns, const TerminalStyle& style) {
  std::string display = DisplayText(text, style);
  if (ColumnsOf(display) <= columns) return display;
  const std::string mark = DisplayText("…", style);
  const int kept = std::max(0, columns - ColumnsOf(mark));
  return std::string(Front(display, kept)) + std::string(Front(mark, std::max(0, columns - kept)));
}

std::string CutFront(std::string_view text, int columns, const TerminalStyle& style) {
  std::string display = DisplayText(text, style);
  const int all = ColumnsOf(display);
  if (all <= columns) return display;
  const std::string mark = DisplayText("…", style);
  const int kept = std::max(0, columns - ColumnsOf(mark));
  const size_t begin = Front(display, all - kept).size();
  return std::string(Front(mark, std::max(0, columns - kept))) + display.substr(begin);
}

std::string Pad(std::string_view text, int columns, Align align, const TerminalStyle& style) {
  std::string display = Cut(text, columns, style);
  const std::string fill = Repeated(" ", columns - ColumnsOf(display));
  return align == Align::kLeft ? display + fill : fill + display;
}

std::vector<std::string> Wrap(std::string_view text, int columns, const TerminalStyle& style) {
  columns = std::max(1, columns);
  std::vector<std::string> lines;
  std::string line;
  for (std::string word : Words(DisplayText(text, style))) {
    if (!line.empty() && ColumnsOf(line) + 1 + ColumnsOf(word) > columns) {
      lines.push_back(line);
      line.clear();
    }
    // a path longer than a line goes on in the next: its end says which file it is
    for (; ColumnsOf(word) > columns; word.erase(0, Front(word, columns).size())) {
      lines.emplace_back(Front(word, columns));
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string Repeated(std::string_view sign, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += sign;
  return text;
}

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

void TerminalBox::Edge(std::string_view corner_left, PaintedLine left, PaintedLine right,
                       std::string_view corner_right) {
  const std::string_view dash = style_.ascii ? "-" : "─";
  // corner, dash, … dash, corner, and at least one dash between left and right
  const int room = width_ - 5;
  const int right_columns = CutPieces(&right, room, style_);
  const int left_columns = CutPieces(&left, room - right_columns, style_);
  const int between = width_ - 4 - left_columns - right_columns;
  text_ += Painted({std::string(corner_left) + std::string(dash), Paint::kDim}, style_);
  for (const PaintedText& piece : left) text_ += Painted(piece, style_);
  text_ += Painted({Repeated(dash, between), Paint::kDim}, style_);
  for (const PaintedText& piece : right) text_ += Painted(piece, style_);
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

void TerminalBox::Line(PaintedLine pieces) {
  const int taken = CutPieces(&pieces, inner_columns(), style_);
  const PaintedText side = {style_.ascii ? "|" : "│", Paint::kDim};
  text_ += Painted(side, style_) + " ";
  for (const PaintedText& piece : pieces) text_ += Painted(piece, style_);
  text_ += Repeated(" ", inner_columns() - taken) + " " + Painted(side, style_) + "\n";
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
    const double last = std::min(wall_time, ValueOr(stops, worker, wall_time));
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
