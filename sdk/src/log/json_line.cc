#include "log/json_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "log/secret_filter.h"
#include "storage/arena.h"

namespace crema::internal {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
/// Below it every integer is a double of its own.
constexpr double kExactIntegers = 9007199254740992;  // 2^53

/// What cannot be copied into a JSON string without a look: controls, quotes, and all that is not ASCII.
bool NeedsCare(unsigned char byte) { return byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\'; }

constexpr std::uint64_t Repeated(unsigned char byte) { return 0x0101010101010101u * byte; }

/// The highest bit of a byte that is 0; of bytes above such a one, too, so that only "is there one" can be asked.
constexpr std::uint64_t ZeroBytes(std::uint64_t bytes) { return (bytes - Repeated(1)) & ~bytes & Repeated(0x80); }

/// Whether 8 bytes can be copied as they are: NeedsCare() of all at once, and slashes where they need it.
bool ArePlain(const char* text, bool escape_slash) {
  std::uint64_t bytes;
  std::memcpy(&bytes, text, sizeof(bytes));
  std::uint64_t care = (bytes - Repeated(0x20)) | bytes | (bytes + Repeated(1));  // below 0x20; not ASCII; 0x7f
  care = (care & Repeated(0x80)) | ZeroBytes(bytes ^ Repeated('"')) | ZeroBytes(bytes ^ Repeated('\\'));
  if (escape_slash) care |= ZeroBytes(bytes ^ Repeated('/'));
  return care == 0;
}

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

std::string_view CutLongText(std::string_view text, std::size_t bytes) noexcept {
  std::size_t end = bytes;
  // A code point has at most 3 continuation bytes; without a leading byte before them the text is no UTF-8 anyway.
  for (int i = 0; i < 3 && end > 0 && IsContinuation(static_cast<unsigned char>(text[end])); ++i) --end;
  if (IsContinuation(static_cast<unsigned char>(text[end]))) end = bytes;
  return text.substr(0, end);
}

bool IsPlain(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return NeedsCare(static_cast<unsigned char>(c)) || c == '/'; });
}

JsonLine::~JsonLine() { std::free(data_); }

void JsonLine::TakeSecretsOut(std::size_t begin) noexcept {
  if (begin < size_) size_ = begin + internal::TakeSecretsOut(data_ + begin, size_ - begin);
}

void JsonLine::TakeSecretsOutOfText(std::size_t begin) noexcept {
  if (begin < size_) size_ = begin + internal::TakeSecretsOutOfText(data_ + begin, size_ - begin);
}

void JsonLine::Clear() noexcept {
  size_ = 0;
  broken_ = false;
}

char* JsonLine::Grow(std::size_t more) noexcept {
  if (broken_) return nullptr;
  if (size_ + more > capacity_) {
    const std::size_t capacity = std::max({size_ + more, 2 * capacity_, std::size_t{4096}});
    const SdkAllocationScope scope;
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
  char* to = Room(json.size());
  if (to == nullptr) return;
  std::memcpy(to, json.data(), json.size());
  size_ += json.size();
}

char* JsonLine::PutInteger(char* to, std::int64_t value) noexcept {
  return std::to_chars(to, to + kLongestNumber, value).ptr;
}

char* JsonLine::PutUnsigned(char* to, std::uint64_t value) noexcept {
  return std::to_chars(to, to + kLongestNumber, value).ptr;
}

void JsonLine::Integer(std::int64_t value) noexcept {
  if (char* to = Room(kLongestNumber)) size_ = static_cast<std::size_t>(PutInteger(to, value) - data_);
}

void JsonLine::Unsigned(std::uint64_t value) noexcept {
  if (char* to = Room(kLongestNumber)) size_ = static_cast<std::size_t>(PutUnsigned(to, value) - data_);
}

void JsonLine::Number(double value) noexcept {
  if (!std::isfinite(value)) return Raw("null");
  // Counts are the usual case, and cost a tenth as integers. -0 is one that is not.
  if (std::fabs(value) < kExactIntegers && value == std::trunc(value) && !std::signbit(value))
    return Integer(static_cast<std::int64_t>(value));
  char* to = Room(kLongestNumber);
  if (to == nullptr) return;
  size_ += static_cast<std::size_t>(std::to_chars(to, to + kLongestNumber, value).ptr - to);
}

void JsonLine::Key(std::string_view key) noexcept {
  Raw(",\"");
  Raw(key);
  Raw("\":");
}

void JsonLine::StringPart(std::string_view text, bool escape_slash) noexcept {
  static constexpr char kHex[] = "0123456789abcdef";
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t plain = i;
    while (plain + 8 <= text.size() && ArePlain(text.data() + plain, escape_slash)) plain += 8;
    while (plain < text.size()) {
      if (const auto c = static_cast<unsigned char>(text[plain]); NeedsCare(c) || (escape_slash && c == '/')) break;
      ++plain;
    }
    Raw(text.substr(i, plain - i));
    i = plain;
    if (i == text.size()) return;
    if (const auto c = static_cast<unsigned char>(text[i]); c == '"' || c == '\\') {
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

}  // namespace crema::internal
