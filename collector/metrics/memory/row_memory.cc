#include "collector/metrics/memory/row_memory.h"

#include <algorithm>

#include "collector/metrics/memory/large_pages.h"

namespace crema {
namespace {

// A run of few rows takes little; of many, each piece is a large page, of which the last is half empty on average.
constexpr size_t kLeastBytes = size_t{64} << 10;

std::shared_ptr<uint8_t> Allocate(size_t bytes, RowSpill* spill) {
  void* file = spill == nullptr ? nullptr : spill->Map(bytes);
  uint8_t* memory = file == nullptr ? LargePageAllocator<uint8_t>().allocate(bytes) : static_cast<uint8_t*>(file);
  return std::shared_ptr<uint8_t>(memory, [bytes, spill](uint8_t* freed) {
    if (spill == nullptr || !spill->Unmap(freed, bytes)) LargePageAllocator<uint8_t>().deallocate(freed, bytes);
  });
}

}  // namespace

std::shared_ptr<uint8_t> RowMemory::Take(size_t bytes) {
  if (current_ == nullptr || bytes > size_ - used_) {
    size_ = std::max(bytes, std::clamp(8 * size_, kLeastBytes, kLargePageBytes));
    current_ = Allocate(size_, spill_);
    used_ = 0;
  }
  std::shared_ptr<uint8_t> taken(current_, current_.get() + used_);
  used_ += bytes;
  return taken;
}

}  // namespace crema
