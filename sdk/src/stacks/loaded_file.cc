#include "stacks/loaded_file.h"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "process/loaded_objects.h"

namespace crema {
namespace internal {
namespace {

/// `dl_find_object` of glibc's dlfcn.h, which older headers lack.
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  link_map* map;
  void* eh_frame;
  unsigned long long reserved[7];
};
using FindObject = int (*)(void* address, FoundObject* result);
std::atomic<FindObject> g_find_object{nullptr};

}  // namespace

bool CanFindFiles() noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
  // Once: a forked child must not wait for the lock of the list of loaded files, which nobody may hold any more.
  static std::atomic<bool> was_asked{false};
  if (!was_asked.exchange(true)) {
    g_find_object.store(reinterpret_cast<FindObject>(FindFunction("_dl_find_object")));
  }
#endif
  return g_find_object.load() != nullptr;
}

bool IsPermanent(const LoadedFile& file) noexcept {
  const auto has = [&file](std::uintptr_t address) { return address >= file.begin && address < file.end; };
  return has(getauxval(AT_PHDR)) || has(reinterpret_cast<std::uintptr_t>(&getauxval));
}

bool FindFile(std::uintptr_t address, LoadedFile* file, ProcessMemory* memory) noexcept {
  FoundObject found;
  const FindObject find = g_find_object.load(std::memory_order_relaxed);
  if (find == nullptr || find(reinterpret_cast<void*>(address), &found) != 0) return false;
  file->begin = reinterpret_cast<std::uintptr_t>(found.map_start);
  file->end = reinterpret_cast<std::uintptr_t>(found.map_end);
  file->map = found.map;
  file->unwind_header = reinterpret_cast<std::uintptr_t>(found.eh_frame);
  file->memory = memory;
  return true;
}

std::uintptr_t BaseOf(const LoadedFile& file) noexcept {
  link_map map = {};
  return Load(file.memory, reinterpret_cast<std::uintptr_t>(file.map), &map) ? map.l_addr : 0;
}

bool operator==(const BuildId& one, const BuildId& other) noexcept {
  return one.size == other.size && std::memcmp(one.bytes, other.bytes, one.size) == 0;
}

BuildId BuildIdOf(const LoadedFile& file) noexcept {
  BuildId id;
  constexpr std::size_t kPageBytes = 4096;  // at least: no more of the file is sure to be mapped at `begin`
  const std::uintptr_t bytes = std::min<std::uintptr_t>(file.end - file.begin, kPageBytes);
  ElfW(Ehdr) head;
  if (bytes < sizeof head || !Load(file.memory, file.begin, &head)) return id;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(ElfW(Phdr)) ||
      head.e_phoff > bytes || head.e_phnum > (bytes - head.e_phoff) / sizeof(ElfW(Phdr))) {
    return id;
  }
  const std::uintptr_t base = BaseOf(file);
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (!Load(file.memory, file.begin + head.e_phoff + i * sizeof segment, &segment)) return id;
    std::uintptr_t at = base + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || at < file.begin || at > file.end || file.end - at < segment.p_memsz) continue;
    const std::uintptr_t end = at + segment.p_memsz;
    struct {
      ElfW(Nhdr) head;
      char name[4];
    } note;
    while (end - at >= sizeof note && Load(file.memory, at, &note)) {
      const auto rounded = [](std::size_t size) { return (size + 3) / 4 * 4; };
      at += sizeof note.head;
      const std::size_t name = rounded(note.head.n_namesz);
      if (note.head.n_namesz > end - at || name > end - at || note.head.n_descsz > end - at - name) break;
      at += name;
      const bool is_id = note.head.n_type == NT_GNU_BUILD_ID && name == 4 && std::memcmp(note.name, "GNU", 4) == 0;
      if (is_id && note.head.n_descsz <= BuildId::kMost) {
        if (LoadBytes(file.memory, at, id.bytes, note.head.n_descsz)) id.size = note.head.n_descsz;
        return id;
      }
      at += std::min<std::size_t>(rounded(note.head.n_descsz), end - at);
    }
  }
  return id;
}

}  // namespace internal
}  // namespace crema
