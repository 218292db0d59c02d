// How a row's members are declared: once, with the key, unit and meaning of each, and how tables show it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "collector/measurement/value.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// How a column's values are written for people; durations are in seconds, rates per second, shares from 0 to 1.
enum class Kind : uint8_t {
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

/// A member's value of any type; `std::monostate` is null. Lists and objects are compact JSON.
using Cell = std::variant<std::monostate, Number, bool, std::string>;

struct Column {
  std::string_view key;
  std::string_view unit;                                          ///< empty: text, a list or a truth value
  std::string_view meaning;                                       ///< docs/metrics.md
  void (*write)(const void* row, nlohmann::ordered_json* value);  ///< nullptr: the table's writer knows it
  void (*read)(const nlohmann::ordered_json& value, void* row);   ///< of another type than the member's: null
  Cell (*cell)(const void* row);

  std::string_view header;  ///< empty: tables for people leave it out
  Kind kind;
  int rank;               ///< the higher, the sooner a narrow table leaves it out
  bool opt_in = false;    ///< measured only on request: tables omit it without a word where every row is null
  int place = 0;          ///< tables for people show columns by place, then in the document's order
  bool csv_last = false;  ///< spreadsheets have had it as the last column

  constexpr Column In(std::string_view its_unit) const {
    Column column = *this;
    column.unit = its_unit;
    return column;
  }
  constexpr Column At(int where) const {
    Column column = *this;
    column.place = where;
    return column;
  }
  constexpr Column OptIn() const {
    Column column = *this;
    column.opt_in = true;
    return column;
  }
  constexpr Column CsvLast() const {
    Column column = *this;
    column.csv_last = true;
    return column;
  }
};

/// The document's unit of what is shown as `kind`; `Column::In` replaces it.
constexpr std::string_view UnitOf(Kind kind) {
  switch (kind) {
    case Kind::kCount:
    case Kind::kExactCount:
      return "count";
    case Kind::kDuration:
      return "s";
    case Kind::kMemory:
    case Kind::kData:
      return "B";
    case Kind::kShare:
      return "ratio";
    case Kind::kRate:
      return "Hz";
    case Kind::kText:
    case Kind::kPath:
    case Kind::kFunction:
    case Kind::kNumber:
    case Kind::kFlag:
      break;
  }
  return "";
}

// One overload for each type of a member; those of lists and of rows inside rows stand beside their types.
void WriteValue(const Number& member, nlohmann::ordered_json* value);
void WriteValue(const Text& member, nlohmann::ordered_json* value);
void WriteValue(const Flag& member, nlohmann::ordered_json* value);
void ReadValue(const nlohmann::ordered_json& value, Number* member);
void ReadValue(const nlohmann::ordered_json& value, Text* member);
void ReadValue(const nlohmann::ordered_json& value, Flag* member);
/// Reads what is not a list as an empty one, and leaves out items that are not texts.
void WriteValue(const std::vector<std::string>& member, nlohmann::ordered_json* value);
void ReadValue(const nlohmann::ordered_json& value, std::vector<std::string>* member);
/// A list that may be null.
void WriteValue(const std::optional<std::vector<std::string>>& member, nlohmann::ordered_json* value);
void ReadValue(const nlohmann::ordered_json& value, std::optional<std::vector<std::string>>* member);
Cell CellOf(const Number& member);
Cell CellOf(const Text& member);
Cell CellOf(const Flag& member);

namespace internal {

/// Compact JSON; what is not UTF-8 is replaced.
Cell CellOfJson(void (*write)(const void* row, nlohmann::ordered_json* value), const void* row);

template <class Row, auto kMember>
void WriteMember(const void* row, nlohmann::ordered_json* value) {
  WriteValue(static_cast<const Row*>(row)->*kMember, value);
}

template <class Row, auto kMember>
void ReadMember(const nlohmann::ordered_json& value, void* row) {
  ReadValue(value, &(static_cast<Row*>(row)->*kMember));
}

template <class Row, auto kMember>
Cell CellOfMember(const void* row) {
  const auto& member = static_cast<const Row*>(row)->*kMember;
  using Member = std::decay_t<decltype(member)>;
  if constexpr (std::is_same_v<Member, Number> || std::is_same_v<Member, Text> || std::is_same_v<Member, Flag>) {
    return CellOf(member);
  } else {
    return CellOfJson(&WriteMember<Row, kMember>, row);
  }
}

template <class Member>
struct RowOfMember;
template <class Row, class Value>
struct RowOfMember<Value Row::*> {
  using Type = Row;
};

}  // namespace internal

/// The column of a member that `Row` may have from a base.
template <class Row, auto kMember>
constexpr Column ColumnIn(std::string_view key, std::string_view header = "", Kind kind = Kind::kText, int rank = 0,
                          std::string_view meaning = "") {
  return {key,
          UnitOf(kind),
          meaning,
          &internal::WriteMember<Row, kMember>,
          &internal::ReadMember<Row, kMember>,
          &internal::CellOfMember<Row, kMember>,
          header,
          kind,
          rank};
}

/// `ColumnOf<&CutRow::events>("events", "events", Kind::kExactCount, 0, "events that passed, summed over results")`
template <auto kMember>
constexpr Column ColumnOf(std::string_view key, std::string_view header = "", Kind kind = Kind::kText, int rank = 0,
                          std::string_view meaning = "") {
  return ColumnIn<typename internal::RowOfMember<decltype(kMember)>::Type, kMember>(key, header, kind, rank, meaning);
}

/// The columns of several parts of a row, one after the other.
template <size_t... kSizes>
constexpr std::array<Column, (kSizes + ...)> Joined(const Column (&... parts)[kSizes]) {
  std::array<Column, (kSizes + ...)> joined{};
  size_t size = 0;
  const auto append = [&](const Column* part, size_t length) {
    for (size_t i = 0; i < length; ++i) joined[size++] = part[i];
  };
  (append(parts, kSizes), ...);
  return joined;
}

/// An object with the columns' keys, in their order.
void WriteRow(absl::Span<const Column> columns, const void* row, nlohmann::ordered_json* object);
/// Members whose key is absent keep what they have; keys that no column has are ignored.
void ReadRow(absl::Span<const Column> columns, const nlohmann::ordered_json& object, void* row);

namespace internal {

nlohmann::ordered_json& Append(nlohmann::ordered_json* list);
void MakeList(nlohmann::ordered_json* value);
/// 0 if it is not a list.
size_t SizeOf(const nlohmann::ordered_json& list);
const nlohmann::ordered_json& ItemOf(const nlohmann::ordered_json& list, size_t index);
bool IsObject(const nlohmann::ordered_json& value);

}  // namespace internal

/// A list of rows; reads what is not a list as an empty one.
template <class Row, class = decltype(&Row::Columns)>
void WriteValue(const std::vector<Row>& rows, nlohmann::ordered_json* value) {
  internal::MakeList(value);
  for (const Row& row : rows) WriteRow(Row::Columns(), &row, &internal::Append(value));
}
template <class Row, class = decltype(&Row::Columns)>
void ReadValue(const nlohmann::ordered_json& value, std::vector<Row>* rows) {
  rows->assign(internal::SizeOf(value), Row());
  for (size_t i = 0; i < rows->size(); ++i) ReadRow(Row::Columns(), internal::ItemOf(value, i), &(*rows)[i]);
}

/// A row inside another one.
template <class Row, class = decltype(&Row::Columns)>
void WriteValue(const Row& row, nlohmann::ordered_json* value) {
  WriteRow(Row::Columns(), &row, value);
}
template <class Row, class = decltype(&Row::Columns)>
void ReadValue(const nlohmann::ordered_json& value, Row* row) {
  ReadRow(Row::Columns(), value, row);
}
template <class Row, class = decltype(&Row::Columns)>
void WriteValue(const std::optional<Row>& row, nlohmann::ordered_json* value) {
  if (row.has_value()) WriteRow(Row::Columns(), &*row, value);
}
template <class Row, class = decltype(&Row::Columns)>
void ReadValue(const nlohmann::ordered_json& value, std::optional<Row>* row) {
  row->reset();
  if (internal::IsObject(value)) ReadRow(Row::Columns(), value, &row->emplace());
}

}  // namespace crema
