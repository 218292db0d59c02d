// Comma-separated values as RFC 4180 has them.
#ifndef CREMA_COLLECTOR_EXPORTS_DELIMITED_TEXT_H_
#define CREMA_COLLECTOR_EXPORTS_DELIMITED_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/column.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// A field: in double quotes where it holds a comma, a quote or a line end; quotes are doubled.
std::string CsvField(std::string_view text);

/// A value as a field: null is empty, lists and objects are compact JSON. A text that a spreadsheet would take for a
/// formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return) has an apostrophe before it, unless it is a
/// number.
std::string CsvField(const Cell& value);
std::string CsvField(const nlohmann::ordered_json& value);

/// The fields with commas between, ended by CR LF.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_DELIMITED_TEXT_H_
