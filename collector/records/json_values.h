// Values of JSON: how the reader of any JSON reads one into a member of a struct, how the quick reader (plain_cursor.h)
// takes it, and how the member is as if it were missing.
#ifndef CREMA_COLLECTOR_RECORDS_JSON_VALUES_H_
#define CREMA_COLLECTOR_RECORDS_JSON_VALUES_H_

#include <simdjson.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "collector/records/plain_cursor.h"

namespace crema::json {

namespace ondemand = simdjson::ondemand;

/// What is wrong with a value, as the end of a sentence about its field; nullptr: nothing.
using Complaint = const char*;

/// What follows the value that was taken; nullptr: the value is not plain, or at fault. Where the quick reader is goes
/// by value, so that it stays in a register.
using Rest = const char*;

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

template <class>
struct ClassOfMember;
template <class Struct, class Member>
struct ClassOfMember<Member Struct::*> {
  using Type = Struct;
};
template <auto kMember>
using StructOf = typename ClassOfMember<decltype(kMember)>::Type;

template <auto kMember, auto... kInside, class Struct>
auto& MemberOf(Struct& out) {
  if constexpr (sizeof...(kInside) == 0) {
    return out.*kMember;
  } else {
    return MemberOf<kInside...>(out.*kMember);
  }
}

template <bool kMayBeNegative, auto... kMembers, class Struct>
Complaint ReadMember(ondemand::value& value, Struct& out) {
  auto& member = MemberOf<kMembers...>(out);
  if (Complaint complaint = ReadValue(value, member)) return complaint;
  if constexpr (!kMayBeNegative) return IsNegative(member) ? kNegative : nullptr;
  return nullptr;
}

template <bool kMayBeNegative, class T>
[[gnu::always_inline]] inline bool TakeValue(PlainCursor& line, T& out) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return kMayBeNegative ? line.TakeInteger(out) : line.TakeCount(out);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return line.TakeUnsigned(out);
  } else if constexpr (std::is_same_v<T, double>) {
    return line.TakeReal(out) && (kMayBeNegative || !IsNegative(out));
  } else if constexpr (std::is_same_v<T, bool>) {
    out = line.Take("true");
    return out || line.Take("false");
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return line.TakeText(out);
  } else {
    return TakeValue<kMayBeNegative>(line, out.emplace());
  }
}

template <bool kMayBeNegative, auto... kMembers, class Struct>
Rest TakeMember(PlainCursor line, Struct& out) {
  return line.RestIf(TakeValue<kMayBeNegative>(line, MemberOf<kMembers...>(out)));
}

template <class T>
void ClearValue(T& value) {
  value = T();
}
template <class T>
void ClearValue(std::vector<T>& value) {
  value.clear();  // keeps its memory
}
template <auto... kMembers, class Struct>
void ClearMember(Struct& out) {
  ClearValue(MemberOf<kMembers...>(out));
}

}  // namespace crema::json

#endif  // CREMA_COLLECTOR_RECORDS_JSON_VALUES_H_
