#include "site_table.h"

#include <atomic>
#include <cstring>

#include "priority_lock.h"

namespace crema::allocations {
namespace {

using internal::AllocationSite;
constexpr auto kRelaxed = std::memory_order_relaxed;

constexpr std::uint32_t kSlots = 2 * kMostSites;
constexpr std::size_t kNameBytes = std::size_t{1} << 18;

AllocationSite g_sites[kMostSites];
std::atomic<std::uint32_t> g_site_count{internal::kFirstNamedSite};
std::atomic<std::uint16_t> g_slots[kSlots];  // 0: empty, else the index of a site; looked through without a lock
char g_names[kNameBytes];
std::size_t g_name_bytes = 0;
PriorityLock g_lock;  // guards the making of sites

std::uint32_t SlotOf(std::uint32_t parent, const char* name, std::uint32_t name_length) {
  std::uint32_t hash = 2166136261u ^ (parent * 2654435761u);  // FNV-1a
  for (std::uint32_t i = 0; i < name_length; ++i) hash = (hash ^ static_cast<unsigned char>(name[i])) * 16777619u;
  return hash % kSlots;
}

bool IsNamed(const AllocationSite& site, std::uint32_t parent, const char* name, std::uint32_t name_length) {
  return site.parent == parent && site.name_length == name_length &&
         (name_length == 0 || std::memcmp(site.name, name, name_length) == 0);
}

/// The site, or 0 and the slot where it would be.
std::uint32_t LookUp(std::uint32_t parent, const char* name, std::uint32_t name_length, std::uint32_t* slot) {
  *slot = SlotOf(parent, name, name_length);
  for (std::uint32_t site; (site = g_slots[*slot].load(std::memory_order_acquire)) != 0; *slot = (*slot + 1) % kSlots) {
    if (IsNamed(g_sites[site], parent, name, name_length)) return site;
  }
  return 0;
}

std::uint32_t Make(std::uint32_t parent, const char* name, std::uint32_t name_length, std::uint32_t slot) {
  const std::uint32_t index = g_site_count.load(kRelaxed);
  if (index >= kMostSites || name_length > kNameBytes - g_name_bytes) return parent;
  AllocationSite& site = g_sites[index];
  site.name = g_names + g_name_bytes;
  if (name_length > 0) std::memcpy(g_names + g_name_bytes, name, name_length);
  g_name_bytes += name_length;
  site.name_length = name_length;
  site.parent = parent;
  g_site_count.store(index + 1, std::memory_order_release);
  g_slots[slot].store(static_cast<std::uint16_t>(index), std::memory_order_release);
  return index;
}

void AddLive(AllocationSite* site, std::int64_t bytes) {
  const std::int64_t live = site->live_bytes.fetch_add(bytes, kRelaxed) + bytes;
  std::int64_t peak = site->peak_live_bytes.load(kRelaxed);
  while (live > peak && !site->peak_live_bytes.compare_exchange_weak(peak, live, kRelaxed)) {
  }
}

}  // namespace

std::uint32_t FindSite(std::uint32_t parent, const char* name, std::uint32_t name_length) noexcept {
  std::uint32_t slot = 0;
  std::uint32_t site = LookUp(parent, name, name_length, &slot);
  if (site != 0) return site;
  if (!g_lock.Lock()) return parent;
  site = LookUp(parent, name, name_length, &slot);  // another thread may have made it meanwhile
  if (site == 0) site = Make(parent, name, name_length, slot);
  g_lock.Unlock();
  return site;
}

std::uint32_t SiteCount() noexcept { return g_site_count.load(std::memory_order_acquire); }

const AllocationSite* Site(std::uint32_t index) noexcept { return &g_sites[index]; }

void CountAllocation(std::uint32_t site, std::size_t bytes) noexcept {
  g_sites[site].calls.fetch_add(1, kRelaxed);
  g_sites[site].bytes.fetch_add(bytes, kRelaxed);
  CountKept(site, bytes);
}

void CountKept(std::uint32_t site, std::size_t bytes) noexcept {
  AddLive(&g_sites[site], static_cast<std::int64_t>(bytes));
  if (site != internal::kAllocationProbe) {  // it must raise nobody's peak
    AddLive(&g_sites[internal::kWholeProcess], static_cast<std::int64_t>(bytes));
  }
}

void CountFree(std::uint32_t site, std::size_t bytes) noexcept {
  g_sites[site].live_bytes.fetch_sub(static_cast<std::int64_t>(bytes), kRelaxed);
  if (site == internal::kAllocationProbe) return;
  g_sites[internal::kWholeProcess].live_bytes.fetch_sub(static_cast<std::int64_t>(bytes), kRelaxed);
}

void MarkLiveBytes() noexcept {
  for (std::uint32_t i = 0; i < SiteCount(); ++i) {
    const std::int64_t live = g_sites[i].live_bytes.load(kRelaxed);
    g_sites[i].live_bytes_at_mark_before.store(g_sites[i].live_bytes_at_mark.exchange(live, kRelaxed), kRelaxed);
  }
}

void ForgetCounts() noexcept {
  g_lock.StartAnew();
  for (std::uint32_t i = 0; i < SiteCount(); ++i) {
    g_sites[i].calls.store(0, kRelaxed);
    g_sites[i].bytes.store(0, kRelaxed);
    g_sites[i].live_bytes.store(0, kRelaxed);
    g_sites[i].peak_live_bytes.store(0, kRelaxed);
    g_sites[i].live_bytes_at_mark.store(0, kRelaxed);
    g_sites[i].live_bytes_at_mark_before.store(0, kRelaxed);
  }
}

}  // namespace crema::allocations
