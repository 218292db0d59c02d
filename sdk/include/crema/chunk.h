// Chunk: which part of the data a piece of work covers.
#ifndef CREMA_CHUNK_H_
#define CREMA_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "crema/internal/owned_text.h"

namespace crema {

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
