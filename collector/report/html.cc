#include "collector/report/html.h"

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"
#include "collector/terminal/document_table.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kLongestTitle = 1000;

/// The text as code points that a page may hold.
std::vector<std::string_view> CodePoints(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CodePointBytes(text, at);
    const std::string_view point = bytes == 0 ? kReplacement : text.substr(at, bytes);
    const auto first = static_cast<unsigned char>(point[0]);
    // U+202A to U+202E, U+2066 to U+2069: they would turn the text that follows
    const bool is_direction = point.size() == 3 && point >= "\xE2\x80\xAA" && point <= "\xE2\x81\xA9" &&
                              (point <= "\xE2\x80\xAE" || point >= "\xE2\x81\xA6");
    const bool is_c1 = point.size() == 2 && first == 0xC2 && static_cast<unsigned char>(point[1]) < 0xA0;
    if (first == '\t' || first == '\n' || first == '\r') {
      points.emplace_back(" ");
    } else if (first < 0x20 || first == 0x7F || is_c1 || is_direction) {
      points.push_back(kReplacement);
    } else {
      points.push_back(point);
    }
    at += std::max<size_t>(1, bytes);
  }
  return points;
}

std::string EscapedRange(const std::vector<std::string_view>& points, size_t from, size_t to) {
  std::string text;
  for (size_t i = from; i < to; ++i) text += points[i];
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string Shortened(const std::vector<std::string_view>& points, size_t from, size_t most) {
  if (const size_t count = points.size() - from; count <= most) return EscapedRange(points, from, points.size());
  const size_t tail = most * 2 / 3;
  return EscapedRange(points, from, from + most - 1 - tail) + "…" +
         EscapedRange(points, points.size() - tail, points.size());
}

std::string NameFrom(const std::vector<std::string_view>& points, size_t from, size_t most) {
  if (points.empty()) return "<bdi class=\"none\">(unnamed)</bdi>";
  std::string title;
  if (from > 0 || points.size() > most) {
    title = fmt::format(" title=\"{}{}\"", EscapedRange(points, 0, std::min(points.size(), kLongestTitle)),
                        points.size() > kLongestTitle ? "…" : "");
  }
  return fmt::format("<bdi{}>{}</bdi>", title, Shortened(points, from, most));
}

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
  const auto found = absl::c_find_if(cells.columns, [key](const CellColumn& column) { return column.key == key; });
  return static_cast<size_t>(found - cells.columns.begin());
}

/// Rows by a column, largest first.
std::vector<size_t> OrderOf(const CellTable& cells, std::string_view key) {
  auto order = Indices<size_t>(cells.rows.size());
  const size_t column = ColumnAt(cells, key);
  if (column == cells.columns.size()) return order;
  const auto value = [&](size_t row) { return NumberOf(cells.rows[row][column]).value_or(-1e300); };
  SortLargestFirst(&order, [&](size_t a) { return value(a); });
  return order;
}

}  // namespace

std::string Escaped(std::string_view text) {
  const std::string unbroken = Unbroken(text);
  const std::vector<std::string_view> points = CodePoints(unbroken);
  return EscapedRange(points, 0, points.size());
}

std::string Name(std::string_view name, size_t most) { return NameFrom(CodePoints(name), 0, most); }

std::string PathName(std::string_view path, size_t most) {
  const std::vector<std::string_view> points = CodePoints(path);
  size_t from = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    if (points[i] == "/") from = i + 1;
  }
  return NameFrom(points, from, most);
}

std::string Figure(std::string_view key, double value, std::string_view text) {
  return fmt::format("<data data-key=\"{}\" value=\"{}\">{}</data>", Escaped(key), value, Escaped(text));
}

std::string FigureHtml(const FigureText& reported) {
  const bool is_exact = !reported.key.empty() && !reported.figure.empty();
  const std::string figure =
      is_exact ? Figure(reported.key, reported.value, reported.figure) : Escaped(reported.figure);
  return Escaped(reported.before) + figure + Escaped(reported.after) +
         (reported.name.empty() ? "" : Name(reported.name, 24));
}

