// LoadedFile: a program or a library in the memory of this process.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

#include "stacks/process_memory.h"

namespace crema {
namespace internal {

struct LoadedFile {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  const link_map* map = nullptr;
  std::uintptr_t unwind_header = 0;  ///< .eh_frame_hdr; 0: none
  ProcessMemory* memory = nullptr;   ///< by which all of it is to be read, as it may be unloaded; nullptr: in place
};

/// Whether the C library can find them without a lock (`_dl_find_object`, glibc 2.35). To be called first, outside
/// handlers of signals.
bool CanFindFiles() noexcept;
/// Whether it is the program itself or the C library, which are never unloaded.
bool IsPermanent(const LoadedFile& file) noexcept;
/// The file that has this address. In handlers of signals, too.
bool FindFile(std::uintptr_t address, LoadedFile* file, ProcessMemory* memory = nullptr) noexcept;

/// The linker's name for what was linked (.note.gnu.build-id), of 20 bytes usually.
struct BuildId {
  static constexpr std::size_t kMost = 32;
  std::uint8_t bytes[kMost] = {};
  std::size_t size = 0;  ///< 0: it has none
};
bool operator==(const BuildId& one, const BuildId& other) noexcept;
/// In handlers of signals, too, while code of the file runs, or through the file's `memory`.
BuildId BuildIdOf(const LoadedFile& file) noexcept;

}  // namespace internal
}  // namespace crema
