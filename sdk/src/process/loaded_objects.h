// The programs and libraries of the process, and what they define. Reads their tables itself: dlopen(3) and dlsym(3)
// change what dlerror(3) reports to the program, and allocate. Their versions depend on the C library, so that the
// library that counts allocations would not load beside an older one.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crema::internal {

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

LoadedObject DescribeObject(const dl_phdr_info& info) noexcept;

/// Calls `visit(object)` for each object, in the order of ld.so's search, until it returns true. Allocates nothing. No
/// object is unloaded meanwhile.
template <class Visit>
void ForEachObject(Visit visit) noexcept {
  const auto call = [](dl_phdr_info* info, std::size_t, void* data) -> int {
    return (*static_cast<Visit*>(data))(DescribeObject(*info));
  };
  dl_iterate_phdr(call, &visit);
}

/// The function of this name that the first object defines; null where none does.
void* FindFunction(const char* name) noexcept;
/// The bytes of the variable of this name that the first object defines; none where none does.
std::string_view FindVariable(const char* name) noexcept;
/// The same function of the objects after the one that this code is in.
void* NextFunction(const char* name) noexcept;
template <class Function>
void FindNext(Function** function, const char* name) noexcept {
  *function = reinterpret_cast<Function*>(NextFunction(name));
}

}  // namespace crema::internal
