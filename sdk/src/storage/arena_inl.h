// RowTable's bodies.
#ifndef CREMA_SRC_STORAGE_ARENA_INL_H_
#define CREMA_SRC_STORAGE_ARENA_INL_H_

#include <cstdlib>
#include <new>
#include <type_traits>

#include "storage/sdk_allocation_scope.h"

namespace crema {
namespace internal {

template <class Row>
RowTable<Row>::~RowTable() {
  std::free(rows_);
}

template <class Row>
Row* RowTable<Row>::Add() noexcept {
  static_assert(std::is_trivially_copyable<Row>::value, "rows are moved by realloc");
  if (size_ == capacity_) {
    const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    const SdkAllocationScope scope;
    void* rows = std::realloc(static_cast<void*>(rows_), capacity * sizeof(Row));
    if (rows == nullptr) return nullptr;
    rows_ = static_cast<Row*>(rows);
    capacity_ = capacity;
  }
  return new (static_cast<void*>(rows_ + size_++)) Row();
}

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_STORAGE_ARENA_INL_H_
