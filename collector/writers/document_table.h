// From rows of the document to a table: which field goes into which column, and how its value is written.
#ifndef CREMA_COLLECTOR_WRITERS_DOCUMENT_TABLE_H_
#define CREMA_COLLECTOR_WRITERS_DOCUMENT_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/writers/text_table.h"
#include "nlohmann/json.hpp"

namespace crema {

/// What a field holds; durations are in seconds, rates per second, shares from 0 to 1.
enum class FieldKind {
  kText,
  kPath,
  kFunction,
  kCount,
  kExactCount,
  kNumber,
  kDuration,
  kMemory,
  kData,
  kShare,
  kRate,
  kFlag
};

struct DocumentColumn {
  std::string_view field;
  std::string_view header;
  FieldKind kind = FieldKind::kCount;
  int rank = 0;               ///< as in TableColumn
  bool has_a_switch = false;  ///< measured for who asks: nobody misses it where it is null in every row
};

bool IsText(FieldKind kind);

/// A value in words; `–` where it is null, absent or not of its kind.
std::string FieldText(const nlohmann::ordered_json& value, FieldKind kind);

struct DocumentTable {
  TextTable text;
  std::vector<std::string> not_measured;  ///< headers of the columns that are null in every row, and left out
};

/// One row of text for each of `rows`.
DocumentTable TableOf(const nlohmann::ordered_json& rows, const std::vector<DocumentColumn>& columns);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_DOCUMENT_TABLE_H_
