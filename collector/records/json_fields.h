// Reads a JSON object into a struct from a table that names its fields, in one of two ways: quickly, what is written
// plainly, and the rest as any JSON, which can also say what is wrong.
//
// A record log states the order of its fields, so the table's next entry is tried first. Another writer may have an
// order of its own, and blanks: what it wrote last is tried first then.
#ifndef CREMA_COLLECTOR_RECORDS_JSON_FIELDS_H_
#define CREMA_COLLECTOR_RECORDS_JSON_FIELDS_H_

#include <simdjson.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// One field of an object, for both readers: the one of any JSON, and the quick one (plain_cursor.h).
template <class Struct>
struct Field {
  std::string_view key;
  bool required;
  Complaint (*read)(ondemand::value& value, Struct& out);
  Rest (*take)(PlainCursor line, Struct& out);
  void (*clear)(Struct& out);  ///< as where the field is missing
};

/// Why an object was refused: the field at fault (empty: the text is no JSON) and what is wrong with it.
struct Refusal {
  std::string field;
  std::string complaint;
  explicit operator bool() const { return !complaint.empty(); }
};

inline constexpr bool kRequired = true;

/// A field of any value. `kInside`: members of members, to the one that takes it.
template <auto kMember, auto... kInside>
constexpr Field<StructOf<kMember>> Any(std::string_view key, bool required = false) {
  return {key, required, &ReadMember<true, kMember, kInside...>, &TakeMember<true, kMember, kInside...>,
          &ClearMember<kMember, kInside...>};
}

/// A number that cannot be negative: a time, a duration, a size, a count.
template <auto kMember, auto... kInside>
constexpr Field<StructOf<kMember>> NotNegative(std::string_view key, bool required = false) {
  return {key, required, &ReadMember<false, kMember, kInside...>, &TakeMember<false, kMember, kInside...>,
          &ClearMember<kMember, kInside...>};
}

template <class Struct>
Rest TakeNothing(PlainCursor, Struct&) {
  return nullptr;
}
template <class Struct>
void ClearNothing(Struct&) {}

/// A field that is only found in lines which are left to the reader of any JSON.
template <class Struct>
constexpr Field<Struct> Rare(std::string_view key, Complaint (*read)(ondemand::value& value, Struct& out),
                             void (*clear)(Struct& out) = &ClearNothing<Struct>) {
  return {key, false, read, &TakeNothing<Struct>, clear};
}

template <class Struct>
Complaint ReadNothing(ondemand::value&, Struct&) {
  return nullptr;
}
template <class Struct>
Rest SkipPlain(PlainCursor line, Struct&) {
  return line.RestIf(line.SkipValue());
}

/// Ignores the field; it stands in a table to keep the order.
template <class Struct>
constexpr Field<Struct> Skip(std::string_view key) {
  return {key, false, &ReadNothing<Struct>, &SkipPlain<Struct>, &ClearNothing<Struct>};
}

template <const char* kName, class Struct>
Rest TakeType(PlainCursor line, Struct&) {
  std::string_view name;
  return line.RestIf(line.TakeText(name) && name == kName);
}

/// The line's type, which the quick reader finds out by it; the other one knows.
template <class Struct, const char* kName>
constexpr Field<Struct> Type() {
  return {"type", true, &ReadNothing<Struct>, &TakeType<kName, Struct>, &ClearNothing<Struct>};
}

/// Takes a list; `take_item(line)` takes what is next in it.
template <class TakeItem>
Rest TakeList(PlainCursor line, const TakeItem& take_item) {
  if (!line.Take("[")) return nullptr;
  line.SkipBlanks();
  if (line.Take("]")) return line.rest();
  do {
    line.SkipBlanks();
    if (!line.GoTo(take_item(line))) return nullptr;
    line.SkipBlanks();
  } while (line.Take(","));
  return line.RestIf(line.Take("]"));
}

