#include "process/loaded_objects.h"

#include <cstring>

namespace crema::internal {
namespace {

bool IsDefinition(const LoadedObject& object, std::uint32_t index, const char* name) {
  constexpr unsigned kHidden = 0x8000;  // a version for old programs
  if (object.versions != nullptr && (object.versions[index] & kHidden) != 0) return false;
  const ElfW(Sym)& symbol = object.symbols[index];
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);  // the same as in 32-bit files
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT) &&
         std::strcmp(object.strings + symbol.st_name, name) == 0;
}

// https://sourceware.org/gnu-gabi/program-loading-and-dynamic-linking.txt, "GNU Hash Table"
const ElfW(Sym) * FindByGnuHash(const LoadedObject& object, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint32_t bucket_count = object.gnu_hash[0];
  const std::uint32_t first = object.gnu_hash[1];
  const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(object.gnu_hash + 4);
  const auto* buckets = reinterpret_cast<const std::uint32_t*>(bloom + object.gnu_hash[2]);
  const std::uint32_t* chain = buckets + bucket_count;
  if (bucket_count == 0) return nullptr;
  for (std::uint32_t i = buckets[hash % bucket_count]; i >= first; ++i) {
    const std::uint32_t entry = chain[i - first];
    if ((entry | 1) == (hash | 1) && IsDefinition(object, i, name)) return &object.symbols[i];
    if ((entry & 1) != 0) break;
  }
  return nullptr;
}

// System V ABI, "Hash Table"
const ElfW(Sym) * FindByHash(const LoadedObject& object, const char* name) {
  std::uint32_t hash = 0;
  for (const char* c = name; *c != '\0'; ++c) {
    hash = (hash << 4) + static_cast<unsigned char>(*c);
    hash = (hash ^ ((hash & 0xf0000000u) >> 24)) & 0x0fffffffu;
  }
  const std::uint32_t bucket_count = object.hash[0];
  const std::uint32_t* chain = object.hash + 2 + bucket_count;
  if (bucket_count == 0) return nullptr;
  for (std::uint32_t i = object.hash[2 + hash % bucket_count]; i != STN_UNDEF; i = chain[i]) {
    if (IsDefinition(object, i, name)) return &object.symbols[i];
  }
  return nullptr;
}

int ReadCounts(dl_phdr_info* info, std::size_t, void* counts) {
  *static_cast<LoadCounts*>(counts) = {info->dlpi_adds, info->dlpi_subs};
  return 1;
}

void* Find(const char* name, bool has_begun) {
  void* found = nullptr;
  ForEachObject([&](const LoadedObject& object) {
    if (has_begun) found = Definition(object, name);
    has_begun |= Contains(object, reinterpret_cast<const void*>(&Find));
    return found != nullptr;
  });
  return found;
}

const ElfW(Sym) * SymbolOf(const LoadedObject& object, const char* name) {
  if (object.symbols == nullptr || object.strings == nullptr) return nullptr;
  if (object.gnu_hash != nullptr) return FindByGnuHash(object, name);
  return object.hash != nullptr ? FindByHash(object, name) : nullptr;
}

}  // namespace

LoadedObject DescribeObject(const dl_phdr_info& info) noexcept {
  LoadedObject object;
  object.name = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  object.base = info.dlpi_addr;
  object.headers = info.dlpi_phdr;
  object.header_count = info.dlpi_phnum;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.base + header.p_vaddr);
  }
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // ld.so has added the base, except for the kernel's own object, and in other C libraries.
    const std::uintptr_t value = dynamic->d_un.d_ptr;
    const void* table = reinterpret_cast<const void*>(value < object.base ? object.base + value : value);
    if (dynamic->d_tag == DT_SYMTAB) object.symbols = static_cast<const ElfW(Sym)*>(table);
    if (dynamic->d_tag == DT_VERSYM) object.versions = static_cast<const ElfW(Half)*>(table);
    if (dynamic->d_tag == DT_STRTAB) object.strings = static_cast<const char*>(table);
    if (dynamic->d_tag == DT_GNU_HASH) object.gnu_hash = static_cast<const std::uint32_t*>(table);
    if (dynamic->d_tag == DT_HASH) object.hash = static_cast<const std::uint32_t*>(table);
  }
  return object;
}

bool Contains(const LoadedObject& object, const void* address) noexcept {
  for (int i = 0; i < object.header_count; ++i) {
    const ElfW(Phdr)& header = object.headers[i];
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - object.base - header.p_vaddr;
    if (header.p_type == PT_LOAD && offset < header.p_memsz) return true;
  }
  return false;
}

void* Definition(const LoadedObject& object, const char* symbol) noexcept {
  const ElfW(Sym)* const found = SymbolOf(object, symbol);
  if (found == nullptr || ELF64_ST_TYPE(found->st_info) == STT_OBJECT) return nullptr;
  void* const address = reinterpret_cast<void*>(object.base + found->st_value);
  if (ELF64_ST_TYPE(found->st_info) == STT_GNU_IFUNC) return reinterpret_cast<void* (*)()>(address)();
  return address;
}

LoadCounts CountLoads() noexcept {
  LoadCounts counts;
  dl_iterate_phdr(ReadCounts, &counts);
  return counts;
}

void* FindFunction(const char* name) noexcept { return Find(name, true); }
void* NextFunction(const char* name) noexcept { return Find(name, false); }

std::string_view FindVariable(const char* name) noexcept {
  std::string_view bytes;
  ForEachObject([&](const LoadedObject& object) {
    const ElfW(Sym)* const found = SymbolOf(object, name);
    if (found != nullptr) bytes = {reinterpret_cast<const char*>(object.base + found->st_value), found->st_size};
    return found != nullptr;
  });
  return bytes;
}

}  // namespace crema::internal
