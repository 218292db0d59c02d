#include "block_table.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>

#include "priority_lock.h"

namespace crema {
namespace allocations {
namespace {

constexpr int kPartBits = 8;
constexpr std::uint32_t kParts = 1u << kPartBits;
constexpr int kSiteBits = 16;
constexpr int kAlignmentBits = 3;  // jemalloc aligns small blocks to 8 bytes
/// Blocks of one region share a part: allocators give a region to one thread, so threads seldom meet there.
constexpr int kRegionBits = 16;
constexpr std::size_t kFirstCapacity = 512;             // a page
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;  // Knuth's multiplicative hashing

/// An open hash table with linear probing.
struct alignas(64) Part {
  PriorityLock lock;
  std::uint64_t* entries = nullptr;  ///< 0: empty, else the block and its site
  std::size_t capacity = 0;          ///< a power of two
  std::size_t size = 0;
};
Part g_parts[kParts];

std::uint64_t KeyOf(const void* block) { return reinterpret_cast<std::uintptr_t>(block) >> kAlignmentBits; }
std::uint64_t KeyOf(std::uint64_t entry) { return entry >> kSiteBits; }

Part* PartOf(const void* block) {
  return &g_parts[((reinterpret_cast<std::uintptr_t>(block) >> kRegionBits) * kGolden) >> (64 - kPartBits)];
}

std::size_t HomeOf(std::uint64_t key, std::size_t capacity) { return ((key * kGolden) >> 32) & (capacity - 1); }

/// Where the key stands, or would stand.
std::size_t Find(const Part& part, std::uint64_t key) {
  std::size_t at = HomeOf(key, part.capacity);
  while (part.entries[at] != 0 && KeyOf(part.entries[at]) != key) at = (at + 1) & (part.capacity - 1);
  return at;
}

std::uint64_t* NewEntries(std::size_t capacity) {
  if (t_makes_no_calls) return nullptr;
  const int host_errno = errno;
  void* memory =
      mmap(nullptr, capacity * sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = host_errno;
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(memory);
}

void FreeEntries(std::uint64_t* entries, std::size_t capacity) {
  const int host_errno = errno;
  if (entries != nullptr && !t_makes_no_calls) munmap(entries, capacity * sizeof(std::uint64_t));
  errno = host_errno;
}

/// False where there is no room for one more.
bool MakeRoom(Part* part) {
  if (3 * (part->size + 1) <= 2 * part->capacity) return true;
  Part larger;
  larger.capacity = part->capacity == 0 ? kFirstCapacity : 2 * part->capacity;
  larger.entries = NewEntries(larger.capacity);
  if (larger.entries == nullptr) return part->size + 1 < part->capacity;
  for (std::size_t i = 0; i < part->capacity; ++i) {
    const std::uint64_t entry = part->entries[i];
    if (entry != 0) larger.entries[Find(larger, KeyOf(entry))] = entry;
  }
  FreeEntries(part->entries, part->capacity);
  part->entries = larger.entries;
  part->capacity = larger.capacity;
  return true;
}

/// Closes the gap at `gap`, so that each entry is found from its home on.
void CloseGap(Part* part, std::size_t gap) {
  const std::size_t mask = part->capacity - 1;
  for (std::size_t at = (gap + 1) & mask; part->entries[at] != 0; at = (at + 1) & mask) {
    const std::size_t home = HomeOf(KeyOf(part->entries[at]), part->capacity);
    if (((at - home) & mask) < ((at - gap) & mask)) continue;  // it would come to stand before its home
    part->entries[gap] = part->entries[at];
    gap = at;
  }
  part->entries[gap] = 0;
}

}  // namespace

Noted NoteBlock(const void* block, std::uint32_t site) noexcept {
  Part* part = PartOf(block);
  if (!part->lock.Lock()) return Noted::kNowhere;
  Noted noted = Noted::kNowhere;
  if (MakeRoom(part)) {
    const std::size_t at = Find(*part, KeyOf(block));
    noted = part->entries[at] == 0 ? Noted::kAsNew : Noted::kInstead;
    part->entries[at] = KeyOf(block) << kSiteBits | site;
    if (noted == Noted::kAsNew) ++part->size;
  }
  part->lock.Unlock();
  return noted;
}

std::uint32_t ForgetBlock(const void* block, bool* is_lost) noexcept {
  Part* part = PartOf(block);
  if (!part->lock.Lock()) {
    *is_lost = true;
    return 0;
  }
  std::uint32_t site = 0;
  if (part->size > 0) {
    const std::size_t at = Find(*part, KeyOf(block));
    if (part->entries[at] != 0) {
      site = static_cast<std::uint32_t>(part->entries[at] & ((1u << kSiteBits) - 1));
      CloseGap(part, at);
      --part->size;
    }
  }
  part->lock.Unlock();
  return site;
}

void ForgetAllBlocks() noexcept {
  for (Part& part : g_parts) {
    FreeEntries(part.entries, part.capacity);
    part.entries = nullptr;
    part.capacity = part.size = 0;
    part.lock.StartAnew();
  }
}

}  // namespace allocations
}  // namespace crema
