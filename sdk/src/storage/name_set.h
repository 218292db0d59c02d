// NameSet: texts, each once, in the order they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "storage/arena.h"

namespace crema {
namespace internal {

/// Keeps its memory over `Clear`. The texts live in an arena of the caller's.
class NameSet {
 public:
  static constexpr std::size_t kMost = 10000;

  /// True if the name is in the set afterwards; false beyond `kMost`, or when memory is refused.
  bool Add(std::string_view name, Arena* texts) noexcept;
  bool Contains(std::string_view name) noexcept;
  void Clear() noexcept;
  bool empty() const noexcept { return names_.size() == 0; }
  const std::string_view* begin() noexcept { return names_.begin(); }
  const std::string_view* end() noexcept { return names_.end(); }

 private:
  std::uint32_t* Slot(std::string_view name) noexcept;
  bool Grow() noexcept;

  RowTable<std::string_view> names_;
  RowTable<std::uint32_t> slots_;  ///< open addressing: index + 1 into `names_`; 0: free
};

}  // namespace internal
}  // namespace crema
