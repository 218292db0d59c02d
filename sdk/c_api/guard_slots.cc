#include "guard_slots.h"

#include "crema/internal/platform.h"
#include "storage/own_memory.h"
#include "storage/sdk_allocation_scope.h"

namespace crema {
namespace {

CREMA_THREAD_LOCAL char t_here;

/// The free list's head with this place first.
std::uint64_t Head(std::uint64_t before, std::uint32_t next) { return ((before >> 32) + 1) << 32 | next; }

}  // namespace

const void* GuardSlots::ThisThread() noexcept { return &t_here; }

GuardSlots::Slot* GuardSlots::Take(std::uint32_t* place) noexcept {
  std::uint64_t head = free_.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(head) != 0) {
    *place = static_cast<std::uint32_t>(head) - 1;
    Slot* slot = At(*place);
    const std::uint32_t next = slot->next_free.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, Head(head, next), std::memory_order_acq_rel)) return slot;
  }
  return TakeNew(place);
}

GuardSlots::Slot* GuardSlots::TakeNew(std::uint32_t* place) noexcept {
  std::uint32_t used = used_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t block_number = used / kSlotsInBlock;
    if (block_number >= kBlocks) return nullptr;
    if (blocks_[block_number].load(std::memory_order_acquire) == nullptr) {
      const internal::SdkAllocationScope scope;
      internal::OwnArray<Slot> block = internal::MakeOwnArray<Slot>(kSlotsInBlock);
      if (block == nullptr) return nullptr;
      Slot* before = nullptr;
      // If another thread was faster, its block is there.
      if (blocks_[block_number].compare_exchange_strong(before, block.get())) block.release();
    }
    if (used_.compare_exchange_weak(used, used + 1)) {
      *place = used;
      return At(used);
    }
  }
}

void GuardSlots::GiveBack(Slot* slot, std::uint32_t place) noexcept {
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    slot->next_free.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(head, Head(head, place + 1), std::memory_order_acq_rel));
}

}  // namespace crema
