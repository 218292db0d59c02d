// RecordSectionSince: a section that is known only when it is over.
#ifndef CREMA_ROOT_LATE_SECTION_H_
#define CREMA_ROOT_LATE_SECTION_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "crema/internal/section_node.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

/// The time on this thread, as sections count it; 0: not known.
inline std::uint64_t SectionTicks() noexcept {
  ThreadContext* context = ContextOfThread();
  if (context == nullptr) context = EnsureThreadContext();
  return context != nullptr ? Ticks(context) : 0;
}

/// A section of this thread that begins at `start_ticks` and ends now. What may come to nothing is marked so.
inline void RecordSectionSince(std::string_view name, std::uint64_t start_ticks) noexcept {
  if (start_ticks == 0 || !Recording()) return;
  OpenSection section = EnterSection(name);
  if (section.node == nullptr) return;
  section.start_ticks = start_ticks;
  section.node->start_ticks.store(start_ticks, std::memory_order_relaxed);
  ExitSection(section);
}

}  // namespace crema::internal

#endif  // CREMA_ROOT_LATE_SECTION_H_
