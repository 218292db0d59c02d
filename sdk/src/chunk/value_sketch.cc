#include "chunk/value_sketch.h"

#include <algorithm>
#include <cstring>

namespace crema {
namespace internal {
namespace {

constexpr std::uint32_t kFirstSlots = 16;

}  // namespace

std::uint64_t* ValueSketch::SlotOf(std::uint64_t bucket) const noexcept {
  const std::uint32_t mask = capacity_ - 1;
  std::uint32_t at = FirstPlace(bucket);
  while (slots_[at] != 0 && slots_[at] >> kCountBits != bucket) at = (at + 1) & mask;
  return &slots_[at];
}

void ValueSketch::MoveTo(std::uint64_t* slots, std::uint32_t capacity, int bits) noexcept {
  std::uint64_t before[kMostBuckets];
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (slots_[i] != 0) before[count++] = slots_[i];
  }
  std::memset(slots, 0, capacity * sizeof slots[0]);
  slots_ = slots;
  capacity_ = capacity;
  used_ = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t bucket = Coarser(before[i] >> kCountBits, bits);
    std::uint64_t* const slot = SlotOf(bucket);
    if (*slot == 0) {
      *slot = bucket << kCountBits;
      ++used_;
    }
    *slot += before[i] & kCounts;
  }
  shift_ = static_cast<std::uint16_t>(shift_ + bits);
}

bool ValueSketch::MakeRoom(Arena* arena, std::size_t* room) noexcept {
  const std::uint32_t capacity = capacity_ == 0 ? kFirstSlots : 2 * capacity_;
  const std::size_t bytes = capacity * sizeof(std::uint64_t);
  void* const slots = capacity <= kSlots && bytes <= *room ? arena->Allocate(bytes) : nullptr;
  if (slots != nullptr) {
    *room -= bytes;
    MoveTo(static_cast<std::uint64_t*>(slots), capacity, 0);
    return true;
  }
  if (capacity_ == 0) return false;
  while (2 * (std::size_t{used_} + 1) > capacity_) MoveTo(slots_, capacity_, 1);
  return true;
}

bool ValueSketch::AddBucket(std::uint64_t bucket, std::uint64_t times, Arena* arena, std::size_t* room) noexcept {
  for (;;) {
    if (capacity_ != 0) {
      const std::uint64_t wanted = Coarser(bucket, shift_);
      std::uint64_t* const slot = SlotOf(wanted);
      // A count of 0 would be an empty slot; buckets and their counts come together.
      if (*slot != 0) {
        *slot += times;
        return true;
      }
      if (2 * (std::size_t{used_} + 1) <= capacity_) {
        *slot = (wanted << kCountBits) + times;
        ++used_;
        return true;
      }
    }
    if (!MakeRoom(arena, room)) return false;
  }
}

bool ValueSketch::Merge(const ValueSketch& other, Arena* arena, std::size_t* room) noexcept {
  if (capacity_ != 0 && other.shift_ > shift_) MoveTo(slots_, capacity_, other.shift_ - shift_);
  if (capacity_ == 0) {
    if (!MakeRoom(arena, room)) return other.empty();
    shift_ = other.shift_;
  }
  for (std::uint32_t i = 0; i < other.capacity_; ++i) {
    const std::uint64_t slot = other.slots_[i];
    if (slot == 0) continue;
    const std::uint64_t bucket = slot >> kCountBits;
    // `AddBucket` takes buckets of the finest kind.
    const std::uint64_t finest = (bucket & kSign) | (bucket & (kSign - 1)) << other.shift_;
    AddBucket(finest, slot & kCounts, arena, room);
  }
  return true;
}

void ValueSketch::Append(JsonLine* line) const noexcept {
  std::uint64_t sorted[kMostBuckets];
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (slots_[i] != 0) sorted[size++] = slots_[i];
  }
  const auto bucket_of = [](std::uint64_t slot) {
    const auto magnitude = static_cast<std::int64_t>((slot >> kCountBits) & (kSign - 1));
    return ((slot >> kCountBits) & kSign) != 0 ? -magnitude : magnitude;
  };
  std::sort(sorted, sorted + size, [&](std::uint64_t a, std::uint64_t b) { return bucket_of(a) < bucket_of(b); });
  line->Raw("[");
  for (std::size_t i = 0; i < size; ++i) {
    if (i != 0) line->Raw(",");
    line->Integer(bucket_of(sorted[i]));
    line->Raw(",");
    line->Unsigned(sorted[i] & kCounts);
  }
  line->Raw("]");
}

}  // namespace internal
}  // namespace crema
