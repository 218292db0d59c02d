// An allocator inside the program, as one that is linked statically: it comes before every library's.
#include <cerrno>
#include <cstddef>

// NOLINTBEGIN(readability-identifier-naming): the C library's names
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void __libc_free(void* block);
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
extern "C" void* __libc_realloc(void* block, std::size_t bytes);

extern "C" void* malloc(std::size_t bytes) noexcept { return __libc_malloc(bytes); }
extern "C" void free(void* block) noexcept { __libc_free(block); }
extern "C" void* calloc(std::size_t count, std::size_t bytes) noexcept { return __libc_calloc(count, bytes); }
extern "C" void* realloc(void* block, std::size_t bytes) noexcept { return __libc_realloc(block, bytes); }
// NOLINTEND(readability-identifier-naming)
