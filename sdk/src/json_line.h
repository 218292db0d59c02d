// JsonLine: one line of the record log, built in a buffer that is kept for the next one.
#ifndef CREMA_SRC_JSON_LINE_H_
#define CREMA_SRC_JSON_LINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace crema {
namespace internal {

/// Longest texts kept, in bytes; longer ones are cut on a code point.
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxPathBytes = 4096;  // of files: PATH_MAX
inline constexpr std::size_t kMaxErrorBytes = 1024;
/// Longest line; readers may refuse longer ones.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

/// `text` cut to at most `bytes` bytes, not inside a UTF-8 code point.
std::string_view CutOnCodePoint(std::string_view text, std::size_t bytes) noexcept;

/// Appends JSON without checking its structure: the caller says what follows what. Grows by realloc(3) and never
/// shrinks, so that a thread in its steady state allocates nothing; where memory is refused the line is `broken`.
class JsonLine {
 public:
  JsonLine() = default;
  ~JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  void Clear() noexcept;
  std::string_view text() const noexcept { return {data_, size_}; }
  std::size_t size() const noexcept { return size_; }
  bool broken() const noexcept { return broken_; }

  void Raw(std::string_view json) noexcept;
  void Integer(std::int64_t value) noexcept;
  void Unsigned(std::uint64_t value) noexcept;
  /// Shortest form that reads back as the same value; null for what JSON cannot say.
  void Number(double value) noexcept;
  /// A JSON string: escaped, invalid UTF-8 replaced by U+FFFD.
  void String(std::string_view text) noexcept;
  /// The inside of a JSON string, as `String` without the quotes. With `escape_slash`, `/` becomes `%2F`.
  void StringPart(std::string_view text, bool escape_slash) noexcept;

  // `,"key":value`; the key must need no escaping.
  void Field(std::string_view key, std::int64_t value) noexcept;
  void Field(std::string_view key, std::optional<std::int64_t> value) noexcept;
  void FieldUnsigned(std::string_view key, std::uint64_t value) noexcept;
  void FieldNumber(std::string_view key, std::optional<double> value) noexcept;
  /// Null when `text` is empty.
  void FieldText(std::string_view key, std::string_view text) noexcept;
  void Key(std::string_view key) noexcept;

 private:
  char* Grow(std::size_t more) noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool broken_ = false;
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_JSON_LINE_H_
