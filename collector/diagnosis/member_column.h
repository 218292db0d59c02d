// The column of a row's member, for tables of members.
#pragma once

#include "absl/algorithm/container.h"
#include "collector/measurement/column.h"

namespace crema {

/// Its key, unit and meaning.
template <class Row>
const Column& ColumnOfMember(Number Row::*member) {
  Row row;
  row.*member = 1;  // all other numbers are null
  const absl::Span<const Column> columns = Row::Columns();
  return *absl::c_find_if(columns, [&row](const Column& column) {
    return column.cell != nullptr && std::holds_alternative<Number>(column.cell(&row));
  });
}

}  // namespace crema
