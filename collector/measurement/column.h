// The columns of a measurement's rows: each is declared once, with the types of its values, and how they are read and
// written.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "collector/idioms/members.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// The JSON of documents: keys keep their order.
using Json = nlohmann::ordered_json;

/// A number or null. An integer stays one: the JSON of a count has no decimal point, and no digit of it is lost.
class Number {
 public:
  constexpr Number() = default;
  /// A value that is not finite is null: JSON knows no NaN and no infinity.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, int> = 0>
  constexpr Number(T value) {  // NOLINT(google-explicit-constructor): a row's member takes any number
    if constexpr (std::is_floating_point_v<T>) {
      if (!(value - value == 0)) return;  // NOLINT(misc-redundant-expression): std::isfinite is no constant expression
      real_ = value;
      state_ = State::kReal;
    } else if (std::is_unsigned_v<T> && sizeof(T) == 8 &&
               static_cast<uint64_t>(value) > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      real_ = static_cast<double>(value);
      state_ = State::kReal;
    } else {
      integer_ = static_cast<int64_t>(value);
      state_ = State::kInteger;
    }
  }
  template <class T>
  constexpr Number(const std::optional<T>& value) {  // NOLINT(google-explicit-constructor): as above
    if (value.has_value()) *this = Number(*value);
  }
  constexpr Number(std::nullopt_t /*null*/) {}  // NOLINT(google-explicit-constructor): as above

  /// An integer if the number is whole, as such numbers mostly are.
  static Number Whole(double value) {
    return std::nearbyint(value) == value && std::abs(value) < 1e15 ? Number(static_cast<int64_t>(value))
                                                                    : Number(value);
  }

  constexpr bool has_value() const { return state_ != State::kNull; }
  constexpr bool is_integer() const { return state_ == State::kInteger; }
  /// Only if it has a value; an integer beyond 2^53 is rounded.
  constexpr double operator*() const { return is_integer() ? static_cast<double>(integer_) : real_; }
  constexpr double value_or(double other) const { return has_value() ? **this : other; }
  /// Only if it is an integer.
  constexpr int64_t integer() const { return integer_; }
  constexpr operator std::optional<double>() const {  // NOLINT(google-explicit-constructor): what readers work with
    return has_value() ? std::optional<double>(**this) : std::nullopt;
  }

  friend constexpr bool operator==(const Number& a, const Number& b) {
    if (a.is_integer() && b.is_integer()) return a.integer_ == b.integer_;
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }
  friend constexpr bool operator!=(const Number& a, const Number& b) { return !(a == b); }
  /// Null comes before any number.
  friend constexpr bool operator<(const Number& a, const Number& b) {
    if (a.is_integer() && b.is_integer()) return a.integer_ < b.integer_;
    return b.has_value() && (!a.has_value() || *a < *b);
  }
  friend constexpr bool operator>(const Number& a, const Number& b) { return b < a; }
  friend std::ostream& operator<<(std::ostream& out, const Number& number) {
    if (!number.has_value()) return out << "null";
    return number.is_integer() ? out << number.integer_ : out << *number;
  }

 private:
  enum class State : uint8_t { kNull, kInteger, kReal };
  union {
    int64_t integer_ = 0;  // NOLINT(readability-identifier-naming): a member of the class, as the next
    double real_;          // NOLINT(readability-identifier-naming)
  };
  State state_ = State::kNull;
};

