// Walks along a line of JSON that is written plainly: without escapes, and text in ASCII.
#ifndef CREMA_COLLECTOR_RECORDS_PLAIN_CURSOR_H_
#define CREMA_COLLECTOR_RECORDS_PLAIN_CURSOR_H_

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

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
  friend class PlainCursor;

  std::array<uint64_t, kMost / sizeof(uint64_t) + 1> words_ = {};  // zeros behind the text
  uint8_t length_ = 0;
};

/// Each `Take` moves past what it names and says true, or says false: then the line is not plain, which is no fault of
/// the line's, and the cursor is of no more use (but for `Take`, which did not move). What is taken is valid JSON, and
/// means what a JSON parser would say; what is valid but rare (escapes, text beyond ASCII, numbers of 20 digits)
/// is not plain.
///
/// The line is followed by 64 readable bytes; what they hold does not matter, as `AtEnd` tells a token that ran over.
class PlainCursor {
 public:
  explicit PlainCursor(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  template <size_t kSize>
  bool Take(const char (&literal)[kSize]) {
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
  bool Take(const KnownText& text) {
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
  bool TakeText(std::string_view& text) {
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
  [[gnu::always_inline]] bool TakeUnsigned(uint64_t& number) {
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
  [[gnu::always_inline]] bool TakeCount(int64_t& number) {
    uint64_t magnitude;
    if (!TakeUnsigned(magnitude) || magnitude > std::numeric_limits<int64_t>::max()) return false;
    number = static_cast<int64_t>(magnitude);
    return true;
  }

  bool TakeInteger(int64_t& number) {
    const bool negative = *at_ == '-';
    at_ += negative;
    if (!TakeCount(number)) return false;
    if (negative) number = -number;
    return true;
  }

  /// Any number; correctly rounded.
  bool TakeReal(double& number) {
    const char* const begin = at_;
    const bool negative = *at_ == '-';
    at_ += negative;
    uint64_t digits;
    const char* const first_digit = at_;
    if (!TakeUnsigned(digits)) return false;
    if (*at_ != '.' && *at_ != 'e' && *at_ != 'E' && digits < kExactIntegers) {
      number = negative ? -static_cast<double>(digits) : static_cast<double>(digits);
      return true;
    }
    ptrdiff_t length = at_ - first_digit;
    ptrdiff_t decimals = 0;
    if (*at_ == '.') {
      const char* const first_decimal = ++at_;
      for (; *at_ >= '0' && *at_ <= '9' && at_ < end_; ++at_) {
        digits = digits * 10 + static_cast<uint64_t>(*at_ - '0');
      }
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

  /// What nobody asks for: a text, a number, or an object of texts.
  bool SkipValue() {
    std::string_view text;
    double number;
    if (*at_ == '"') return TakeText(text);
    if (*at_ != '{') return TakeReal(number);
    ++at_;
    SkipBlanks();
    if (Take("}")) return true;
    do {
      SkipBlanks();
      if (!TakeText(text)) return false;
      SkipBlanks();
      if (!Take(":")) return false;
      SkipBlanks();
      if (!TakeText(text)) return false;
      SkipBlanks();
    } while (Take(","));
    return Take("}");
  }

  bool AtEnd() const { return at_ == end_; }
  const char* rest() const { return at_; }
  const char* RestIf(bool taken) const { return taken ? at_ : nullptr; }
  /// Goes on there; false if that is nowhere.
  bool GoTo(const char* rest) {
    at_ = rest;
    return rest != nullptr;
  }
  /// Where a token could begin; for those who look before they take.
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

  // `word`: text ^ kZeros. The high bit of each byte that is no digit; the first is marked rightly.
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

#endif  // CREMA_COLLECTOR_RECORDS_PLAIN_CURSOR_H_
