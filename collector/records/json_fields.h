// Reads a JSON object into a struct from a table that names its fields.
//
// A record log states the order of its fields, so the table's next entry is tried first; a line in another order is
// read all the same, only slower.
#ifndef CREMA_COLLECTOR_RECORDS_JSON_FIELDS_H_
#define CREMA_COLLECTOR_RECORDS_JSON_FIELDS_H_

#include <simdjson.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace crema::json {

namespace ondemand = simdjson::ondemand;

/// What is wrong with a value, as the end of a sentence about its field; nullptr: nothing.
using Complaint = const char*;

template <class Struct>
struct Field {
  std::string_view key;
  Complaint (*read)(ondemand::value& value, Struct& out);
  bool required = false;
};

/// Why an object was refused: the field at fault (empty: the text is no JSON) and what is wrong with it.
struct Refusal {
  std::string field;
  std::string complaint;
  explicit operator bool() const { return !complaint.empty(); }
};

inline constexpr char kNotAnInteger[] = "is not an integer of 64 bits";
inline constexpr char kNegative[] = "is negative";
inline constexpr char kNotANumber[] = "is not a number";
inline constexpr char kNotAString[] = "is not a string";
inline constexpr char kNotABoolean[] = "is not true or false";
inline constexpr char kNotAList[] = "is not a list";
inline constexpr char kBadRow[] = "holds a row with a missing, mistyped or negative value";
inline constexpr char kNotJson[] = "is not JSON";

inline Complaint ReadValue(ondemand::value& value, int64_t& out) {
  return value.get_int64().get(out) ? kNotAnInteger : nullptr;
}
inline Complaint ReadValue(ondemand::value& value, uint64_t& out) {
  return value.get_uint64().get(out) ? kNotAnInteger : nullptr;
}
// simdjson 3.0.1 misreads numbers of 20 digits and more: 0.69998253701971803956 comes out as 0.14658.
inline Complaint ReadValue(ondemand::value& value, double& out) {
  constexpr size_t kLongestTrusted = 19;
  const std::string_view token = value.raw_json_token();
  if (value.get_double().get(out)) return kNotANumber;
  if (token.size() > kLongestTrusted) std::from_chars(token.data(), token.data() + token.size(), out);
  return nullptr;
}
inline Complaint ReadValue(ondemand::value& value, bool& out) {
  return value.get_bool().get(out) ? kNotABoolean : nullptr;
}
inline Complaint ReadValue(ondemand::value& value, std::string_view& out) {
  return value.get_string().get(out) ? kNotAString : nullptr;
}

/// `null` is as good as an absent field.
inline bool IsNull(ondemand::value& value) {
  bool is_null = false;
  return value.is_null().get(is_null) == simdjson::SUCCESS && is_null;
}

template <class T>
Complaint ReadValue(ondemand::value& value, std::optional<T>& out) {
  return ReadValue(value, out.emplace());
}

inline bool IsNegative(int64_t value) { return value < 0; }
inline bool IsNegative(double value) { return value < 0; }
template <class T>
bool IsNegative(const std::optional<T>& value) {
  return value.has_value() && IsNegative(*value);
}

/// Reads a field of any value.
template <auto kMember, class Struct>
Complaint Any(ondemand::value& value, Struct& out) {
  return ReadValue(value, out.*kMember);
}

/// Reads a number that cannot be negative: a time, a duration, a size, a count.
template <auto kMember, class Struct>
Complaint NotNegative(ondemand::value& value, Struct& out) {
  if (Complaint complaint = ReadValue(value, out.*kMember)) return complaint;
  return IsNegative(out.*kMember) ? kNegative : nullptr;
}

/// Reads a list of strings; anything else in it is refused.
template <auto kMember, class Struct>
Complaint Strings(ondemand::value& value, Struct& out) {
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  (out.*kMember).clear();
  for (auto element : array) {
    std::string_view text;
    if (element.get_string().get(text)) return "holds something that is not a string";
    (out.*kMember).push_back(text);
  }
  return nullptr;
}

/// Ignores the field; it stands in a table to keep the order.
template <class Struct>
Complaint Skip(ondemand::value&, Struct&) {
  return nullptr;
}

inline constexpr bool kRequired = true;

template <class Struct, size_t kFields>
Refusal ReadObject(ondemand::object object, const Field<Struct> (&fields)[kFields], Struct& out) {
  static_assert(kFields <= 64, "one bit each");
  uint64_t seen = 0;
  size_t next = 0;
  for (auto item : object) {
    ondemand::field member;
    if (std::move(item).get(member)) return {"", kNotJson};
    size_t at = next;
    if (at == kFields || !(member.key() == fields[at].key)) {
      std::string_view key;
      if (member.unescaped_key().get(key)) return {"", kNotJson};
      for (at = 0; at < kFields && fields[at].key != key; ++at) {
      }
      if (at == kFields) continue;
    }
    next = at + 1;
    ondemand::value& value = member.value();
    if (IsNull(value)) continue;
    if (Complaint complaint = fields[at].read(value, out)) return {std::string(fields[at].key), complaint};
    seen |= uint64_t{1} << at;
  }
  for (size_t at = 0; at < kFields; ++at) {
    if (fields[at].required && !(seen >> at & 1)) return {std::string(fields[at].key), "is missing"};
  }
  return {};
}

/// Reads a list of objects of one table into a vector.
template <auto kMember, const auto& kTable, class Struct>
Complaint Objects(ondemand::value& value, Struct& out) {
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  (out.*kMember).clear();
  for (auto element : array) {
    ondemand::object object;
    if (element.get_object().get(object)) return "holds something that is not an object";
    if (ReadObject(object, kTable, (out.*kMember).emplace_back())) return kBadRow;
  }
  return nullptr;
}

}  // namespace crema::json

#endif  // CREMA_COLLECTOR_RECORDS_JSON_FIELDS_H_
