// Whether a library can be preloaded into a program. ld.so(8) complains of one that it cannot load, and some dynamic
// linkers end the program.
#pragma once

#include <cstddef>

namespace crema::allocations {

// All of them may be called between vfork(2) and exec. They may change errno.

/// Whether the library can be mapped here, by this user: it is in this mount namespace, and not on a file system that
/// is mounted noexec.
bool CanBeMapped(const char* library) noexcept;

/// Whether the open program, or the interpreter of the script, is linked dynamically, and with a C library and of a
/// word size like this code, and without a sanitizer. Texts without `#!` count as scripts of sh(1). Does not close
/// `program`.
bool TakesPreloads(int program) noexcept;

/// Opens a regular file as openat(2) does; -1 for all others, whose opening may wait, or do something.
int OpenRegular(int directory, const char* path) noexcept;

/// Opens the program that execvp(3) would run, or gives -1. `path`: null, or as PATH of the environment.
int OpenProgram(const char* name, const char* path) noexcept;

}  // namespace crema::allocations
