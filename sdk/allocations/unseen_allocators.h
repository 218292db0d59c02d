// Allocators of which this library sees nothing.
#ifndef CREMA_ALLOCATIONS_UNSEEN_ALLOCATORS_H_
#define CREMA_ALLOCATIONS_UNSEEN_ALLOCATORS_H_

#include <cstdint>

#include "process/allocation_counter.h"

namespace crema {
namespace allocations {

/// Null, or a sentence that names an object with a malloc or an operator new of which this library sees nothing: counts
/// would be too small. It stays once it is there. Tries those that it does not know, so it must be called again when
/// others were loaded. `of_caller` is the caller's own operator new, which its object may not show to ld.so; with null
/// it tries none, and takes no lock.
/// `blocks_seen()` says how many blocks of the calling thread this library has seen.
const char* FindUnseenAllocator(internal::OperatorNew* of_caller, std::uint64_t (*blocks_seen)()) noexcept;

}  // namespace allocations
}  // namespace crema

#endif  // CREMA_ALLOCATIONS_UNSEEN_ALLOCATORS_H_
