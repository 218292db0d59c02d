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

bool FindFile(std::uintptr_t address, LoadedFile* file) noexcept {
  FoundObject found;
  const FindObject find = g_find_object.load(std::memory_order_relaxed);
  if (find == nullptr || find(reinterpret_cast<void*>(address), &found) != 0) return false;
  file->begin = reinterpret_cast<std::uintptr_t>(found.map_start);
  file->end = reinterpret_cast<std::uintptr_t>(found.map_end);
  file->map = found.map;
  file->unwind_header = static_cast<const unsigned char*>(found.eh_frame);
  return true;
}

bool operator==(const BuildId& one, const BuildId& other) noexcept {
  return one.size == other.size && std::memcmp(one.bytes, other.bytes, one.size) == 0;
}

BuildId BuildIdOf(const LoadedFile& file) noexcept {
  BuildId id;
  constexpr std::size_t kPageBytes = 4096;  // at least: no more of the file is sure to be mapped at `begin`
  const std::uintptr_t bytes = std::min<std::uintptr_t>(file.end - file.begin, kPageBytes);
  const auto* const head = reinterpret_cast<const ElfW(Ehdr)*>(file.begin);
  if (bytes < sizeof *head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return id;
  if (head->e_phentsize != sizeof(ElfW(Phdr)) || head->e_phoff > bytes ||
      head->e_phnum > (bytes - head->e_phoff) / sizeof(ElfW(Phdr))) {
    return id;
  }
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(file.begin + head->e_phoff);
  for (std::size_t i = 0; i < head->e_phnum; ++i) {
    const ElfW(Phdr)& segment = segments[i];
    const std::uintptr_t begin = file.map->l_addr + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || begin < file.begin || begin > file.end || file.end - begin < segment.p_memsz) {
      continue;
    }
    const auto* at = reinterpret_cast<const unsigned char*>(begin);
    const unsigned char* const end = at + segment.p_memsz;
    while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      at += sizeof note;
      const auto rounded = [](std::size_t size) { return (size + 3) / 4 * 4; };
      const std::size_t rest = static_cast<std::size_t>(end - at);
      const std::size_t name = rounded(note.n_namesz);
      if (note.n_namesz > rest || name > rest || note.n_descsz > rest - name) break;
      const bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at, "GNU", 4) == 0;
      if (is_id && note.n_descsz <= BuildId::kMost) {
        id.size = note.n_descsz;
        std::memcpy(id.bytes, at + name, id.size);
        return id;
      }
      if (rounded(note.n_descsz) > rest - name) break;
      at += name + rounded(note.n_descsz);
    }
  }
  return id;
}

}  // namespace internal
}  // namespace crema
