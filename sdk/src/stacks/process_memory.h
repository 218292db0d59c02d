// ProcessMemory: memory of this process that another thread may unmap at any moment. Reading it fails then, where a
// load would end the program.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "storage/fixed_text.h"

namespace crema::internal {

/// For one thread. Reads `/proc/self/mem` (proc(5)). Needs Linux 5.14: no older one says beforehand that memory is a
/// device's, which reading might change.
class ProcessMemory {
 public:
  /// Opens the file, and forgets all pages that were kept; false where the kernel refuses it.
  bool Open() noexcept;
  void Close() noexcept;
  /// Copies the inner end of a stack, so that what is read of it later is of one moment. Returns the end of the copy.
  std::uintptr_t CopyStack(std::uintptr_t from) noexcept;
  /// From that copy, or from a page that is kept as it was when it was first read.
  bool Read(std::uintptr_t from, void* to, std::size_t bytes) noexcept;
  /// As it is now.
  bool ReadNow(std::uintptr_t from, void* to, std::size_t bytes) const noexcept;

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kPages = 64;
  static constexpr std::size_t kStackBytes = 3 * kPageBytes;  ///< calls of libraries seldom take more
  struct Page {
    std::uintptr_t begin = 0;  ///< 0: none
    unsigned char bytes[kPageBytes];
  };
  const Page* PageAt(std::uintptr_t begin) noexcept;

  int file_ = -1;
  std::uint64_t device_ = 0;  ///< of `file_`
  std::uintptr_t stack_begin_ = 0;
  std::uintptr_t stack_end_ = 0;
  unsigned char stack_[kStackBytes];
  Page pages_[kPages];
};

/// Reads at an address of any alignment: in place where `memory` is nullptr. False where nothing can be read there.
inline bool LoadBytes(ProcessMemory* memory, std::uintptr_t from, void* to, std::size_t bytes) noexcept {
  if (memory != nullptr) return memory->Read(from, to, bytes);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return true;
}
template <class Value>
bool Load(ProcessMemory* memory, std::uintptr_t from, Value* value) noexcept {
  return LoadBytes(memory, from, value, sizeof *value);
}

// LoadedFile: a program or a library in the memory of this process.

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
FixedText<2 * BuildId::kMost> HexOf(const BuildId& id) noexcept;
/// In handlers of signals, too, while code of the file runs, or through the file's `memory`.
BuildId BuildIdOf(const LoadedFile& file) noexcept;

}  // namespace crema::internal