template <auto kMember, class Struct>
Complaint ReadStrings(ondemand::value& value, Struct& out) {
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

template <auto kMember, class Struct>
Rest TakeStrings(PlainCursor line, Struct& out) {
  (out.*kMember).clear();
  return TakeList(line, [&](PlainCursor item) { return item.RestIf(item.TakeText((out.*kMember).emplace_back())); });
}

/// A list of strings; anything else in it is refused.
template <auto kMember>
constexpr Field<StructOf<kMember>> Strings(std::string_view key) {
  return {key, false, &ReadStrings<kMember>, &TakeStrings<kMember>, &ClearMember<kMember>};
}

template <auto kMember, class Struct>
Complaint ReadIntegers(ondemand::value& value, Struct& out) {
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  (out.*kMember).clear();
  for (auto element : array) {
    if (element.get_int64().get((out.*kMember).emplace_back())) return "holds something that is not an integer";
  }
  return nullptr;
}

template <auto kMember, class Struct>
Rest TakeIntegers(PlainCursor line, Struct& out) {
  (out.*kMember).clear();
  return TakeList(line, [&](PlainCursor item) { return item.RestIf(item.TakeInteger((out.*kMember).emplace_back())); });
}

/// A list of integers of 64 bits; anything else in it is refused.
template <auto kMember>
constexpr Field<StructOf<kMember>> Integers(std::string_view key) {
  return {key, false, &ReadIntegers<kMember>, &TakeIntegers<kMember>, &ClearMember<kMember>};
}

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

/// A field's key as the quick reader expects it: with the brace or comma before it, and the colon.
template <const auto& kTable, size_t kAt>
struct Lead {
  static constexpr size_t kSize = kTable[kAt].key.size() + 5;
  struct Text {
    char text[kSize] = {};
  };
  static constexpr Text Make() {
    Text lead;
    size_t to = 0;
    lead.text[to++] = kAt == 0 ? '{' : ',';
    lead.text[to++] = '"';
    for (const char c : kTable[kAt].key) lead.text[to++] = c;
    lead.text[to++] = '"';
    lead.text[to] = ':';
    return lead;
  }
  static constexpr Text kText = Make();
};

/// Takes the field if it is next, written without blanks.
template <const auto& kTable, size_t kAt, class Struct>
[[gnu::always_inline]] inline bool TakeNext(PlainCursor& line, Struct& out, uint64_t& seen) {
  constexpr Field<Struct> kField = kTable[kAt];
  if (!line.Take(Lead<kTable, kAt>::kText.text)) {
    kField.clear(out);
    return true;
  }
  seen |= uint64_t{1} << kAt;
  if (line.Next() != 'n') return line.GoTo(kField.take(line, out));
  kField.clear(out);
  return !kField.required && line.Take("null");
}

/// Finds a key among those of a table.
class KeyIndex {
 public:
  template <class Struct, size_t kFields>
  explicit constexpr KeyIndex(const Field<Struct> (&fields)[kFields]) {
    static_assert(2 * kFields <= kSlots, "or looking takes long");
    for (size_t at = 0; at < kFields; ++at) {
      size_t slot = SlotOf(fields[at].key);
      while (slots_[slot] != 0) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<uint8_t>(at + 1);
    }
  }

  /// Its place in the table; nullopt: it is not there.
  template <class Struct>
  std::optional<size_t> Find(const Field<Struct>* fields, std::string_view key) const {
    if (key.empty()) return std::nullopt;
    for (size_t slot = SlotOf(key); slots_[slot] != 0; slot = (slot + 1) % kSlots) {
      if (fields[slots_[slot] - 1].key == key) return slots_[slot] - size_t{1};
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kSlots = 128;
  static constexpr size_t SlotOf(std::string_view key) {
    const auto at = [key](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(key[i])); };
    return (key.size() * 19 + at(0) * 5 + at(key.size() / 2) * 11 + at(key.size() - 1) * 3) % kSlots;
  }
  std::array<uint8_t, kSlots> slots_ = {};
};

template <const auto& kTable>
inline constexpr KeyIndex kKeyIndex{kTable};

/// How the objects of a table were written last: what stood before the value of the field that followed another.
class LastSpelling {
 public:
  static constexpr size_t kBegin = 64;  // before an object's first field
  static constexpr size_t kRest = 65;   // before the first that is not in the table's order

  struct Next {
    KnownText lead;  ///< brace or comma, key and colon, with blanks
    uint8_t at = 0;  ///< the field's place in the table
  };
  /// `before`: the place of a field, or one of the two above.
  Next& After(size_t before) { return next_[before]; }

 private:
  std::array<Next, 66> next_ = {};
};

template <const auto& kTable>
LastSpelling& LastSpellingOf() {
  static thread_local LastSpelling spelling;
  return spelling;
}

/// Takes what stands before a field's value, and finds its place in the table.
template <class Struct>
std::optional<size_t> TakeKey(PlainCursor& line, const Field<Struct>* fields, const KeyIndex& keys, bool is_first) {
  if (!(is_first ? line.Take("{") : line.Take(","))) return std::nullopt;
  line.SkipBlanks();
  std::string_view key;
  if (!line.TakeText(key)) return std::nullopt;
  line.SkipBlanks();
  if (!line.Take(":")) return std::nullopt;
  line.SkipBlanks();
  return keys.Find(fields, key);
}

/// Takes an object, or the rest of one, whose fields may come in any order and with blanks: quickest where they are
/// written as in the last one. Those that it does not know and those that come twice are left to the reader of any
/// JSON.
template <class Struct>
Rest TakeRest(PlainCursor line, const Field<Struct>* fields, const KeyIndex& keys, LastSpelling& spelling, Struct& out,
              uint64_t& seen) {
  size_t before = seen == 0 ? LastSpelling::kBegin : LastSpelling::kRest;
  while (true) {
    LastSpelling::Next& next = spelling.After(before);
    if (line.Take(next.lead)) {
      if (line.IsBlank()) line.SkipBlanks();
    } else {
      const char* const begin = line.rest();
      line.SkipBlanks();
      const bool is_first = before == LastSpelling::kBegin;
      if (!is_first && line.Take("}")) return line.rest();
      const std::optional<size_t> at = TakeKey(line, fields, keys, is_first);
      if (!at.has_value()) return nullptr;
      const std::string_view lead(begin, static_cast<size_t>(line.rest() - begin));
      next.lead = lead.size() <= KnownText::kMost ? KnownText(lead) : KnownText();
      next.at = static_cast<uint8_t>(*at);
    }
    before = next.at;
    if ((seen >> before & 1) != 0) return nullptr;
    seen |= uint64_t{1} << before;
    const Field<Struct>& field = fields[before];
    if (line.Next() == 'n') {
      if (field.required || !line.Take("null")) return nullptr;
    } else if (!line.GoTo(field.take(line, out))) {
      return nullptr;
    }
  }
}

template <const auto& kTable, class Struct, size_t... kAt>
Rest TakeObject(PlainCursor line, Struct& out, std::index_sequence<kAt...>) {
  static_assert(sizeof...(kAt) <= 64, "one bit each");
  constexpr uint64_t kNeeded = ((uint64_t{kTable[kAt].required} << kAt) | ...);
  uint64_t seen = 0;
  PlainCursor first = line;
  const bool is_in_order = first.Take(Lead<kTable, 0>::kText.text) && !first.IsBlank();
  if (!is_in_order && line.Next() == '{') {
    (kTable[kAt].clear(out), ...);
  } else if (!(TakeNext<kTable, kAt>(line, out, seen) && ...)) {
    return nullptr;
  }
  if (line.Take("}")) return line.RestIf((seen & kNeeded) == kNeeded);
  uint64_t seen_at_all = seen;
  const Rest rest = TakeRest(line, kTable, kKeyIndex<kTable>, LastSpellingOf<kTable>(), out, seen_at_all);
  return (seen_at_all & kNeeded) == kNeeded ? rest : nullptr;
}

/// The quick reader of an object: in the table's order and without blanks it is quickest. nullptr: the reader of any
/// JSON is to read it; nothing is said about the object, and `out` holds nothing of use.
template <const auto& kTable, class Struct>
Rest TakeObject(PlainCursor line, Struct& out) {
  return TakeObject<kTable>(line, out, std::make_index_sequence<std::size(kTable)>());
}

template <auto kMember, const auto& kTable, class Struct>
Complaint ReadObjects(ondemand::value& value, Struct& out) {
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

template <auto kMember, const auto& kTable, class Struct>
Rest TakeObjects(PlainCursor line, Struct& out) {
  (out.*kMember).clear();
  return TakeList(line, [&](PlainCursor item) { return TakeObject<kTable>(item, (out.*kMember).emplace_back()); });
}

/// A list of objects of one table.
template <auto kMember, const auto& kTable>
constexpr Field<StructOf<kMember>> Objects(std::string_view key) {
  return {key, false, &ReadObjects<kMember, kTable>, &TakeObjects<kMember, kTable>, &ClearMember<kMember>};
}

}  // namespace crema::json

#endif  // CREMA_COLLECTOR_RECORDS_JSON_FIELDS_H_
