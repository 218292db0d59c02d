// JsonLine: one line of the record log, built in a buffer that is kept for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "crema/internal/platform.h"

namespace crema::internal {

/// Longest texts kept, in bytes; longer ones are cut on a code point.
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxPathBytes = 4096;  // of files: PATH_MAX
inline constexpr std::size_t kMaxErrorBytes = 1024;
/// Longest line; readers may refuse longer ones.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

/// The first `bytes` bytes of a longer text, or a few fewer: not inside a UTF-8 code point.
std::string_view CutLongText(std::string_view text, std::size_t bytes) noexcept;
/// `text` cut to at most `bytes` bytes.
inline std::string_view CutOnCodePoint(std::string_view text, std::size_t bytes) noexcept {
  return CREMA_LIKELY(text.size() <= bytes) ? text : CutLongText(text, bytes);
}

/// nullopt for what is negative.
inline std::optional<std::int64_t> Known(std::int64_t value) noexcept {
  return value < 0 ? std::nullopt : std::optional<std::int64_t>(value);
}

/// Whether `text` is inside a JSON string, and as a part of a path, as it is.
bool IsPlain(std::string_view text) noexcept;

/// Appends JSON without checking its structure: the caller says what follows what. Grows by realloc(3) and never
/// shrinks, so that a thread in its steady state allocates nothing; where memory is refused the line is `broken`.
class JsonLine {
 public:
  JsonLine() = default;
  ~JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  void Clear() noexcept;
  /// Room for a line of so many bytes, now and after each `Clear`; false when memory is refused.
  bool Reserve(std::size_t bytes) noexcept { return Room(bytes) != nullptr; }
  /// Marks the line as one not to be written: a part of it could not be made.
  void Break() noexcept { broken_ = true; }
  std::string_view text() const noexcept { return {data_, size_}; }
  std::size_t size() const noexcept { return size_; }
  /// Takes away what was written since it had so many bytes.
  void CutTo(std::size_t size) noexcept { size_ = size; }
  /// Takes them out of the addresses in what was written from `begin` on.
  void TakeSecretsOut(std::size_t begin) noexcept;
  /// The same, and out of the text of an error.
  void TakeSecretsOutOfText(std::size_t begin) noexcept;
  bool broken() const noexcept { return broken_; }
  bool EndsWith(char last) const noexcept { return size_ != 0 && data_[size_ - 1] == last; }

  void Raw(std::string_view json) noexcept;
  /// A literal: its length is known where it is compiled, so that it costs some moves.
  template <std::size_t kSize>
  CREMA_ALWAYS_INLINE void Raw(const char (&json)[kSize]) noexcept {
    if (char* to = Room(kSize - 1)) size_ = static_cast<std::size_t>(Put(to, json) - data_);
  }
  void Integer(std::int64_t value) noexcept;
  void Unsigned(std::uint64_t value) noexcept;
  /// Shortest form that reads back as the same value; null for what JSON cannot say.
  void Number(double value) noexcept;
  /// A JSON string: escaped, invalid UTF-8 replaced by U+FFFD.
  void String(std::string_view text) noexcept;
  /// The inside of a JSON string, as `String` without the quotes. With `escape_slash`, `/` becomes `%2F`.
  void StringPart(std::string_view text, bool escape_slash) noexcept;

  // `,"key":value`; the key is a literal that needs no escaping.
  template <std::size_t kSize>
  CREMA_ALWAYS_INLINE void Key(const char (&key)[kSize]) noexcept {
    if (char* to = Room(kSize + kAroundKey)) size_ = static_cast<std::size_t>(PutKey(to, key) - data_);
  }
  void Key(std::string_view key) noexcept;
  template <std::size_t kSize>
  CREMA_ALWAYS_INLINE void Field(const char (&key)[kSize], std::int64_t value) noexcept {
    char* to = Room(kSize + kAroundKey + kLongestNumber);
    if (to != nullptr) size_ = static_cast<std::size_t>(PutInteger(PutKey(to, key), value) - data_);
  }
  template <std::size_t kSize>
  CREMA_ALWAYS_INLINE void Field(const char (&key)[kSize], std::optional<std::int64_t> value) noexcept {
    if (value.has_value()) {
      Field(key, *value);
    } else {
      Key(key);
      Raw("null");
    }
  }
  template <std::size_t kSize>
  CREMA_ALWAYS_INLINE void FieldUnsigned(const char (&key)[kSize], std::uint64_t value) noexcept {
    char* to = Room(kSize + kAroundKey + kLongestNumber);
    if (to != nullptr) size_ = static_cast<std::size_t>(PutUnsigned(PutKey(to, key), value) - data_);
  }
  template <std::size_t kSize>
  void FieldNumber(const char (&key)[kSize], std::optional<double> value) noexcept {
    Key(key);
    if (value.has_value()) {
      Number(*value);
    } else {
      Raw("null");
    }
  }
  /// Null when `text` is empty.
  template <std::size_t kSize>
  void FieldText(const char (&key)[kSize], std::string_view text) noexcept {
    Key(key);
    if (text.empty()) {
      Raw("null");
    } else {
      String(text);
    }
  }

 private:
  static constexpr std::size_t kLongestNumber = 32;
  static constexpr std::size_t kAroundKey = 4;  // ,"":

  /// Where the next `bytes` go; nullptr when memory is refused.
  CREMA_ALWAYS_INLINE char* Room(std::size_t bytes) noexcept {
    return CREMA_LIKELY(size_ + bytes <= capacity_) ? data_ + size_ : Grow(bytes);
  }
  char* Grow(std::size_t more) noexcept;

  // Each returns where it ended.
  template <std::size_t kSize>
  CREMA_ALWAYS_INLINE static char* Put(char* to, const char (&literal)[kSize]) noexcept {
    std::memcpy(to, literal, kSize - 1);
    return to + (kSize - 1);
  }
  template <std::size_t kSize>
  CREMA_ALWAYS_INLINE static char* PutKey(char* to, const char (&key)[kSize]) noexcept {
    return Put(Put(Put(to, ",\""), key), "\":");
  }
  static char* PutInteger(char* to, std::int64_t value) noexcept;
  static char* PutUnsigned(char* to, std::uint64_t value) noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool broken_ = false;
};

}  // namespace crema::internal
