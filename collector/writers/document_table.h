// From cells to a table for the terminal: how values are written, and which columns are left out.
#ifndef CREMA_COLLECTOR_WRITERS_DOCUMENT_TABLE_H_
#define CREMA_COLLECTOR_WRITERS_DOCUMENT_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/cells.h"
#include "collector/measurement/measurement.h"
#include "collector/writers/text_table.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

bool IsText(Kind kind);

/// A value in words; `–` where it is null or not of its kind.
std::string CellText(const Cell& cell, Kind kind);

struct DocumentTable {
  TextTable text;
  std::vector<std::string> not_measured;  ///< headers of the columns that are null in every row, and left out
};

DocumentTable TableOf(const CellTable& cells);

/// Rows of JSON that is no measurement, by the columns' keys.
CellTable CellsOf(const nlohmann::ordered_json& rows, std::vector<CellColumn> columns);

/// Why a table of the measurement has no rows.
std::string WhyNoRows(std::string_view table, const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_DOCUMENT_TABLE_H_
