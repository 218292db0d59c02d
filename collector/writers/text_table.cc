#include "collector/writers/text_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "collector/writers/display_text.h"
#include "collector/writers/terminal_box.h"

namespace crema {
namespace {

constexpr int kGap = 2;

/// An elastic column is not cut below this: enough to tell names apart.
constexpr int kLeastElastic = 8;

/// Before an elastic column is cut below this, other columns go.
constexpr int kUsefulElastic = 24;

std::vector<int> NaturalWidths(const TextTable& table, const TerminalStyle& style) {
  std::vector<int> widths;
  for (const TableColumn& column : table.columns) widths.push_back(ColumnsOf(DisplayText(column.header, style)));
  for (const PaintedLine& row : table.rows) {
    for (size_t at = 0; at < row.size() && at < widths.size(); ++at) {
      widths[at] = std::max(widths[at], ColumnsOf(DisplayText(row[at].text, style)));
    }
  }
  return widths;
}

int Total(const std::vector<int>& widths, const std::vector<size_t>& kept) {
  int total = kept.empty() ? 0 : -kGap;
  for (size_t at : kept) total += widths[at] + kGap;
  return total;
}

/// Takes what is too much from the widest elastic column, then the next.
void Shrink(const TextTable& table, const std::vector<size_t>& kept, int width, std::vector<int>* widths) {
  while (Total(*widths, kept) > width) {
    int* widest = nullptr;
    for (size_t at : kept) {
      const bool may = table.columns[at].is_elastic && (*widths)[at] > kLeastElastic;
      if (may && (widest == nullptr || (*widths)[at] > *widest)) widest = &(*widths)[at];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

/// The width the kept columns need when the elastic ones are cut to `elastic` columns.
int LeastTotal(const TextTable& table, const std::vector<int>& widths, const std::vector<size_t>& kept, int elastic) {
  std::vector<int> least = widths;
  for (size_t at : kept) {
    if (table.columns[at].is_elastic) least[at] = std::min(least[at], elastic);
  }
  return Total(least, kept);
}

}  // namespace

LaidOutTable LayOut(const TextTable& table, int width, const TerminalStyle& style) {
  std::vector<int> widths = NaturalWidths(table, style);
  std::vector<size_t> kept(table.columns.size());
  std::iota(kept.begin(), kept.end(), size_t{0});
  std::vector<bool> is_left_out(table.columns.size(), false);
  // of equal ranks the rightmost goes
  const auto last = [&] {
    return std::max_element(kept.rbegin(), kept.rend(), [&table](size_t left, size_t right) {
      return table.columns[left].rank < table.columns[right].rank;
    });
  };
  while (kept.size() > 1) {
    const auto candidate = last();
    const int elastic = table.columns[*candidate].rank == 0 ? kLeastElastic : kUsefulElastic;
    if (LeastTotal(table, widths, kept, elastic) <= width) break;
    is_left_out[*candidate] = true;
    kept.erase(std::next(candidate).base());
  }
  Shrink(table, kept, width, &widths);

  LaidOutTable laid_out;
  for (size_t at = 0; at < table.columns.size(); ++at) {
    if (is_left_out[at]) laid_out.left_out.push_back(table.columns[at].header);
  }
  laid_out.columns = Total(widths, kept);
  auto add = [&](auto cell_of) {
    PaintedLine line;
    for (size_t at : kept) {
      if (!line.empty()) line.push_back({std::string(kGap, ' '), Paint::kPlain});
      PaintedText cell = cell_of(at);
      const TableColumn& column = table.columns[at];
      if (column.keeps_end) cell.text = CutFront(cell.text, widths[at], style);
      line.push_back({Pad(cell.text, widths[at], column.align, style), cell.paint});
    }
    laid_out.lines.push_back(std::move(line));
  };
  const bool has_header = std::any_of(table.columns.begin(), table.columns.end(),
                                      [](const TableColumn& column) { return !column.header.empty(); });
  if (has_header) add([&table](size_t at) { return PaintedText{table.columns[at].header, Paint::kDim}; });
  for (const PaintedLine& row : table.rows) {
    add([&row](size_t at) { return at < row.size() ? row[at] : PaintedText{}; });
  }
  return laid_out;
}

void AddTitle(std::string_view title, const TerminalStyle& style, std::string* text) {
  if (!text->empty()) *text += "\n";
  *text += Painted({Cut(title, style.width, style), Paint::kBold}, style) + "\n";
}

void AddNote(const std::string& note, const TerminalStyle& style, std::string* text) {
  for (const std::string& line : Wrap(note, std::max(20, style.width), style)) {
    *text += Painted({line, Paint::kDim}, style) + "\n";
  }
}

namespace {

constexpr int kLeastValue = 20;

/// For terminals that are too narrow for labels and values side by side.
std::string ValuesUnderLabels(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                              const TerminalStyle& style) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string text;
  for (const auto& [label, value] : lines) {
    text += margin + Painted({Cut(label, std::max(1, style.width - indent), style), Paint::kDim}, style) + "\n";
    for (const std::string& piece : Wrap(value, std::max(1, style.width - indent - kGap), style)) {
      text += margin + std::string(kGap, ' ') + piece + "\n";
    }
  }
  return text;
}

}  // namespace

std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                          const TerminalStyle& style) {
  int label_columns = 0;
  for (const auto& [label, value] : lines) {
    label_columns = std::max(label_columns, ColumnsOf(DisplayText(label, style)));
  }
  if (style.width - indent - label_columns - kGap < kLeastValue) return ValuesUnderLabels(lines, indent, style);
  const int value_columns = style.width - indent - label_columns - kGap;
  std::string text;
  for (const auto& [label, value] : lines) {
    std::vector<std::string> pieces = Wrap(value, value_columns, style);
    if (pieces.empty()) pieces.emplace_back();
    for (size_t at = 0; at < pieces.size(); ++at) {
      const std::string name = Pad(at == 0 ? label : "", label_columns, Align::kLeft, style);
      text += std::string(static_cast<size_t>(indent), ' ') + Painted({name, Paint::kDim}, style);
      text += std::string(kGap, ' ') + pieces[at] + "\n";
    }
  }
  return text;
}

}  // namespace crema
