#include "other_users.h"

#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "process/loaded_objects.h"

namespace crema {
namespace gpu {
namespace {

using internal::LoadedObject;

struct Redirection {
  const char* cupti;
  const char* function;
  void* replacement;
};

#if defined(__x86_64__)
bool IsImport(std::uint32_t type) { return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT; }
#elif defined(__aarch64__)
bool IsImport(std::uint32_t type) { return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT; }
#else
bool IsImport(std::uint32_t) { return false; }
#endif

struct Relocations {
  const ElfW(Rela) * first = nullptr;
  std::size_t bytes = 0;
};

/// What the dynamic section says, and ld.so(8) has made absolute but for the kernel's own library.
struct Dynamic {
  Relocations tables[2];
  bool needs_cupti = false;
};

const ElfW(Phdr) * FindHeader(const LoadedObject& object, std::uint32_t type) {
  for (int i = 0; i < object.header_count; ++i) {
    if (object.headers[i].p_type == type) return &object.headers[i];
  }
  return nullptr;
}

Dynamic ReadDynamic(const LoadedObject& object, const char* cupti) {
  Dynamic dynamic;
  const ElfW(Phdr)* const header = FindHeader(object, PT_DYNAMIC);
  if (header == nullptr || object.strings == nullptr || object.symbols == nullptr) return dynamic;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.base + header->p_vaddr);
  for (; entry->d_tag != DT_NULL; ++entry) {
    const auto at = [entry] { return reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); };
    if (entry->d_tag == DT_NEEDED) {
      const char* const name = object.strings + entry->d_un.d_val;
      dynamic.needs_cupti |= std::strcmp(name, cupti) == 0;
    }
    if (entry->d_tag == DT_RELA) dynamic.tables[0].first = at();
    if (entry->d_tag == DT_RELASZ) dynamic.tables[0].bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) dynamic.tables[1].first = at();
    if (entry->d_tag == DT_PLTRELSZ) dynamic.tables[1].bytes = entry->d_un.d_val;
  }
  return dynamic;
}

/// Whether ld.so has made this part of the object unwritable once it was linked.
bool IsReadOnly(const LoadedObject& object, std::uintptr_t address) {
  const ElfW(Phdr)* const header = FindHeader(object, PT_GNU_RELRO);
  return header != nullptr && address - object.base - header->p_vaddr < header->p_memsz;
}

bool Redirect(void* data, const LoadedObject& object) {
  const auto& redirection = *static_cast<const Redirection*>(data);
  const Dynamic dynamic = ReadDynamic(object, redirection.cupti);
  if (!dynamic.needs_cupti) return false;
  for (const Relocations& table : dynamic.tables) {
    for (std::size_t i = 0; i < table.bytes / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& relocation = table.first[i];
      if (!IsImport(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info)))) continue;
      const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(relocation.r_info)];
      if (std::strcmp(object.strings + symbol.st_name, redirection.function) != 0) continue;
      const std::uintptr_t slot = object.base + relocation.r_offset;
      if (!IsReadOnly(object, slot)) {
        reinterpret_cast<std::atomic<void*>*>(slot)->store(redirection.replacement, std::memory_order_relaxed);
      }
    }
  }
  return false;
}

}  // namespace

void RedirectCalls(const char* cupti, const char* function, void* replacement) noexcept {
  Redirection redirection = {cupti, function, replacement};
  internal::ForEachObject(Redirect, &redirection);
}

}  // namespace gpu
}  // namespace crema
