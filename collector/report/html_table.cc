#include "collector/report/html_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collector/appearance/function_names.h"
#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/report/html.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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

std::vector<size_t> OrderOf(const Json& rows, std::string_view field) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  if (field.empty()) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return NumberField(rows[a], field).value_or(-1e300) > NumberField(rows[b], field).value_or(-1e300);
  });
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

HtmlCell FieldCell(const Json& value, FieldKind kind, std::string_view key) {
  HtmlCell cell;
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    cell.html = kind == FieldKind::kPath       ? PathName(text)
                : kind == FieldKind::kFunction ? FunctionName(text)
                                               : Name(text);
    return cell;
  }
  const std::string text = FieldText(value, kind);
  if (!value.is_number()) {
    cell.html = Escaped(text);
    if (value.is_null()) cell.number = -1e300;
    return cell;
  }
  cell.number = value.get<double>();
  cell.html = Figure(key, *cell.number, text);
  return cell;
}

std::string DocumentHtmlTable(const Json& rows, const std::vector<DocumentColumn>& columns,
                              const DocumentTableOptions& options) {
  HtmlTable table;
  table.caption = std::string(options.caption);
  std::vector<DocumentColumn> shown;
  std::string absent;
  for (const DocumentColumn& column : columns) {
    if (column.rank > options.most_rank) continue;
    bool is_there = shown.empty();
    for (const Json& row : rows) is_there = is_there || !Field(row, column.field).is_null();
    if (!is_there) {
      absent += (absent.empty() ? "" : ", ") + std::string(column.header);
      continue;
    }
    shown.push_back(column);
    table.columns.push_back({std::string(column.header), !IsText(column.kind)});
    table.columns.back().wraps = column.kind == FieldKind::kFunction;
    if (column.field == options.sort_field) table.sorted_by = std::string(column.header);
  }
  double largest = 0;
  for (const Json& row : rows) largest = std::max(largest, NumberField(row, options.bar_field).value_or(0));
  size_t written = 0;
  for (const size_t index : OrderOf(rows, options.sort_field)) {
    if (written++ == options.most_rows) break;
    std::vector<HtmlCell> cells;
    for (const DocumentColumn& column : shown) {
      HtmlCell cell = FieldCell(Field(rows[index], column.field), column.kind,
                                fmt::format("{}[{}].{}", options.key, index, column.field));
      if (column.field == options.bar_field && cell.number.has_value() && largest > 0) {
        const std::string_view kind = options.bar_kind == nullptr ? "cpu" : options.bar_kind(rows[index]);
        cell.html = Bar(*cell.number / largest, kind) + cell.html;
      }
      cells.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(cells));
  }
  table.left_out = rows.size() > options.most_rows ? rows.size() - options.most_rows : 0;
  std::string html = Render(table);
  if (!absent.empty()) html += fmt::format("<p class=\"more\">Not measured: {}.</p>\n", Escaped(absent));
  return html;
}

}  // namespace crema
