#include "collector/report/html_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collector/appearance/function_names.h"
#include "collector/appearance/human_numbers.h"
#include "collector/report/html.h"
#include "collector/writers/document_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// The whole name is in the card of the pointer.
std::string FunctionName(const std::string& name) {
  const std::string short_name = ShortFunctionName(name);
  return short_name == name ? Name(name) : fmt::format("<span title=\"{}\">{}</span>", Escaped(name), Name(short_name));
}

std::string Header(const HtmlColumn& column, bool is_sorted) {
  return fmt::format("<th scope=\"col\"{}{}{}>{}</th>", column.is_number ? " class=\"n\"" : "",
                     is_sorted ? " aria-sort=\"descending\"" : "",
                     column.title.empty() ? "" : fmt::format(" title=\"{}\"", Escaped(column.title)),
                     Escaped(column.header));
}

/// As many as there are columns: there is no such column.
size_t ColumnAt(const CellTable& cells, std::string_view key) {
  const auto found = std::find_if(cells.columns.begin(), cells.columns.end(),
                                  [key](const CellColumn& column) { return column.key == key; });
  return static_cast<size_t>(found - cells.columns.begin());
}

/// Rows by a column, largest first.
std::vector<size_t> OrderOf(const CellTable& cells, std::string_view key) {
  std::vector<size_t> order(cells.rows.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t column = ColumnAt(cells, key);
  if (column == cells.columns.size()) return order;
  const auto value = [&](size_t row) { return NumberOf(cells.rows[row][column]).value_or(-1e300); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return value(a) > value(b); });
  return order;
}

}  // namespace

std::string Render(const HtmlTable& table) {
  const auto class_of = [&table](size_t i) {
    return table.columns[i].is_number ? " class=\"n\"" : table.columns[i].wraps ? " class=\"wrap\"" : "";
  };
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table "
      "class=\"sortable\"><caption>{0}</caption>\n<thead><tr>",
      Escaped(table.caption));
  for (const HtmlColumn& column : table.columns) html += Header(column, column.header == table.sorted_by);
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<HtmlCell>& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const HtmlCell& cell = row[i];
      html += fmt::format("<td{}{}>{}</td>", class_of(i),
                          cell.number.has_value() ? fmt::format(" data-sort=\"{}\"", *cell.number) : "", cell.html);
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (table.left_out > 0) {
    html += fmt::format("<p class=\"more\">{} more in {}.</p>\n", ExactCount(static_cast<double>(table.left_out)),
                        Escaped(table.where_all));
  }
  return html;
}

HtmlCell FieldCell(const Cell& value, Kind kind, std::string_view key) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return {kind == Kind::kPath ? PathName(*text) : kind == Kind::kFunction ? FunctionName(*text) : Name(*text)};
  }
  const std::string text = CellText(value, kind);
  const std::optional<double> number = NumberOf(value);
  if (number.has_value()) return {Figure(key, *number, text), number};
  return {Escaped(text), IsNull(value) ? std::optional<double>(-1e300) : std::nullopt};
}

std::string DocumentHtmlTable(const CellTable& cells, const DocumentTableOptions& options) {
  HtmlTable table;
  table.caption = std::string(options.caption);
  std::vector<size_t> shown;
  std::string absent;
  for (size_t i = 0; i < cells.columns.size(); ++i) {
    const CellColumn& column = cells.columns[i];
    if (column.rank > options.most_rank) continue;
    bool is_there = shown.empty();
    for (const std::vector<Cell>& row : cells.rows) is_there = is_there || !IsNull(row[i]);
    if (!is_there) {
      if (!column.opt_in) absent += (absent.empty() ? "" : ", ") + column.header;
      continue;
    }
    shown.push_back(i);
    table.columns.push_back({column.header, !IsText(column.kind)});
    table.columns.back().wraps = column.kind == Kind::kFunction;
    if (column.key == options.sort_field) table.sorted_by = column.header;
  }
  const size_t with_bars = ColumnAt(cells, options.bar_field);
  double largest = 0;
  for (const std::vector<Cell>& row : cells.rows) {
    if (with_bars < row.size()) largest = std::max(largest, NumberOf(row[with_bars]).value_or(0));
  }
  for (const size_t index : OrderOf(cells, options.sort_field)) {
    if (table.rows.size() == options.most_rows) break;
    std::vector<HtmlCell>& row = table.rows.emplace_back();
    for (const size_t i : shown) {
      const CellColumn& column = cells.columns[i];
      HtmlCell cell =
          FieldCell(cells.rows[index][i], column.kind, fmt::format("{}[{}].{}", options.key, index, column.key));
      if (i == with_bars && cell.number.has_value() && largest > 0) {
        const std::string_view kind = options.bar_kind == nullptr ? "cpu" : options.bar_kind(index);
        cell.html = Bar(*cell.number / largest, kind) + cell.html;
      }
      row.push_back(std::move(cell));
    }
  }
  table.left_out = cells.rows.size() - table.rows.size();
  std::string html = Render(table);
  if (!absent.empty()) html += fmt::format("<p class=\"more\">Not measured: {}.</p>\n", Escaped(absent));
  return html;
}

}  // namespace crema