/// A text or null. Null reads as an empty text.
class Text {
 public:
  Text() = default;
  template <class T, std::enable_if_t<std::is_convertible_v<T, std::string_view>, int> = 0>
  Text(T&& text)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload): a member takes any text
      : text_(std::in_place, std::string_view(text)) {}
  Text(std::string&& text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor): as above
  Text(std::nullopt_t /*null*/) {}                      // NOLINT(google-explicit-constructor): as above

  /// Null where the text is empty.
  static Text OrNull(std::string_view text) { return text.empty() ? Text() : Text(text); }

  bool has_value() const { return text_.has_value(); }
  const std::string& str() const {
    static const std::string kEmpty;
    return text_.has_value() ? *text_ : kEmpty;
  }
  bool empty() const { return str().empty(); }
  operator const std::string&() const { return str(); }  // NOLINT(google-explicit-constructor): what readers work with
  operator std::string_view() const { return str(); }    // NOLINT(google-explicit-constructor): as above

  friend bool operator==(const Text& a, const Text& b) { return a.text_ == b.text_; }
  friend bool operator<(const Text& a, const Text& b) { return a.text_ < b.text_; }
  friend bool operator==(const Text& a, std::string_view b) { return a.str() == b; }
  friend bool operator==(const Text& a, const char* b) { return a.str() == b; }
  friend bool operator==(const Text& a, const std::string& b) { return a.str() == b; }
  friend bool operator!=(const Text& a, std::string_view b) { return !(a == b); }
  friend bool operator!=(const Text& a, const char* b) { return !(a == b); }
  friend bool operator!=(const Text& a, const std::string& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const Text& text) {
    return out << (text.has_value() ? text.str() : "null");
  }

 private:
  std::optional<std::string> text_;
};

/// A truth value or null. It converts to no bool: whether there is one, and which one, are two questions.
class Flag {
 public:
  constexpr Flag() = default;
  constexpr Flag(bool value) : value_(value) {}  // NOLINT(google-explicit-constructor): a member takes any truth value

  constexpr bool has_value() const { return value_.has_value(); }
  constexpr bool operator*() const { return *value_; }
  constexpr bool value_or(bool other) const { return value_.value_or(other); }
  friend constexpr bool operator==(const Flag& a, const Flag& b) { return a.value_ == b.value_; }

 private:
  std::optional<bool> value_;
};

// How a row's members are declared: once, with the key, unit and meaning of each, and how tables show it.

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
  std::string_view unit;                        ///< empty: text, a list or a truth value
  std::string_view meaning;                     ///< docs/metrics.md
  void (*write)(const void* row, Json* value);  ///< nullptr: the table's writer knows it
  void (*read)(const Json& value, void* row);   ///< of another type than the member's: null
  Cell (*cell)(const void* row);

  std::string_view header;  ///< empty: tables for people leave it out
  Kind kind;
  int rank;               ///< the higher, the sooner a narrow table leaves it out
  bool opt_in = false;    ///< measured only on request: tables omit it without a word where every row is null
  int place = 0;          ///< tables for people show columns by place, then in the document's order
  bool csv_last = false;  ///< spreadsheets have had it as the last column
  int compared = 0;       ///< `crema compare` has those above 0, by this number, then in the document's order

  template <class Value>
  constexpr Column With(Value Column::*member, Value value) const {
    Column column = *this;
    column.*member = value;
    return column;
  }
  constexpr Column In(std::string_view its_unit) const { return With(&Column::unit, its_unit); }
  constexpr Column At(int where) const { return With(&Column::place, where); }
  constexpr Column OptIn() const { return With(&Column::opt_in, true); }
  constexpr Column CsvLast() const { return With(&Column::csv_last, true); }
  /// A number that says how a run did; `where`: 1 to 3 come first.
  constexpr Column Compared(int where = 4) const { return With(&Column::compared, where); }
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

// One overload for each type of a member; those of lists and of rows inside rows are beside their types.
void WriteValue(const Number& member, Json* value);
void WriteValue(const Text& member, Json* value);
void WriteValue(const Flag& member, Json* value);
void ReadValue(const Json& value, Number* member);
void ReadValue(const Json& value, Text* member);
void ReadValue(const Json& value, Flag* member);
/// Reads what is not a list as an empty one, and leaves out items that are not texts.
void WriteValue(const std::vector<std::string>& member, Json* value);
void ReadValue(const Json& value, std::vector<std::string>* member);
/// A list that may be null.
void WriteValue(const std::optional<std::vector<std::string>>& member, Json* value);
void ReadValue(const Json& value, std::optional<std::vector<std::string>>* member);
inline Cell CellOf(const Number& member) { return member.has_value() ? Cell(member) : Cell(); }
inline Cell CellOf(const Text& member) { return member.has_value() ? Cell(member.str()) : Cell(); }
inline Cell CellOf(const Flag& member) { return member.has_value() ? Cell(*member) : Cell(); }

