// Small files of the kernel, read without stdio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/own_memory.h"

namespace crema {
namespace internal {

/// Reads up to `capacity - 1` bytes of the file and ends them with NUL. Returns their number, or -1.
long ReadWholeFile(const char* path, char* buffer, std::size_t capacity) noexcept;

/// What `ReadWholeFile` reads, on the heap: the stack of a thread of the program may be small.
class FileText {
 public:
  FileText(const char* path, std::size_t capacity) noexcept : text_(MakeOwnArray<char>(capacity)) {
    if (has_memory()) size_ = ReadWholeFile(path, text_.get(), capacity);
  }
  bool has_memory() const noexcept { return text_ != nullptr; }
  /// Empty where it cannot be read.
  std::string_view view() const noexcept { return {text_.get(), size_ > 0 ? static_cast<std::size_t>(size_) : 0}; }

 private:
  const OwnArray<char> text_;
  long size_ = -1;
};

/// The unsigned integer that `text` begins with after blanks; nullopt where there is none.
std::optional<std::int64_t> LeadingInteger(std::string_view text) noexcept;

/// The integer after `key` at the start of a line, as in `/proc/self/io` (`read_bytes: 4096`).
std::optional<std::int64_t> IntegerAfter(std::string_view text, std::string_view key) noexcept;

}  // namespace internal
}  // namespace crema
