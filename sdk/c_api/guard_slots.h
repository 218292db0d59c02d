// GuardSlots: guards behind handles that never dangle, for languages in which nothing keeps a guard from ending twice.
#ifndef CREMA_C_API_GUARD_SLOTS_H_
#define CREMA_C_API_GUARD_SLOTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace crema {

enum class GuardKind : std::uint32_t { kChunk, kScope, kEvent, kRequest };

/// Where the guards of the C API live. A handle is no address: it is a place, and which of the guards that lived there
/// it means. A handle whose guard has ended is so told from all others, also where another guard has the place now, and
/// of several threads that end a guard one does. Places are used again and never given back. No lock, so that a forked
/// child finds none taken; allocates 64 kB each time that 1,024 more guards are open at once. Never throws.
class GuardSlots {
 public:
  using Handle = std::uintptr_t;  ///< 0: none

  constexpr GuardSlots() noexcept = default;
  GuardSlots(const GuardSlots&) = delete;
  GuardSlots& operator=(const GuardSlots&) = delete;

  /// A new guard; 0 where there is no memory for it.
  template <class Guard, class... Arguments>
  Handle Begin(GuardKind kind, const Arguments&... arguments) noexcept {
    static_assert(sizeof(Guard) <= sizeof(Slot::guard));
    static_assert(alignof(Guard) <= alignof(Slot));
    std::uint32_t place;
    Slot* slot = Take(&place);
    if (slot == nullptr) return 0;
    new (slot->guard) Guard(arguments...);
    slot->kind = kind;
    slot->thread = ThisThread();
    slot->destroy = [](void* guard) { static_cast<Guard*>(guard)->~Guard(); };
    const std::uint64_t generation = slot->generation.load(std::memory_order_relaxed) + 1;
    slot->generation.store(generation, std::memory_order_release);
    return static_cast<Handle>(generation << kPlaceBits | (place + 1));
  }

  /// Ends the guard; false where it has ended, or there never was such a one.
  bool End(Handle handle, GuardKind kind) noexcept {
    Slot* slot = Find(handle, kind);
    if (slot == nullptr) return false;
    std::uint64_t generation = slot->generation.load(std::memory_order_relaxed);
    if (!IsOf(handle, generation) || !slot->generation.compare_exchange_strong(generation, generation + 1)) {
      return false;
    }
    slot->destroy(slot->guard);
    GiveBack(slot, PlaceOf(handle));
    return true;
  }

  /// The open guard of a handle; null where it has ended.
  template <class Guard>
  Guard* Get(Handle handle, GuardKind kind) noexcept {
    Slot* slot = Find(handle, kind);
    return slot == nullptr ? nullptr : reinterpret_cast<Guard*>(slot->guard);
  }

  /// Whether the guard is open and was begun on this thread.
  bool IsOpenHere(Handle handle, GuardKind kind) noexcept {
    const Slot* slot = Find(handle, kind);
    return slot != nullptr && slot->thread == ThisThread();
  }

 private:
  static constexpr int kPlaceBits = 24;
  static constexpr std::uint32_t kSlotsInBlock = 1024;
  static constexpr std::uint32_t kBlocks = (1 << kPlaceBits) / kSlotsInBlock;
  static_assert(sizeof(Handle) == 8, "a handle holds a place and a generation");

  struct alignas(64) Slot {
    std::atomic<std::uint64_t> generation{0};  ///< odd while a guard lives here; 40 bits of it are in the handle
    std::atomic<std::uint32_t> next_free{0};   ///< a place + 1
    GuardKind kind = GuardKind::kChunk;
    void (*destroy)(void* guard) = nullptr;
    const void* thread = nullptr;  ///< that began the guard
    alignas(8) unsigned char guard[32];
  };

  static std::uint32_t PlaceOf(Handle handle) noexcept {
    return static_cast<std::uint32_t>(handle & ((Handle{1} << kPlaceBits) - 1)) - 1;
  }
  static bool IsOf(Handle handle, std::uint64_t generation) noexcept {
    return (generation & 1) != 0 && handle >> kPlaceBits == generation << kPlaceBits >> kPlaceBits;
  }
  static const void* ThisThread() noexcept;

  Slot* At(std::uint32_t place) noexcept {
    if (place / kSlotsInBlock >= kBlocks) return nullptr;
    Slot* block = blocks_[place / kSlotsInBlock].load(std::memory_order_acquire);
    return block == nullptr ? nullptr : block + place % kSlotsInBlock;
  }
  Slot* Find(Handle handle, GuardKind kind) noexcept {
    Slot* slot = handle == 0 ? nullptr : At(PlaceOf(handle));
    if (slot == nullptr || !IsOf(handle, slot->generation.load(std::memory_order_acquire))) return nullptr;
    return slot->kind == kind ? slot : nullptr;
  }
  Slot* Take(std::uint32_t* place) noexcept;
  void GiveBack(Slot* slot, std::uint32_t place) noexcept;
  Slot* TakeNew(std::uint32_t* place) noexcept;

  std::atomic<Slot*> blocks_[kBlocks] = {};
  std::atomic<std::uint32_t> used_{0};  ///< places that were ever used
  /// The free place that was given back last, + 1, in the lower half; how often one was taken or given back in the
  /// upper half: a list that changed meanwhile is so told from the one that was looked at.
  std::atomic<std::uint64_t> free_{0};
};

}  // namespace crema

#endif  // CREMA_C_API_GUARD_SLOTS_H_
