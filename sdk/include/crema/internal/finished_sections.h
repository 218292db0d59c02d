// The sections of a chunk that is over, for those who show them elsewhere (the C API, and Dask's own view by it).
#ifndef CREMA_INTERNAL_FINISHED_SECTIONS_H_
#define CREMA_INTERNAL_FINISHED_SECTIONS_H_

#include <cstddef>
#include <cstdint>

namespace crema::internal {

struct FinishedSection {
  const char* path = nullptr;  ///< ends with NUL; "": the chunk itself
  bool is_helper = false;      ///< measured on threads that helped
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t self_ns = 0;  ///< less the sections inside it; the owner's add up to the chunk's duration
};

using SectionVisitor = void (*)(void* context, const FinishedSection& section);

/// Calls `visit` for the chunk that ended last on this thread, and for each of its sections as its record has them;
/// returns how often. Each chunk is handed out once, and not any more when the next one has begun. `visit` may do
/// whatever the thread may do. Allocates while it runs.
std::size_t VisitFinishedSections(SectionVisitor visit, void* context) noexcept;

}  // namespace crema::internal

#endif  // CREMA_INTERNAL_FINISHED_SECTIONS_H_