std::string DefinitionOf(const Measurement& measurement, std::string_view key) {
  const MetricDefinition* definition = measurement.metrics.Find(key) == nullptr ? nullptr : FindMetric(key);
  return definition == nullptr ? "" : definition->text;
}

std::string Term(const Measurement& measurement, std::string_view key, std::string_view label) {
  const std::string text = DefinitionOf(measurement, key);
  if (text.empty()) return Escaped(label);
  return fmt::format("<a class=\"term\" href=\"#term-{}\" title=\"{}\">{}</a>", Escaped(key), Escaped(text),
                     Escaped(label));
}

std::string Pill(Mark mark, std::string_view text) {
  return fmt::format("<span class=\"pill {}\">{} {}</span>", ToString(mark), SignOf(mark),
                     text.empty() ? std::string(ToString(mark)) : Escaped(text));
}

std::string Bar(double share, std::string_view kind) {
  const double width = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * 100;
  return fmt::format(
      "<svg class=\"bar\" aria-hidden=\"true\"><rect class=\"{}\" width=\"{:.2f}%\" height=\"100%\" rx=\"2\"/></svg>",
      kind, width);
}

Json ValueOf(const Measurement& measurement, std::string_view metric) {
  const MetricValue* value = measurement.metrics.Find(metric);
  return value == nullptr ? Json() : JsonOf(*value);
}

std::string ScriptJson(const Json& json) {
  return absl::StrReplaceAll(json.dump(-1, ' ', false, Json::error_handler_t::replace), {{"<", "\\u003c"}});
}

std::string DataScript(std::string_view id, const Json& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", Escaped(id), ScriptJson(json));
}

std::string Absent(std::string_view what, std::string_view reason) {
  return fmt::format("<p class=\"absent\"><span aria-hidden=\"true\">–</span> {}: {}.</p>\n", Escaped(what),
                     Escaped(reason));
}

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
    html += fmt::format("<p class=\"more\">{} more in {}.</p>\n", ExactCount(table.left_out), Escaped(table.where_all));
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

HtmlCell NumberCell(const std::optional<double>& number, std::string (*words)(double)) {
  return number.has_value() ? HtmlCell{Escaped(words(*number)), number} : HtmlCell{"–", -1};
}

std::string DocumentHtmlTable(const CellTable& cells, const DocumentTableOptions& options) {
  HtmlTable table;
  table.caption = std::string(options.caption);
  std::vector<size_t> shown;
  std::vector<std::string> absent;
  for (size_t i = 0; i < cells.columns.size(); ++i) {
    const CellColumn& column = cells.columns[i];
    if (column.rank > options.most_rank) continue;
    if (!shown.empty() && !HasValues(cells, i)) {
      if (!column.opt_in && !absl::c_linear_search(absent, column.header)) absent.push_back(column.header);
      continue;
    }
    shown.push_back(i);
    table.columns.push_back({column.header, !IsText(column.kind)});
    table.columns.back().wraps = column.kind == Kind::kFunction;
    if (column.key == options.sort_field) table.sorted_by = column.header;
  }
  const size_t with_bars = ColumnAt(cells, options.bar_field);
  const auto length_of = [with_bars](const std::vector<Cell>& row) {
    return with_bars < row.size() ? NumberOf(row[with_bars]).value_or(0) : 0;
  };
  const double largest = LargestBy(cells.rows, length_of).second;
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
  if (!absent.empty())
    html += fmt::format("<p class=\"more\">Not measured: {}.</p>\n", Escaped(absl::StrJoin(absent, ", ")));
  return html;
}

std::string TableCard(const CellTable& cells, std::string_view id, std::string_view sentence,
                      const DocumentTableOptions& options) {
  if (cells.rows.empty()) return "";
  return fmt::format("<section class=\"card\" id=\"{}\"><h3>{}</h3><p class=\"sub\">{}</p>\n{}</section>\n", id,
                     options.caption, sentence, DocumentHtmlTable(cells, options));
}

}  // namespace crema
