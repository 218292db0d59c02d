// The values of a measurement's rows: a number, a text or a truth value, each of which may be null.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace crema {

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

}  // namespace crema
