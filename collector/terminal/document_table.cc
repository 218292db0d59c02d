#include "collector/terminal/document_table.h"

#include "absl/strings/str_join.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr std::string_view kNothing = "–";

Cell CellOfValue(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>();
  Number number;
  ReadValue(value, &number);
  return CellOf(number);
}

std::string NumberText(const Number& number, Kind kind) {
  switch (kind) {
    case Kind::kText:
    case Kind::kPath:
    case Kind::kFunction:
      return DigitsOf(number);
    case Kind::kCount:
      return HumanCount(*number);
    case Kind::kExactCount:
      return ExactCount(*number);
    case Kind::kDuration:
      return HumanDuration(*number);
    case Kind::kMemory:
      return HumanMemory(*number);
    case Kind::kData:
      return HumanData(*number);
    case Kind::kShare:
      return HumanPercent(*number, 1);
    case Kind::kRate:
      return HumanRate(*number);
    case Kind::kNumber:
      return HumanNumber(*number);
    case Kind::kFlag:
      break;
  }
  return std::string(kNothing);
}

constexpr int kGap = 2;

/// An elastic column is not cut below this: enough to distinguish names.
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

/// Whether its values are sentences, which a row would cut.
bool AreSentences(const CellTable& cells, size_t column) {
  return absl::c_all_of(cells.rows, [column](const std::vector<Cell>& row) {
    return IsNull(row[column]) || CellText(row[column], Kind::kText).find(' ') != std::string::npos;
  });
}

}  // namespace

std::string CellText(const Cell& cell, Kind kind) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return kind == Kind::kFunction ? ShortFunctionName(*text) : *text;
  }
  if (const bool* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  const Number* number = std::get_if<Number>(&cell);
  return number == nullptr ? std::string(kNothing) : NumberText(*number, kind);
}

bool HasValues(const CellTable& cells, size_t column) {
  return absl::c_any_of(cells.rows, [column](const std::vector<Cell>& row) { return !IsNull(row[column]); });
}

DocumentTable TableOf(const CellTable& cells) {
  DocumentTable table;
  std::vector<size_t> shown;
  for (size_t i = 0; i < cells.columns.size(); ++i) {
    const CellColumn& column = cells.columns[i];
    if (column.key == "left_reason" || (column.key == "reason" && AreSentences(cells, i))) {
      for (const std::vector<Cell>& row : cells.rows) table.reasons.push_back(CellText(row[i], column.kind));
      continue;
    }
    if (!shown.empty() && (column.rank != 0 || column.opt_in) && !HasValues(cells, i)) {
      const bool is_new = !absl::c_linear_search(table.not_measured, column.header);
      if (!column.opt_in && is_new) table.not_measured.push_back(column.header);
      continue;
    }
    const bool is_text = IsText(column.kind);
    const bool differs_at_end = column.kind == Kind::kPath || column.kind == Kind::kFunction;
    shown.push_back(i);
    table.text.columns.push_back(
        {column.header, is_text ? Align::kLeft : Align::kRight, column.rank, is_text, differs_at_end});
  }
  for (const std::vector<Cell>& row : cells.rows) {
    PaintedLine& line = table.text.rows.emplace_back();
    for (const size_t i : shown) line.push_back({CellText(row[i], cells.columns[i].kind), Paint::kPlain});
  }
  return table;
}

void AddTable(const DocumentTable& table, const TerminalStyle& style, std::string* text) {
  LaidOutTable laid_out = LayOut(table.text, style.width, style);
  size_t row = table.text.rows.size() - laid_out.lines.size();  // the header comes before the first
  for (PaintedLine& pieces : laid_out.lines) {
    // nothing trails at the end of a line
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      piece->text.erase(piece->text.find_last_not_of(' ') + 1);
      if (!piece->text.empty()) break;
    }
    for (const PaintedText& piece : pieces) *text += Painted(piece, style);
    *text += "\n";
    const size_t at = row++;
    if (at < table.reasons.size() && table.reasons[at] != kNothing)
      AddLines(table.reasons[at], kGap, Paint::kDim, style, text);
  }
  if (!laid_out.left_out.empty())
    AddNote(fmt::format("left out at this width: {}", fmt::join(laid_out.left_out, ", ")), style, text);
  if (!table.not_measured.empty())
    AddNote(fmt::format("not measured: {}", fmt::join(table.not_measured, ", ")), style, text);
}

