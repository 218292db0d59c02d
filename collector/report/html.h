// Pieces of HTML. Names come from records that anybody may have written: whatever goes through here stays text.
#pragma once

#include <functional>

#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/words.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// For element content and quoted attributes. Bad UTF-8, control characters and signs that turn the direction of
/// writing become U+FFFD, white space a space; numbers do not part from their units at the end of a line.
std::string Escaped(std::string_view text);

/// A name from the records, set apart from the direction of the text around it, and cut in the middle where it is
/// longer than `most` code points; the whole of it, up to 1,000, is its title.
std::string Name(std::string_view name, size_t most = 60);

/// As `Name`, of a path: the last component, the whole path as title.
std::string PathName(std::string_view path, size_t most = 60);

/// `<data>`: the exact value for programs, `text` for people. `key` names the figure.
std::string Figure(std::string_view key, double value, std::string_view text);

/// A figure in its words; a name at their end is cut.
std::string FigureHtml(const FigureText& reported);

/// What a metric is; empty where the measurement has no such key.
std::string DefinitionOf(const Measurement& measurement, std::string_view key);

/// A label with a dotted line under it, whose definition is in the glossary; plain text where there is none.
std::string Term(const Measurement& measurement, std::string_view key, std::string_view label);

/// `✓ good`, `▲ watch`, `✕ bad`, or what `text` says in that colour.
std::string Pill(Mark mark, std::string_view text = "");

/// A horizontal bar that fills `share` (0 to 1) of its room; `kind` is the class that colours it.
std::string Bar(double share, std::string_view kind);

/// As measurement.json has it: a count without a decimal point, null where it is not measured.
Json ValueOf(const Measurement& measurement, std::string_view metric);

/// JSON that can be in a script element: no `<`, no line separators, bad UTF-8 replaced.
std::string ScriptJson(const Json& json);
/// `<script type="application/json" id=...>`.
std::string DataScript(std::string_view id, const Json& json);

/// `– what: reason.` in a paragraph of its own.
std::string Absent(std::string_view what, std::string_view reason);

/// What is in a cell, and what it is sorted by.
struct HtmlCell {
  std::string html;
  std::optional<double> number = std::nullopt;  ///< nullopt: sorted by its text
};

struct HtmlColumn {
  std::string header;  ///< plain text
  bool is_number = true;
  std::string title = "";  ///< what the column means
  bool wraps = false;      ///< a long text: two lines of what width is left
};

struct HtmlTable {
  std::string caption;  ///< for screen readers
  std::vector<HtmlColumn> columns;
  std::vector<std::vector<HtmlCell>> rows;
  std::string sorted_by = "";  ///< header of the column by which the rows come, largest first
  size_t left_out = 0;         ///< rows that there are beside these
  std::string where_all = "measurement.json";
};

std::string Render(const HtmlTable& table);

/// The table of a measurement's rows. Columns that no row has are named under it. `key` names the figures:
/// `datasets[0].chunks`.
struct DocumentTableOptions {
  std::string_view key, caption;
  std::string_view sort_field = "";  ///< largest first; empty: in the measurement's order
  size_t most_rows = 200;
  std::string_view bar_field = "";  ///< its cells get a bar
  int most_rank = 4;                ///< columns of a higher rank are left to measurement.json
  /// The class that colours a row's bar; nullptr: `cpu`.
  std::function<std::string_view(size_t row)> bar_kind = nullptr;
};
std::string DocumentHtmlTable(const CellTable& cells, const DocumentTableOptions& options);

/// The same in a card: its heading is the caption, with a sentence under it. Empty where there are no rows.
std::string TableCard(const CellTable& cells, std::string_view id, std::string_view sentence,
                      const DocumentTableOptions& options);

/// The cell of a figure of the measurement.
HtmlCell FieldCell(const Cell& cell, Kind kind, std::string_view key);

/// The cell of another number; a dash, which is sorted behind all others, where it is not known.
HtmlCell NumberCell(const std::optional<double>& number, std::string (*words)(double));

}  // namespace crema
