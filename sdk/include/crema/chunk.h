// Chunk: which part of the data a piece of work covers.
#ifndef CREMA_CHUNK_H_
#define CREMA_CHUNK_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "crema/internal/platform.h"  // IWYU pragma: keep: says what is needed before C++17

namespace crema {
namespace internal {

/// As malloc(3), for memory that is not the program's.
#ifdef CREMA_COMPILED_OUT  // there is no library then, and nobody counts
inline void* AllocateOwn(std::size_t bytes) noexcept { return std::malloc(bytes); }
#else
void* AllocateOwn(std::size_t bytes) noexcept;
#endif

/// A copy of a text, short ones in place. Reads as a `std::string_view`. Never throws, calls no `new` of the host's and
/// leaves `errno` alone: where memory is refused it is empty, and `is_lost()`.
class OwnedText {
 public:
  OwnedText() noexcept = default;
  OwnedText(std::string_view text) noexcept { Assign(text); }  // NOLINT(google-explicit-constructor)
  OwnedText(const std::string& text) noexcept : OwnedText(std::string_view(text)) {}  // NOLINT: as above
  OwnedText(const char* text) noexcept                                                // NOLINT: as above
      : OwnedText(text == nullptr ? std::string_view() : std::string_view(text)) {}
  OwnedText(const OwnedText& other) noexcept { Assign(other); }
  OwnedText(OwnedText&& other) noexcept { Take(other); }
  OwnedText& operator=(const OwnedText& other) noexcept {
    if (this == &other) return *this;
    Free();
    Assign(other);
    return *this;
  }
  OwnedText& operator=(OwnedText&& other) noexcept {
    if (this == &other) return *this;
    Free();
    Take(other);
    return *this;
  }
  ~OwnedText() { Free(); }

  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)
  std::string_view view() const noexcept { return {data(), size_}; }
  const char* data() const noexcept { return memory_ != nullptr ? memory_ : in_place_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool is_lost() const noexcept { return is_lost_; }
  friend bool operator==(const OwnedText& text, std::string_view other) noexcept { return text.view() == other; }
  friend bool operator!=(const OwnedText& text, std::string_view other) noexcept { return !(text == other); }
  template <typename Stream>
  friend Stream& operator<<(Stream& stream, const OwnedText& text) {
    stream << text.view();
    return stream;
  }

 private:
  void Assign(std::string_view text) noexcept {
    if (text.size() > sizeof in_place_) {
      const int host_errno = errno;
      memory_ = static_cast<char*>(AllocateOwn(text.size()));
      is_lost_ = memory_ == nullptr;
      if (is_lost_) {
        errno = host_errno;
        return;
      }
    }
    size_ = text.size();
    if (size_ > 0) std::memcpy(memory_ != nullptr ? memory_ : in_place_, text.data(), size_);
  }
  void Take(OwnedText& other) noexcept {
    memory_ = std::exchange(other.memory_, nullptr);
    size_ = std::exchange(other.size_, 0);
    is_lost_ = other.is_lost_;
    if (memory_ == nullptr) std::memcpy(in_place_, other.in_place_, size_);
  }
  void Free() noexcept {
    if (memory_ != nullptr) std::free(memory_);  // hardly ever: not worth a call
    memory_ = nullptr;
    size_ = 0;
    is_lost_ = false;
  }

  char* memory_ = nullptr;
  std::size_t size_ = 0;
  bool is_lost_ = false;
  char in_place_[39];
};

}  // namespace internal

/// Names a chunk: with a file and an entry range, the same chunk is recognised when it is tried again. Text is
/// copied. Unknown parts stay unset.
///
///     crema::Chunk chunk("ttbar", path, first, last);
///     chunk.tree = "Events";
struct Chunk {  // NOLINT(readability-identifier-naming): of the loop that copies the attributes
  Chunk() = default;
  Chunk(const char* dataset_name) noexcept  // NOLINT(google-explicit-constructor): TrackMetrics("ttbar") is enough
      : dataset(dataset_name) {}
  Chunk(std::string_view dataset_name) noexcept : dataset(dataset_name) {}    // NOLINT(google-explicit-constructor)
  Chunk(const std::string& dataset_name) noexcept : dataset(dataset_name) {}  // NOLINT(google-explicit-constructor)

  /// Entries [first, last) of a file. Takes any two integral types.
  template <class First, class Last,
            class = std::enable_if_t<std::is_integral<First>::value && std::is_integral<Last>::value>>
  Chunk(std::string_view dataset_name, std::string_view file_name, First first, Last last) noexcept
      : dataset(dataset_name),
        file(file_name),
        entry_start(static_cast<std::int64_t>(first)),
        entry_stop(static_cast<std::int64_t>(last)) {}
  /// A whole file.
  Chunk(std::string_view dataset_name, std::string_view file_name) noexcept : dataset(dataset_name), file(file_name) {}

  internal::OwnedText dataset;
  internal::OwnedText file;
  internal::OwnedText tree;                 ///< the tree or table inside the file
  internal::OwnedText pass;                 ///< default: CREMA_PASS, else the path of the open span
  std::optional<std::int64_t> entry_start;  ///< first entry
  std::optional<std::int64_t> entry_stop;   ///< one past the last entry

  /// A note of the user's, at most 8 a chunk; more are counted as dropped.
  struct Attribute {
    internal::OwnedText name;
    internal::OwnedText value;
  };
  static constexpr std::size_t kMaxAttributes = 8;
  Attribute attributes[kMaxAttributes];
  std::size_t attribute_count = 0;
  Chunk& AddAttribute(std::string_view name, std::string_view value) noexcept {
    if (attribute_count < kMaxAttributes) {
      attributes[attribute_count].name = name;
      attributes[attribute_count].value = value;
    }
    ++attribute_count;
    return *this;
  }
};

}  // namespace crema

#endif  // CREMA_CHUNK_H_
