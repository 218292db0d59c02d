#include "stacks/process_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "process/loaded_objects.h"
#include "process/own_descriptor.h"

namespace crema::internal {
namespace {

constexpr char kPath[] = "/proc/self/mem";

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

bool ProcessMemory::Open() noexcept {
  for (Page& page : pages_) page.begin = 0;
  stack_begin_ = stack_end_ = 0;
  struct stat wanted {};
  if (!MayOpen() || stat(kPath, &wanted) != 0) return false;
  device_ = wanted.st_dev;
  file_ = open(kPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  return file_ >= 0;
}

void ProcessMemory::Close() noexcept {
  if (file_ >= 0 && IsOpenOnDevice(file_, device_)) close(file_);
  file_ = -1;
}

bool ProcessMemory::ReadNow(std::uintptr_t from, void* to, std::size_t bytes) const noexcept {
  // pread(2) holds the process's lock of mappings, and would hold it while a page comes from a disk. So the page comes
  // first, by a call that lets go of the lock meanwhile, and refuses memory of devices.
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, which older headers lack
  const std::uintptr_t begin = from & ~(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
  if (madvise(reinterpret_cast<void*>(begin), from + bytes - begin, kPopulateRead) != 0) return false;
  return pread(file_, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

std::uintptr_t ProcessMemory::CopyStack(std::uintptr_t from) noexcept {
  stack_begin_ = stack_end_ = from;
  const std::uintptr_t end = from - from % kPageBytes + kStackBytes;
  while (stack_end_ < end) {
    const std::size_t bytes = kPageBytes - stack_end_ % kPageBytes;
    if (!ReadNow(stack_end_, stack_ + (stack_end_ - from), bytes)) break;  // here the stack ends
    stack_end_ += bytes;
  }
  return stack_end_;
}

const ProcessMemory::Page* ProcessMemory::PageAt(std::uintptr_t begin) noexcept {
  Page& page = pages_[begin / kPageBytes % kPages];
  if (page.begin != begin) page.begin = ReadNow(begin, page.bytes, kPageBytes) ? begin : 0;
  return page.begin == begin ? &page : nullptr;
}

bool ProcessMemory::Read(std::uintptr_t from, void* to, std::size_t bytes) noexcept {
  if (from >= stack_begin_ && from < stack_end_ && bytes <= stack_end_ - from) {
    std::memcpy(to, stack_ + (from - stack_begin_), bytes);
    return true;
  }
  auto* at = static_cast<unsigned char*>(to);
  while (bytes != 0) {
    const std::size_t offset = from % kPageBytes;
    const std::size_t part = std::min(bytes, kPageBytes - offset);
    const Page* const page = PageAt(from - offset);
    if (page == nullptr) return false;
    std::memcpy(at, page->bytes + offset, part);
    at += part;
    from += part;
    bytes -= part;
  }
  return true;
}

bool CanFindFiles() noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
  // Once: a forked child must not wait for the lock of the list of loaded files, which nobody may hold any more.
  static std::atomic<bool> was_asked{false};
  if (!was_asked.exchange(true)) g_find_object.store(reinterpret_cast<FindObject>(FindFunction("_dl_find_object")));
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
  const auto number = [](void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  *file = {number(found.map_start), number(found.map_end), found.map, number(found.eh_frame), memory};
  return true;
}

bool operator==(const BuildId& one, const BuildId& other) noexcept {
  return one.size == other.size && std::memcmp(one.bytes, other.bytes, one.size) == 0;
}

FixedText<2 * BuildId::kMost> HexOf(const BuildId& id) noexcept {
  constexpr std::string_view kDigits = "0123456789abcdef";
  FixedText<2 * BuildId::kMost> hex;
  for (std::size_t i = 0; i < id.size; ++i) {
    hex.Append(kDigits.substr(id.bytes[i] >> 4, 1));
    hex.Append(kDigits.substr(id.bytes[i] & 15, 1));
  }
  return hex;
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
  link_map map = {};
  const std::uintptr_t base = Load(file.memory, reinterpret_cast<std::uintptr_t>(file.map), &map) ? map.l_addr : 0;
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

}  // namespace crema::internal
