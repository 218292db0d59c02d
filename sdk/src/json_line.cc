#include "json_line.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace crema {
namespace internal {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::size_t kLongestNumber = 32;

bool IsContinuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/// Length of the well-formed UTF-8 sequence that `text` begins with (Unicode 15, table 3-7), 0 if it is none.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  const auto continues = [&](std::size_t i) { return IsContinuation(static_cast<unsigned char>(byte(i))); };
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : 0xbf;  // no surrogates
    return second >= low && second <= high && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string_view CutOnCodePoint(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  // A code point has at most 3 continuation bytes; without a leading byte before them the text is no UTF-8 anyway.
  for (int i = 0; i < 3 && end > 0 && IsContinuation(static_cast<unsigned char>(text[end])); ++i) --end;
  if (IsContinuation(static_cast<unsigned char>(text[end]))) end = bytes;
  return text.substr(0, end);
}

JsonLine::~JsonLine() { std::free(data_); }

void JsonLine::Clear() noexcept {
  size_ = 0;
  broken_ = false;
}

char* JsonLine::Grow(std::size_t more) noexcept {
  if (broken_) return nullptr;
  if (size_ + more > capacity_) {
    const std::size_t wanted = size_ + more > 2 * capacity_ ? size_ + more : 2 * capacity_;
    const std::size_t capacity = wanted < 4096 ? 4096 : wanted;
    char* data = static_cast<char*>(std::realloc(data_, capacity));
    if (data == nullptr) {
      broken_ = true;
      return nullptr;
    }
    data_ = data;
    capacity_ = capacity;
  }
  return data_ + size_;
}

void JsonLine::Raw(std::string_view json) noexcept {
  if (json.empty()) return;
  char* to = Grow(json.size());
  if (to == nullptr) return;
  std::memcpy(to, json.data(), json.size());
  size_ += json.size();
}

void JsonLine::Integer(std::int64_t value) noexcept {
  char* to = Grow(kLongestNumber);
  if (to == nullptr) return;
  size_ += static_cast<std::size_t>(std::to_chars(to, to + kLongestNumber, value).ptr - to);
}

void JsonLine::Unsigned(std::uint64_t value) noexcept {
  char* to = Grow(kLongestNumber);
  if (to == nullptr) return;
  size_ += static_cast<std::size_t>(std::to_chars(to, to + kLongestNumber, value).ptr - to);
}

void JsonLine::Number(double value) noexcept {
  if (!std::isfinite(value)) {
    Raw("null");
    return;
  }
  char* to = Grow(kLongestNumber);
  if (to == nullptr) return;
  size_ += static_cast<std::size_t>(std::to_chars(to, to + kLongestNumber, value).ptr - to);
}

void JsonLine::StringPart(std::string_view text, bool escape_slash) noexcept {
  static constexpr char kHex[] = "0123456789abcdef";
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t plain = i;
    while (plain < text.size()) {
      const auto c = static_cast<unsigned char>(text[plain]);
      if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || (escape_slash && c == '/')) break;
      ++plain;
    }
    Raw(text.substr(i, plain - i));
    i = plain;
    if (i == text.size()) return;
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      const char escaped[2] = {'\\', text[i]};
      Raw({escaped, 2});
      ++i;
    } else if (c == '/') {
      Raw("%2F");
      ++i;
    } else if (c < 0x20 || c == 0x7f) {
      const char escaped[6] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
      Raw({escaped, 6});
      ++i;
    } else {
      const std::size_t length = SequenceLength(text.substr(i));
      Raw(length == 0 ? kReplacement : text.substr(i, length));
      i += length == 0 ? 1 : length;
    }
  }
}

void JsonLine::String(std::string_view text) noexcept {
  Raw("\"");
  StringPart(text, false);
  Raw("\"");
}

void JsonLine::Key(std::string_view key) noexcept {
  Raw(",\"");
  Raw(key);
  Raw("\":");
}

void JsonLine::Field(std::string_view key, std::int64_t value) noexcept {
  Key(key);
  Integer(value);
}

void JsonLine::Field(std::string_view key, std::optional<std::int64_t> value) noexcept {
  Key(key);
  if (value.has_value()) {
    Integer(*value);
  } else {
    Raw("null");
  }
}

void JsonLine::FieldUnsigned(std::string_view key, std::uint64_t value) noexcept {
  Key(key);
  Unsigned(value);
}

void JsonLine::FieldNumber(std::string_view key, std::optional<double> value) noexcept {
  Key(key);
  if (value.has_value()) {
    Number(*value);
  } else {
    Raw("null");
  }
}

void JsonLine::FieldText(std::string_view key, std::string_view text) noexcept {
  Key(key);
  if (text.empty()) {
    Raw("null");
  } else {
    String(text);
  }
}

}  // namespace internal
}  // namespace crema
