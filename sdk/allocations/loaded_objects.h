// The programs and libraries of the process, and what they define. Reads their tables itself: dlsym(3) allocates, and
// its version depends on the C library, so that the library would not load beside an older one.
#ifndef CREMA_ALLOCATIONS_LOADED_OBJECTS_H_
#define CREMA_ALLOCATIONS_LOADED_OBJECTS_H_

#include <link.h>

#include <cstdint>

namespace crema {
namespace allocations {

/// Valid only while `ForEachObject` visits it.
struct LoadedObject {
  const char* name = nullptr;  ///< as ld.so(8) found it; empty: the program
  std::uintptr_t base = 0;
  const ElfW(Phdr) * headers = nullptr;
  int header_count = 0;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Half) * versions = nullptr;  ///< of the symbols
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
};

bool Contains(const LoadedObject& object, const void* address) noexcept;
/// The function that the object itself defines under this name, for programs that are linked today; else null.
void* Definition(const LoadedObject& object, const char* symbol) noexcept;

/// How often objects were loaded and unloaded.
struct LoadCounts {
  std::uint64_t loaded = 0;
  std::uint64_t unloaded = 0;
};
LoadCounts CountLoads() noexcept;

/// Calls `visit(data, object)` for each object, in the order of ld.so's search, until it returns true. Allocates
/// nothing. No object is unloaded meanwhile.
void ForEachObject(bool (*visit)(void* data, const LoadedObject& object), void* data) noexcept;

/// What the symbol is after this library; null where it is nothing.
void* NextSymbol(const char* name) noexcept;

}  // namespace allocations
}  // namespace crema

#endif  // CREMA_ALLOCATIONS_LOADED_OBJECTS_H_
