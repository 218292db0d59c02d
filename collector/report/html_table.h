// Tables of the page: sortable where scripts run, complete where they do not.
#ifndef CREMA_COLLECTOR_REPORT_HTML_TABLE_H_
#define CREMA_COLLECTOR_REPORT_HTML_TABLE_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/cells.h"

namespace crema {

/// What stands in a cell, and what it is sorted by.
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
  std::string_view key;
  std::string_view caption;
  std::string_view sort_field = "";  ///< largest first; empty: in the measurement's order
  size_t most_rows = 200;
  std::string_view bar_field = "";  ///< its cells get a bar
  int most_rank = 4;                ///< columns of a higher rank are left to measurement.json
  /// The class that colours a row's bar; nullptr: `cpu`.
  std::function<std::string_view(size_t row)> bar_kind = nullptr;
};
std::string DocumentHtmlTable(const CellTable& cells, const DocumentTableOptions& options);

/// The cell of a figure of the measurement.
HtmlCell FieldCell(const Cell& cell, Kind kind, std::string_view key);

}  // namespace crema

#endif  // CREMA_COLLECTOR_REPORT_HTML_TABLE_H_
