// Arena: memory that is given out piece by piece and taken back all at once.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>
#include <type_traits>

#include "storage/sdk_allocation_scope.h"

namespace crema {
namespace internal {

/// Blocks are kept over `Clear`, so that a thread in its steady state allocates nothing. Refused memory is a nullptr,
/// never an exception.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Aligned for any type; nullptr when memory is refused.
  void* Allocate(std::size_t bytes) noexcept;
  /// Makes `*copy` a copy that lives until `Clear`; false when memory is refused.
  bool Copy(std::string_view text, std::string_view* copy) noexcept;
  /// Takes everything back.
  void Clear() noexcept;

 private:
  struct Block;
  Block* first_ = nullptr;
  Block* current_ = nullptr;
  std::size_t used_ = 0;
};

/// A growing array of plain data with the same contract.
template <class Row>
class RowTable {
 public:
  RowTable() = default;
  ~RowTable() { std::free(rows_); }
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  /// A new row at the end, value-initialised; nullptr when memory is refused.
  Row* Add() noexcept;
  void Clear() noexcept { size_ = 0; }
  /// Takes rows away from the end.
  void CutTo(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }
  std::size_t size() const noexcept { return size_; }
  Row& operator[](std::size_t i) noexcept { return rows_[i]; }
  Row* begin() noexcept { return rows_; }
  Row* end() noexcept { return rows_ + size_; }

 private:
  Row* rows_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

template <class Row>
Row* RowTable<Row>::Add() noexcept {
  static_assert(std::is_trivially_copyable<Row>::value, "rows are moved by realloc");
  if (size_ == capacity_) {
    const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    const SdkAllocationScope scope;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a row may be a pointer
    void* rows = std::realloc(static_cast<void*>(rows_), capacity * sizeof(Row));
    if (rows == nullptr) return nullptr;
    rows_ = static_cast<Row*>(rows);
    capacity_ = capacity;
  }
  return new (static_cast<void*>(rows_ + size_++)) Row();
}

}  // namespace internal
}  // namespace crema