CellTable CellsOf(const Json& rows, std::vector<CellColumn> columns) {
  CellTable cells{std::move(columns), {}};
  for (const Json& row : rows) {
    std::vector<Cell>& line = cells.rows.emplace_back();
    for (const CellColumn& column : cells.columns) {
      const auto value = row.find(column.key);
      line.push_back(value == row.end() ? Cell() : CellOfValue(*value));
    }
  }
  return cells;
}

std::string ExactText(const Cell& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const Number* number = std::get_if<Number>(&value);
  return number == nullptr ? "–" : DigitsOf(*number);
}

std::string ExactText(const std::vector<std::string>& words) {
  const std::string text = absl::StrJoin(words, " ");
  return text.empty() ? "none" : text;
}

std::string ExactText(const MetricValue& value) {
  if (const auto* names = std::get_if<std::vector<std::string>>(&value)) return ExactText(*names);
  return std::holds_alternative<std::monostate>(value) ? "–" : JsonOf(value).dump();
}

std::string MetricText(std::string_view key, const MetricValue& value, std::string_view unit) {
  if (const auto* integer = std::get_if<int64_t>(&value))
    return HumanQuantity(key, static_cast<double>(*integer), unit);
  const double* number = std::get_if<double>(&value);
  return number == nullptr ? ExactText(value) : HumanQuantity(key, *number, unit);
}

std::vector<std::string_view> KeysOf(const MetricSet& metrics) {
  std::vector<std::string_view> keys;
  for (const MetricDefinition& definition : MetricCatalog()) {
    for (const std::string& key : {definition.key, definition.alias}) {
      if (const auto found = metrics.values().find(key); found != metrics.values().end()) keys.push_back(found->first);
    }
  }
  return keys;
}

LaidOutTable LayOut(const TextTable& table, int width, const TerminalStyle& style) {
  std::vector<int> widths = NaturalWidths(table, style);
  auto kept = Indices<size_t>(table.columns.size());
  std::vector<bool> is_left_out(table.columns.size(), false);
  while (kept.size() > 1) {
    // of equal ranks the rightmost goes
    const auto candidate = std::max_element(kept.rbegin(), kept.rend(), [&table](size_t left, size_t right) {
      return table.columns[left].rank < table.columns[right].rank;
    });
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
  const bool has_header =
      absl::c_any_of(table.columns, [](const TableColumn& column) { return !column.header.empty(); });
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

void AddLines(const std::string& sentence, int indent, Paint paint, const TerminalStyle& style, std::string* text) {
  for (const std::string& line : Wrap(sentence, std::max(1, style.width - indent), style)) {
    *text += Repeated(" ", indent) + Painted({line, paint}, style) + "\n";
  }
}

void AddNote(const std::string& note, const TerminalStyle& style, std::string* text) {
  AddLines(note, 0, Paint::kDim, style, text);
}

std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                          const TerminalStyle& style) {
  constexpr int kLeastValue = 20;
  int label_columns = 0;
  for (const auto& [label, value] : lines) {
    label_columns = std::max(label_columns, ColumnsOf(DisplayText(label, style)));
  }
  const int value_columns = style.width - indent - label_columns - kGap;
  std::string text;
  for (const auto& [label, value] : lines) {
    if (value_columns < kLeastValue) {  // the terminal is too narrow for both side by side
      AddLines(label, indent, Paint::kDim, style, &text);
      AddLines(value, indent + kGap, Paint::kPlain, style, &text);
      continue;
    }
    std::vector<std::string> pieces = Wrap(value, value_columns, style);
    if (pieces.empty()) pieces.emplace_back();
    std::string name = label;
    for (const std::string& piece : pieces) {
      const PaintedText padded = {Pad(std::exchange(name, ""), label_columns, Align::kLeft, style), Paint::kDim};
      text += Repeated(" ", indent) + Painted(padded, style) + std::string(kGap, ' ') + piece + "\n";
    }
  }
  return text;
}

}  // namespace crema
