// Sections as libraries beside the SDK know them: numbers of sites (allocation_counter.h, gpu_counter.h).
#pragma once

#include <cstdint>

#include "crema/internal/section_node.h"
#include "log/json_line.h"
#include "process/allocation_counter.h"

namespace crema {
namespace internal {

/// The site of a section of a chunk that a helper works for, inside `kInHelpers`.
template <class Counter>
std::uint32_t HelperSite(const Counter& counter, const SectionNode* node) noexcept {
  if (node == nullptr || node->parent == nullptr) return kInHelpers;
  const std::uint32_t parent = HelperSite(counter, node->parent);
  return node->is_unkept ? parent : counter.find_site(parent, node->name(), node->name_length);
}

/// The inside of a JSON string.
template <class Counter>
void AppendSitePath(const Counter& counter, std::uint32_t site, JsonLine* line) noexcept {
  if (site < kFirstNamedSite) return;
  const AllocationSite& named = *counter.site(site);
  AppendSitePath(counter, named.parent, line);
  if (named.parent >= kFirstNamedSite) line->Raw("/");
  line->StringPart({named.name, named.name_length}, true);
}

}  // namespace internal
}  // namespace crema
