// Reads a JSON object into a struct from a table that names its fields, in one of two ways: quickly, what is written
// plainly, and the rest as any JSON, which can also say what is wrong.
//
// A record log states the order of its fields, so the table's next entry is tried first. Another writer may have an
// order of its own, and blanks: what it wrote last is tried first then.
#pragma once

#include <simdjson.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/idioms/members.h"
#include "nlohmann/json_fwd.hpp"

// Walks along a line of JSON that is written plainly: without escapes, and text in ASCII.

namespace crema {

/// A short text that is looked for again and again.
class KnownText {
 public:
  static constexpr size_t kMost = 40;  // bytes

  constexpr KnownText() = default;
  /// At most `kMost` bytes.
  explicit KnownText(std::string_view text) : length_(static_cast<uint8_t>(text.size())) {
    std::memcpy(words_.data(), text.data(), text.size());
  }

 private:
  friend class FastJsonReader;

  std::array<uint64_t, kMost / sizeof(uint64_t) + 1> words_ = {};  // zeros behind the text
  uint8_t length_ = 0;
};

/// Each `Parse` moves past a value and returns true. If it returns false, the line is not plain, and the reader is of
/// no more use. `Match` moves only if it returns true. What is parsed is valid JSON, and means what a JSON parser would
/// say; what is valid but rare (escapes, text beyond ASCII, numbers of 20 digits) is not plain.
///
/// The line is followed by 64 readable bytes; what they hold does not matter, as `AtEnd` notices a token that ran over.
class FastJsonReader {
 public:
  explicit FastJsonReader(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  template <size_t kSize>
  bool Match(const char (&literal)[kSize]) {
    static_assert(kSize <= 64, "more than is readable behind the line");
    if (!Is(literal)) return false;
    at_ += kSize - 1;
    return true;
  }
  /// Whether the literal is next; does not move.
  template <size_t kSize>
  bool Is(const char (&literal)[kSize]) const {
    constexpr size_t kLength = kSize - 1;
    if constexpr (kLength < sizeof(uint64_t)) {
      return std::memcmp(at_, literal, kLength) == 0;
    } else {  // word by word, the last two may overlap: compilers call memcmp(3) for it
      uint64_t difference = Load(at_ + kLength - sizeof(uint64_t)) ^ Load(literal + kLength - sizeof(uint64_t));
      for (size_t i = 0; i + sizeof(uint64_t) < kLength; i += sizeof(uint64_t)) {
        difference |= Load(at_ + i) ^ Load(literal + i);
      }
      return difference == 0;
    }
  }

  /// The same of a text that is known as it runs; an empty one is never there.
  bool Match(const KnownText& text) {
    if (text.length_ == 0 || text.length_ > end_ - at_) return false;
    size_t i = 0;
    uint64_t difference = 0;
    for (; i < text.length_ / sizeof(uint64_t); ++i) difference |= Load(at_ + i * sizeof(uint64_t)) ^ text.words_[i];
    const uint64_t rest = (uint64_t{1} << text.length_ % sizeof(uint64_t) * 8) - 1;
    difference |= (Load(at_ + i * sizeof(uint64_t)) ^ text.words_[i]) & rest;
    if (difference != 0) return false;
    at_ += text.length_;
    return true;
  }

  /// A string; `text` is a view into the line.
  bool ParseText(std::string_view& text) {
    if (*at_ != '"') return false;
    const char* const begin = at_ + 1;
    for (const char* at = begin; at < end_; at += sizeof(uint64_t)) {
      const uint64_t special = SpecialBytes(Load(at));
      if (special == 0) continue;
      at += FirstByte(special);
      if (at >= end_ || *at != '"') return false;
      text = std::string_view(begin, static_cast<size_t>(at - begin));
      at_ = at + 1;
      return true;
    }
    return false;
  }

  /// An integer from 0 to 10^19 - 1. Inlined, so that each field has branches of its own: how long a number is, is
  /// foreseen by its field.
  [[gnu::always_inline]] bool ParseUnsigned(uint64_t& number) {
    const char* const begin = at_;
    number = 0;
    // 19 digits fit into 64 bits, whatever they are.
    for (int words = 0; words < 3; ++words) {
      const uint64_t word = Load(at_) ^ kZeros;
      const uint64_t others = NotDigits(word);
      const int digits = others == 0 ? 8 : FirstByte(others);
      if (digits == 0) break;
      number = number * kPowersOfTen[static_cast<size_t>(digits)] + EightDigits(word << (64 - 8 * digits));
      at_ += digits;
      if (digits < 8) break;
    }
    const ptrdiff_t length = at_ - begin;
    return length == 1 || (length > 1 && length <= kMostDigits && *begin != '0');
  }

  /// An integer that is not negative.
  [[gnu::always_inline]] bool ParseCount(int64_t& number) {
    uint64_t magnitude;
    if (!ParseUnsigned(magnitude) || magnitude > std::numeric_limits<int64_t>::max()) return false;
    number = static_cast<int64_t>(magnitude);
    return true;
  }

  bool ParseInteger(int64_t& number) {
    const bool negative = *at_ == '-';
    at_ += negative;
    if (!ParseCount(number)) return false;
    if (negative) number = -number;
    return true;
  }

  /// Any number; correctly rounded.
  bool ParseReal(double& number) {
    const char* const begin = at_;
    const bool negative = *at_ == '-';
    at_ += negative;
    uint64_t digits;
    const char* const first_digit = at_;
    if (!ParseUnsigned(digits)) return false;
    if (*at_ != '.' && *at_ != 'e' && *at_ != 'E' && digits < kExactIntegers) {
      number = negative ? -static_cast<double>(digits) : static_cast<double>(digits);
      return true;
    }
    ptrdiff_t length = at_ - first_digit;
    ptrdiff_t decimals = 0;
    if (*at_ == '.') {
      const char* const first_decimal = ++at_;
      for (; *at_ >= '0' && *at_ <= '9' && at_ < end_; ++at_) digits = digits * 10 + static_cast<uint64_t>(*at_ - '0');
      decimals = at_ - first_decimal;
      length += decimals;
      if (decimals == 0) return false;
    }
    if (*at_ != 'e' && *at_ != 'E' && length <= kMostDigits && digits < kExactIntegers &&
        decimals < static_cast<ptrdiff_t>(kExactPowersOfTen.size())) {
      // Both are exact, so one division rounds once (Clinger, PLDI 1990).
      const double magnitude = static_cast<double>(digits) / kExactPowersOfTen[static_cast<size_t>(decimals)];
      number = negative ? -magnitude : magnitude;
      return true;
    }
    if (*at_ == 'e' || *at_ == 'E') {
      ++at_;
      at_ += *at_ == '+' || *at_ == '-';
      const char* const exponent = at_;
      while (*at_ >= '0' && *at_ <= '9' && at_ < end_) ++at_;
      if (at_ == exponent) return false;
    }
    if (at_ > end_) return false;
    const auto [stopped, error] = std::from_chars(begin, at_, number);
    return error == std::errc() && stopped == at_;
  }

  bool IsBlank() const { return *at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n'; }
  void SkipBlanks() {
    while (at_ < end_ && IsBlank()) ++at_;
  }

  /// Skips a value that no field asks for. Refuses lists and objects that are nested more than `depth` deep.
  bool SkipValue(int depth = 8) {
    std::string_view text;
    double number;
    const char first = *at_;
    if (first == '"') return ParseText(text);
    if (first == 'n') return Match("null");
    if (first == 't') return Match("true");
    if (first == 'f') return Match("false");
    if (first != '{' && first != '[') return ParseReal(number);
    if (depth == 0) return false;
    const char last = first == '{' ? '}' : ']';
    ++at_;
    SkipBlanks();
    if (*at_ == last) return ++at_ <= end_;
    do {
      SkipBlanks();
      if (first == '{') {
        if (!ParseText(text)) return false;
        SkipBlanks();
        if (!Match(":")) return false;
        SkipBlanks();
      }
      if (!SkipValue(depth - 1)) return false;
      SkipBlanks();
    } while (at_ < end_ && Match(","));
    return *at_ == last && ++at_ <= end_;
  }

  bool AtEnd() const { return at_ == end_; }
  const char* remaining() const { return at_; }
  const char* RemainingIf(bool parsed) const { return parsed ? at_ : nullptr; }
  /// Goes on there; false if that is nowhere.
  bool GoTo(const char* rest) {
    at_ = rest;
    return rest != nullptr;
  }
  /// Where a token could begin; for those who look before they parse.
  char Next() const { return *at_; }

 private:
  static constexpr uint64_t kOnes = 0x0101010101010101;
  static constexpr uint64_t kHighBits = 0x8080808080808080;
  static constexpr uint64_t kZeros = 0x3030303030303030;  // the digit, eight times
  static constexpr ptrdiff_t kMostDigits = 19;
  static constexpr uint64_t kExactIntegers = uint64_t{1} << 53;  // as doubles
  static constexpr std::array<uint64_t, 9> kPowersOfTen = {1,      10,      100,      1000,     10000,
                                                           100000, 1000000, 10000000, 100000000};
  static constexpr std::array<double, 23> kExactPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

  // Eight bytes at once; the first is the lowest, as on every machine that crema runs on.
  static uint64_t Load(const char* at) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    return word;
  }
  static int FirstByte(uint64_t marks) { return __builtin_ctzll(marks) / 8; }

  // The high bit of each byte that is a quote, a backslash, a control or not ASCII. Bytes after the first may be marked
  // wrongly (a borrow runs on), the first never.
  static uint64_t SpecialBytes(uint64_t word) {
    const uint64_t quotes = word ^ (kOnes * '"');
    const uint64_t backslashes = word ^ (kOnes * '\\');
    return ((quotes - kOnes) | (backslashes - kOnes) | (word - kOnes * 0x20) | word) & kHighBits;
  }

  // `word`: text ^ kZeros. The high bit of each byte that is not a digit; the first is marked rightly.
  static uint64_t NotDigits(uint64_t word) { return ((word + kOnes * (0x80 - 10)) | word) & kHighBits; }

  // The number whose decimal digits are the bytes, the first the highest.
  static uint64_t EightDigits(uint64_t word) {
    word = word * 10 + (word >> 8);
    constexpr uint64_t kPairs = 0x000000ff000000ff;
    constexpr uint64_t kHigher = 100 + (uint64_t{1'000'000} << 32);
    constexpr uint64_t kLower = 1 + (uint64_t{10'000} << 32);
    return ((word & kPairs) * kHigher + (word >> 16 & kPairs) * kLower) >> 32;
  }

  const char* at_;
  const char* end_;
};

}  // namespace crema

namespace crema::json {

namespace ondemand = simdjson::ondemand;

/// What is wrong with a value, as the end of a sentence about its field; nullptr: nothing.
using Complaint = const char*;

/// What follows the value that was parsed; nullptr: the value is not plain, or at fault. Where the quick reader is goes
/// by value, so that it stays in a register.
using Remaining = const char*;

inline constexpr char kNotAnInteger[] = "is not an integer of 64 bits";
inline constexpr char kNegative[] = "is negative";
inline constexpr char kNotANumber[] = "is not a number";
inline constexpr char kNotAString[] = "is not a string";
inline constexpr char kNotABoolean[] = "is not true or false";
inline constexpr char kNotAList[] = "is not a list";
inline constexpr char kBadRow[] = "holds a row with a missing, mistyped or negative value";
inline constexpr char kNotJson[] = "is not JSON";

inline Complaint ReadValue(ondemand::value& value, int64_t& out) { return value.get(out) ? kNotAnInteger : nullptr; }
inline Complaint ReadValue(ondemand::value& value, uint64_t& out) { return value.get(out) ? kNotAnInteger : nullptr; }
// simdjson 3.0.1 misreads numbers of 20 digits and more: 0.69998253701971803956 comes out as 0.14658.
inline Complaint ReadValue(ondemand::value& value, double& out) {
  constexpr size_t kLongestTrusted = 19;
  const std::string_view token = value.raw_json_token();
  if (value.get_double().get(out)) return kNotANumber;
  if (token.size() > kLongestTrusted) std::from_chars(token.data(), token.data() + token.size(), out);
  return nullptr;
}
inline Complaint ReadValue(ondemand::value& value, bool& out) { return value.get(out) ? kNotABoolean : nullptr; }
inline Complaint ReadValue(ondemand::value& value, std::string_view& out) {
  return value.get(out) ? kNotAString : nullptr;
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
  if constexpr (!kMayBeNegative) return member < 0 ? kNegative : nullptr;  // an optional one has its value by now
  return nullptr;
}

template <bool kMayBeNegative, class T>
[[gnu::always_inline]] inline bool ParseValue(FastJsonReader& line, T& out) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return kMayBeNegative ? line.ParseInteger(out) : line.ParseCount(out);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return line.ParseUnsigned(out);
  } else if constexpr (std::is_same_v<T, double>) {
    return line.ParseReal(out) && (kMayBeNegative || out >= 0);
  } else if constexpr (std::is_same_v<T, bool>) {
    out = line.Match("true");
    return out || line.Match("false");
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return line.ParseText(out);
  } else {
    return ParseValue<kMayBeNegative>(line, out.emplace());
  }
}

template <bool kMayBeNegative, auto... kMembers, class Struct>
Remaining ParseMember(FastJsonReader line, Struct& out) {
  return line.RemainingIf(ParseValue<kMayBeNegative>(line, MemberOf<kMembers...>(out)));
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

/// One field of an object, for both readers: the one of any JSON, and the quick one (`FastJsonReader`).
template <class Struct>
struct Field {
  std::string_view key;
  bool required;
  Complaint (*read)(ondemand::value& value, Struct& out);
  Remaining (*parse)(FastJsonReader line, Struct& out);
  void (*clear)(Struct& out);  ///< as where the field is missing
};

/// Why an object was refused: the field at fault (empty: the text is no JSON) and what is wrong with it.
struct Refusal {
  std::string field;
  std::string complaint;
  explicit operator bool() const { return !complaint.empty(); }
};

inline constexpr bool kRequired = true;

/// A field of any type; a number may be negative. `kInside` is the path to a nested member.
template <auto kMember, auto... kInside>
constexpr Field<StructOf<kMember>> Any(std::string_view key, bool required = false) {
  return {key, required, &ReadMember<true, kMember, kInside...>, &ParseMember<true, kMember, kInside...>,
          &ClearMember<kMember, kInside...>};
}

/// A number that cannot be negative: a time, a duration, a size, a count.
template <auto kMember, auto... kInside>
constexpr Field<StructOf<kMember>> NotNegative(std::string_view key, bool required = false) {
  return {key, required, &ReadMember<false, kMember, kInside...>, &ParseMember<false, kMember, kInside...>,
          &ClearMember<kMember, kInside...>};
}

/// Several fields of any value, or of numbers that cannot be negative, called as their members.
template <auto... kMembers>
constexpr auto Fields() {
  return std::array{Any<kMembers>(NameOfMember<kMembers>())...};
}
template <auto... kMembers>
constexpr auto Counts() {
  return std::array{NotNegative<kMembers>(NameOfMember<kMembers>())...};
}
/// The same of members of a member.
template <auto kMember, auto... kInside>
constexpr auto FieldsIn() {
  return std::array{Any<kMember, kInside>(NameOfMember<kInside>())...};
}
template <auto kMember, auto... kInside>
constexpr auto CountsIn() {
  return std::array{NotNegative<kMember, kInside>(NameOfMember<kInside>())...};
}
template <auto kMember, auto... kInside>
constexpr auto CountsInList(MemberList<kInside...> /*list*/) {
  return CountsIn<kMember, kInside...>();
}

template <size_t kSize, class Struct>
constexpr auto Required(std::array<Field<Struct>, kSize> fields) {
  for (Field<Struct>& field : fields) field.required = true;
  return fields;
}

template <class Struct>
Remaining ParseNothing(FastJsonReader, Struct&) {
  return nullptr;
}
template <class Struct>
void ClearNothing(Struct&) {}

/// A field that is only found in lines which are left to the reader of any JSON.
template <class Struct>
constexpr Field<Struct> SlowPath(std::string_view key, Complaint (*read)(ondemand::value& value, Struct& out),
                                 void (*clear)(Struct& out) = &ClearNothing<Struct>) {
  return {key, false, read, &ParseNothing<Struct>, clear};
}

template <class Struct>
Complaint ReadNothing(ondemand::value&, Struct&) {
  return nullptr;
}
template <class Struct>
Remaining SkipPlain(FastJsonReader line, Struct&) {
  return line.RemainingIf(line.SkipValue());
}

/// Ignores the field; it is in a table to keep the order.
template <class Struct>
constexpr Field<Struct> Skip(std::string_view key) {
  return {key, false, &ReadNothing<Struct>, &SkipPlain<Struct>, &ClearNothing<Struct>};
}

template <auto kMember, class Struct>
Complaint ReadNotes(ondemand::value& value, Struct& out) {
  ondemand::object object;
  if (value.get_object().get(object)) return nullptr;
  std::string_view& notes = out.*kMember;
  if (object.raw_json().get(notes)) return nullptr;
  notes = notes.substr(0, notes.rfind('}') + 1);  // blanks that follow are not the object's
  if (notes == "{}") notes = {};
  return nullptr;
}
template <auto kMember, class Struct>
Remaining ParseNotes(FastJsonReader line, Struct& out) {
  const char* const begin = line.remaining();
  if (!line.SkipValue()) return nullptr;
  const bool has_any = *begin == '{' && line.remaining() - begin > 2;
  out.*kMember = has_any ? std::string_view(begin, static_cast<size_t>(line.remaining() - begin)) : std::string_view();
  return line.remaining();
}

/// An object of texts, kept as the line has it; empty where the value is not an object or has no member.
template <auto kMember>
constexpr Field<StructOf<kMember>> Notes(std::string_view key) {
  return {key, false, &ReadNotes<kMember>, &ParseNotes<kMember>, &ClearMember<kMember>};
}

template <const char* kName, class Struct>
Remaining ParseType(FastJsonReader line, Struct&) {
  std::string_view name;
  return line.RemainingIf(line.ParseText(name) && name == kName);
}

/// The line's type, which the quick reader finds out by it; the other one knows.
template <class Struct, const char* kName>
constexpr Field<Struct> Type() {
  return {"type", true, &ReadNothing<Struct>, &ParseType<kName, Struct>, &ClearNothing<Struct>};
}

/// Parses a list; `parse_item(line)` parses what is next in it.
template <class ParseItem>
Remaining ParseList(FastJsonReader line, const ParseItem& parse_item) {
  if (!line.Match("[")) return nullptr;
  line.SkipBlanks();
  if (line.Match("]")) return line.remaining();
  do {
    line.SkipBlanks();
    if (!line.GoTo(parse_item(line))) return nullptr;
    line.SkipBlanks();
  } while (line.Match(","));
  return line.RemainingIf(line.Match("]"));
}

template <auto kMember, class Struct>
Complaint ReadValues(ondemand::value& value, Struct& out) {
  using Item = typename std::decay_t<decltype(out.*kMember)>::value_type;
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  (out.*kMember).clear();
  for (auto element : array) {
    if (!element.get((out.*kMember).emplace_back())) continue;
    return std::is_same_v<Item, int64_t> ? "holds something that is not an integer"
                                         : "holds something that is not a string";
  }
  return nullptr;
}

template <auto kMember, class Struct>
Remaining ParseValues(FastJsonReader line, Struct& out) {
  (out.*kMember).clear();
  return ParseList(line, [&](FastJsonReader item) {
    return item.RemainingIf(ParseValue<true>(item, (out.*kMember).emplace_back()));
  });
}

/// A list of strings, or of integers of 64 bits; anything else in it is refused.
template <auto kMember>
constexpr Field<StructOf<kMember>> Values(std::string_view key) {
  return {key, false, &ReadValues<kMember>, &ParseValues<kMember>, &ClearMember<kMember>};
}

template <class Struct, size_t kFields>
Refusal ReadObject(ondemand::object object, const std::array<Field<Struct>, kFields>& fields, Struct& out) {
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
struct KeyPrefix {
  static constexpr size_t kSize = kTable[kAt].key.size() + 5;
  struct Text {
    char text[kSize] = {};
  };
  static constexpr Text Make() {
    Text prefix;
    size_t to = 0;
    prefix.text[to++] = kAt == 0 ? '{' : ',';
    prefix.text[to++] = '"';
    for (const char c : kTable[kAt].key) prefix.text[to++] = c;
    prefix.text[to++] = '"';
    prefix.text[to] = ':';
    return prefix;
  }
  static constexpr Text kText = Make();
};

/// Parses the field if it is next, written without blanks.
template <const auto& kTable, size_t kAt, class Struct>
[[gnu::always_inline]] inline bool ParseNext(FastJsonReader& line, Struct& out, uint64_t& seen) {
  constexpr Field<Struct> kField = kTable[kAt];
  if (!line.Match(KeyPrefix<kTable, kAt>::kText.text)) {
    kField.clear(out);
    return true;
  }
  seen |= uint64_t{1} << kAt;
  if (line.Next() != 'n') return line.GoTo(kField.parse(line, out));
  kField.clear(out);
  return !kField.required && line.Match("null");
}

/// Finds a key among those of a table.
class KeyIndex {
 public:
  template <class Struct, size_t kFields>
  explicit constexpr KeyIndex(const std::array<Field<Struct>, kFields>& fields) {
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

/// Remembers the text that preceded each field in the last object of a table, to match it with one comparison.
struct LastLayout {
  static constexpr size_t kBegin = 64;    // before an object's first field
  static constexpr size_t kRest = 65;     // before the first that is not in the table's order
  static constexpr size_t kUnknown = 66;  // a field that is not in the table

  struct Next {
    KnownText prefix;  ///< brace or comma, key and colon, with blanks
    uint8_t at = 0;    ///< the field's place in the table, or `kUnknown`
  };
  std::array<Next, 67> next = {};  ///< after the field at this place, or one of those above
};

template <const auto& kTable>
LastLayout& LastLayoutOf() {
  static thread_local LastLayout layout;
  return layout;
}

/// Parses what is before a field's value, and finds its place in the table, or `kUnknown`.
template <class Struct>
std::optional<size_t> ParseKey(FastJsonReader& line, const Field<Struct>* fields, const KeyIndex& keys, bool is_first) {
  if (!(is_first ? line.Match("{") : line.Match(","))) return std::nullopt;
  line.SkipBlanks();
  std::string_view key;
  if (!line.ParseText(key)) return std::nullopt;
  line.SkipBlanks();
  if (!line.Match(":")) return std::nullopt;
  line.SkipBlanks();
  return keys.Find(fields, key).value_or(LastLayout::kUnknown);
}

/// Parses an object, or the rest of one, in any order and with blanks: quickest where it is written as the last one
/// was. Skips unknown fields. Leaves an object in which a field comes twice to the reader of any JSON.
template <class Struct>
Remaining ParseRemaining(FastJsonReader line, const Field<Struct>* fields, const KeyIndex& keys, LastLayout& layout,
                         Struct& out, uint64_t& seen) {
  size_t before = seen == 0 ? LastLayout::kBegin : LastLayout::kRest;
  while (true) {
    LastLayout::Next& next = layout.next[before];
    if (line.Match(next.prefix)) {
      if (line.IsBlank()) line.SkipBlanks();
    } else {
      const char* const begin = line.remaining();
      line.SkipBlanks();
      const bool is_first = before == LastLayout::kBegin;
      if (!is_first && line.Match("}")) return line.remaining();
      const std::optional<size_t> at = ParseKey(line, fields, keys, is_first);
      if (!at.has_value()) return nullptr;
      const std::string_view prefix(begin, static_cast<size_t>(line.remaining() - begin));
      next.prefix = prefix.size() <= KnownText::kMost ? KnownText(prefix) : KnownText();
      next.at = static_cast<uint8_t>(*at);
    }
    before = next.at;
    if (before == LastLayout::kUnknown) {
      if (!line.SkipValue()) return nullptr;
      continue;
    }
    if ((seen >> before & 1) != 0) return nullptr;
    seen |= uint64_t{1} << before;
    const Field<Struct>& field = fields[before];
    if (line.Next() == 'n') {
      if (field.required || !line.Match("null")) return nullptr;
    } else if (!line.GoTo(field.parse(line, out))) {
      return nullptr;
    }
  }
}

template <const auto& kTable, class Struct, size_t... kAt>
Remaining ParseObject(FastJsonReader line, Struct& out, std::index_sequence<kAt...>) {
  static_assert(sizeof...(kAt) <= 64, "one bit each");
  constexpr uint64_t kNeeded = ((uint64_t{kTable[kAt].required} << kAt) | ...);
  uint64_t seen = 0;
  FastJsonReader first = line;
  const bool is_in_order = first.Match(KeyPrefix<kTable, 0>::kText.text) && !first.IsBlank();
  if (!is_in_order && line.Next() == '{') {
    (kTable[kAt].clear(out), ...);
  } else if (!(ParseNext<kTable, kAt>(line, out, seen) && ...)) {
    return nullptr;
  }
  if (line.Match("}")) return line.RemainingIf((seen & kNeeded) == kNeeded);
  uint64_t seen_at_all = seen;
  const auto rest = ParseRemaining(line, kTable.data(), kKeyIndex<kTable>, LastLayoutOf<kTable>(), out, seen_at_all);
  return (seen_at_all & kNeeded) == kNeeded ? rest : nullptr;
}

/// The quick reader of an object: in the table's order and without blanks it is quickest. nullptr: the reader of any
/// JSON is to read it; nothing is said about the object, and `out` holds nothing of use.
template <const auto& kTable, class Struct>
Remaining ParseObject(FastJsonReader line, Struct& out) {
  return ParseObject<kTable>(line, out, std::make_index_sequence<std::size(kTable)>());
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
Remaining ParseObjects(FastJsonReader line, Struct& out) {
  (out.*kMember).clear();
  return ParseList(line, [&](FastJsonReader item) { return ParseObject<kTable>(item, (out.*kMember).emplace_back()); });
}

/// A list of objects of one table.
template <auto kMember, const auto& kTable>
constexpr Field<StructOf<kMember>> Objects(std::string_view key) {
  return {key, false, &ReadObjects<kMember, kTable>, &ParseObjects<kMember, kTable>, &ClearMember<kMember>};
}

}  // namespace crema::json

namespace crema {
namespace internal {

/// How JSON has a member's value.
template <class Value>
struct InJson {
  using Type = Value;
};
template <class Value>
struct InJson<std::optional<Value>> : InJson<Value> {};
template <>
struct InJson<int> {
  using Type = int64_t;
};
template <>
struct InJson<std::string> {
  using Type = std::string_view;
};

}  // namespace internal

// Reading JSON without trusting its shape: what is absent, null or of another type is "not there".

/// As `nlohmann::ordered_json::parse`; discarded where it is not JSON. That one looks for each key among all keys of
/// its object, which takes too long where these are files or workers. Keys that come twice are kept twice.
nlohmann::ordered_json ParsedJson(std::string_view text);

/// The member of an object; a null value where `object` is not an object or has no such member.
const nlohmann::ordered_json& Field(const nlohmann::ordered_json& object, std::string_view key);

/// A member as a finite number; nullopt where it is anything else.
std::optional<double> NumberField(const nlohmann::ordered_json& object, std::string_view key);

/// A member as text; empty where it is anything else.
std::string TextField(const nlohmann::ordered_json& object, std::string_view key);

/// A member as a list; an empty list where it is anything else.
const nlohmann::ordered_json& ListField(const nlohmann::ordered_json& object, std::string_view key);

/// Sets `value` to that of a member: a number, a text, a list, an element or an optional one of these. False: it has no
/// such value, and `value` stays as it is.
template <class Value>
bool TakeField(const simdjson::dom::element& object, std::string_view key, Value* value) {
  typename internal::InJson<Value>::Type read{};
  if (object[key].get(read) != simdjson::SUCCESS) return false;
  *value = static_cast<Value>(read);
  return true;
}

/// As text, each level further in by so much; -1: in one line. What is not UTF-8, as a path may be, becomes U+FFFD.
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace crema