namespace internal {

/// Compact JSON; what is not UTF-8 is replaced.
Cell CellOfJson(void (*write)(const void* row, Json* value), const void* row);

template <class Row, auto kMember>
void WriteMember(const void* row, Json* value) {
  WriteValue(static_cast<const Row*>(row)->*kMember, value);
}

template <class Row, auto kMember>
void ReadMember(const Json& value, void* row) {
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

}  // namespace internal

/// A member, under its own name as the key: `ColumnOf<&CutRow::flow>("cut flow", Kind::kText, 2, "as recorded")`.
/// `Row`: what has the member from a base.
template <auto kMember, class Row = StructOf<kMember>>
constexpr Column ColumnOf(std::string_view header, Kind kind = Kind::kText, int rank = 0,
                          std::string_view meaning = "") {
  return {NameOfMember<kMember>(),
          UnitOf(kind),
          meaning,
          &internal::WriteMember<Row, kMember>,
          &internal::ReadMember<Row, kMember>,
          &internal::CellOfMember<Row, kMember>,
          header,
          kind,
          rank};
}

/// The key is the header, too.
template <auto kMember, class Row = StructOf<kMember>>
constexpr Column ColumnOf(Kind kind, int rank = 0, std::string_view meaning = "") {
  return ColumnOf<kMember, Row>(NameOfMember<kMember>(), kind, rank, meaning);
}

/// Tables for people leave it out.
template <auto kMember, class Row = StructOf<kMember>>
constexpr Column FieldOf(Kind kind = Kind::kText, std::string_view meaning = "") {
  return ColumnOf<kMember, Row>("", kind, 0, meaning);
}

/// Members of which there is nothing more to say.
template <auto... kMembers>
constexpr std::array<Column, sizeof...(kMembers)> FieldsOf() {
  return {FieldOf<kMembers>()...};
}

/// An object with the columns' keys, in their order.
void WriteRow(absl::Span<const Column> columns, const void* row, Json* object);
/// Members whose key is absent keep what they have; keys that no column has are ignored.
void ReadRow(absl::Span<const Column> columns, const Json& object, void* row);

namespace internal {

Json& Append(Json* list);
void MakeList(Json* value);
/// 0 if it is not a list.
size_t SizeOf(const Json& list);
const Json& ItemOf(const Json& list, size_t index);
bool IsObject(const Json& value);

}  // namespace internal

/// A list of rows; reads what is not a list as an empty one.
template <class Row, class = decltype(&Row::Columns)>
void WriteValue(const std::vector<Row>& rows, Json* value) {
  internal::MakeList(value);
  for (const Row& row : rows) WriteRow(Row::Columns(), &row, &internal::Append(value));
}
template <class Row, class = decltype(&Row::Columns)>
void ReadValue(const Json& value, std::vector<Row>* rows) {
  rows->assign(internal::SizeOf(value), Row());
  for (size_t i = 0; i < rows->size(); ++i) ReadRow(Row::Columns(), internal::ItemOf(value, i), &(*rows)[i]);
}

/// A row inside another one.
template <class Row, class = decltype(&Row::Columns)>
void WriteValue(const Row& row, Json* value) {
  WriteRow(Row::Columns(), &row, value);
}
template <class Row, class = decltype(&Row::Columns)>
void ReadValue(const Json& value, Row* row) {
  ReadRow(Row::Columns(), value, row);
}
template <class Row, class = decltype(&Row::Columns)>
void WriteValue(const std::optional<Row>& row, Json* value) {
  if (row.has_value()) WriteRow(Row::Columns(), &*row, value);
}
template <class Row, class = decltype(&Row::Columns)>
void ReadValue(const Json& value, std::optional<Row>* row) {
  row->reset();
  if (internal::IsObject(value)) ReadRow(Row::Columns(), value, &row->emplace());
}

}  // namespace crema
