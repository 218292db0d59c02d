// Small files of the kernel, read without stdio and without allocation.
#ifndef CREMA_SRC_PROC_FILE_H_
#define CREMA_SRC_PROC_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace crema {
namespace internal {

/// Reads up to `capacity - 1` bytes of the file and ends them with NUL. Returns their number, or -1.
long ReadWholeFile(const char* path, char* buffer, std::size_t capacity) noexcept;

/// The unsigned integer that `text` begins with after blanks; nullopt where there is none.
std::optional<std::int64_t> LeadingInteger(std::string_view text) noexcept;

/// The integer after `key` at the start of a line, as in `/proc/self/io` (`read_bytes: 4096`).
std::optional<std::int64_t> IntegerAfter(std::string_view text, std::string_view key) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_PROC_FILE_H_
