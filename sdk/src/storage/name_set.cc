#include "storage/name_set.h"

#include <cstring>
#include <functional>

namespace crema {
namespace internal {

std::uint32_t* NameSet::Slot(std::string_view name) noexcept {
  const std::size_t mask = slots_.size() - 1;  // a power of two
  for (std::size_t i = std::hash<std::string_view>()(name) & mask;; i = (i + 1) & mask) {
    if (slots_[i] == 0 || names_[slots_[i] - 1] == name) return &slots_[i];
  }
}

bool NameSet::Grow() noexcept {
  const std::size_t before = slots_.size();
  const std::size_t size = before == 0 ? 64 : 2 * before;
  while (slots_.size() < size) {
    if (slots_.Add() == nullptr) {
      slots_.CutTo(before);
      return false;
    }
  }
  std::memset(slots_.begin(), 0, slots_.size() * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < names_.size(); ++i) *Slot(names_[i]) = static_cast<std::uint32_t>(i + 1);
  return true;
}

bool NameSet::Contains(std::string_view name) noexcept { return slots_.size() != 0 && *Slot(name) != 0; }

bool NameSet::Add(std::string_view name, Arena* texts) noexcept {
  if (Contains(name)) return true;
  if (names_.size() >= kMost) return false;
  if (2 * (names_.size() + 1) > slots_.size() && !Grow()) return false;
  std::string_view* row = names_.Add();
  if (row == nullptr) return false;
  if (!texts->Copy(name, row)) {
    names_.CutTo(names_.size() - 1);
    return false;
  }
  *Slot(name) = static_cast<std::uint32_t>(names_.size());
  return true;
}

void NameSet::Clear() noexcept {
  if (names_.size() != 0) std::memset(slots_.begin(), 0, slots_.size() * sizeof(std::uint32_t));
  names_.Clear();
}

}  // namespace internal
}  // namespace crema
