#include "collector/writers/display_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "collector/appearance/human_numbers.h"

namespace crema {
namespace {

constexpr uint32_t kBad = 0xfffd;

struct Range {
  uint32_t first;
  uint32_t last;
};

/// Letters and signs that take one column in every terminal and are written from left to right.
constexpr std::array<Range, 14> kOneColumn = {{
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
constexpr std::array<Range, 10> kNoColumn = {{
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
constexpr std::array<Range, 5> kSteering = {{
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
bool IsIn(const std::array<Range, N>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

/// Takes the first code point off `text`; a byte that begins none is taken alone, as kBad.
uint32_t TakeCodePoint(std::string_view* text) {
  const auto byte = [text](size_t at) { return static_cast<uint8_t>((*text)[at]); };
  const uint8_t lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : 4;
  uint32_t code = lead;
  if (length > 1) {
    if (lead < 0xc2 || lead > 0xf4 || length > text->size()) code = kBad;
    for (size_t at = 1; code != kBad && at < length; ++at) {
      if ((byte(at) & 0xc0) != 0x80) code = kBad;
    }
    if (code == kBad) {
      text->remove_prefix(1);
      return kBad;
    }
    code = lead & (0xff >> (length + 1));
    for (size_t at = 1; at < length; ++at) code = code << 6 | (byte(at) & 0x3f);
    // too long a form, surrogates, beyond Unicode: never seen in honest text, shown as bad
    if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || (code >= 0xd800 && code < 0xe000) ||
        code > 0x10ffff) {
      code = kBad;
    }
  }
  text->remove_prefix(length);
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

}  // namespace

std::string DisplayText(std::string_view text, const TerminalStyle& style) {
  std::string display;
  display.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const uint32_t code = TakeCodePoint(&text);
    if (IsSpace(code)) {
      display += ' ';
    } else if (IsIn(kNoColumn, code)) {
      continue;
    } else if (!IsIn(kOneColumn, code)) {
      display += '?';
    } else if (code < 0x80 || !style.ascii) {
      display += before.substr(0, before.size() - text.size());
    } else {
      auto same = [code](const Spelling& spelling) { return spelling.sign == code; };
      const auto* found = std::find_if(kSpellings.begin(), kSpellings.end(), same);
      display += found == kSpellings.end() ? "?" : found->ascii;
    }
  }
  return display;
}

std::string PlainLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const uint32_t code = TakeCodePoint(&text);
    if (code < 0x80 && IsSpace(code)) {
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
  return static_cast<int>(
      std::count_if(display_text.begin(), display_text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
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
  const std::string fill(static_cast<size_t>(std::max(0, columns - ColumnsOf(display))), ' ');
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

}  // namespace crema
