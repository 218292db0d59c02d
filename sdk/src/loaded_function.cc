#include "loaded_function.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace crema {
namespace internal {
namespace {

/// The tables of one loaded file in which its symbols are (System V ABI, "Dynamic Section").
struct Symbols {
  ElfW(Addr) base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hash = nullptr;
  const std::uint32_t* gnu_hash = nullptr;

  void* AddressIfNamed(std::uint32_t index, const char* name) const {
    const ElfW(Sym)& symbol = symbols[index];
    const bool is_it = symbol.st_shndx != SHN_UNDEF && std::strcmp(names + symbol.st_name, name) == 0;
    return is_it ? reinterpret_cast<void*>(base + symbol.st_value) : nullptr;
  }
};

Symbols SymbolsOf(const dl_phdr_info& file, const ElfW(Dyn) * dynamic) {
  Symbols found;
  found.base = file.dlpi_addr;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    // glibc replaces most of these offsets by addresses, musl none.
    const ElfW(Addr) value = dynamic->d_un.d_ptr;
    const auto* const table = reinterpret_cast<const void*>(value < found.base ? found.base + value : value);
    if (dynamic->d_tag == DT_SYMTAB) found.symbols = static_cast<const ElfW(Sym)*>(table);
    if (dynamic->d_tag == DT_STRTAB) found.names = static_cast<const char*>(table);
    if (dynamic->d_tag == DT_HASH) found.hash = static_cast<const std::uint32_t*>(table);
    if (dynamic->d_tag == DT_GNU_HASH) found.gnu_hash = static_cast<const std::uint32_t*>(table);
  }
  return found;
}

/// By the hash table of GNU, which most files have: number of buckets, first symbol, words of the Bloom filter, its
/// shift; the filter; the buckets; a hash for each symbol, whose lowest bit ends a bucket.
void* FindByGnuHash(const Symbols& file, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint32_t* const table = file.gnu_hash;
  const std::uint32_t* const buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const hashes = buckets + table[0];
  std::uint32_t index = table[0] == 0 ? 0 : buckets[hash % table[0]];
  if (index < table[1]) return nullptr;
  for (;; ++index) {
    const std::uint32_t other = hashes[index - table[1]];
    void* const found = (other | 1) == (hash | 1) ? file.AddressIfNamed(index, name) : nullptr;
    if (found != nullptr || (other & 1) != 0) return found;
  }
}

struct Search {
  const char* name;
  void* found;
};

int LookInto(dl_phdr_info* file, std::size_t, void* search_pointer) {
  auto* const search = static_cast<Search*>(search_pointer);
  for (std::size_t i = 0; i < file->dlpi_phnum && search->found == nullptr; ++i) {
    if (file->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* const dynamic = reinterpret_cast<const ElfW(Dyn)*>(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr);
    const Symbols symbols = SymbolsOf(*file, dynamic);
    if (symbols.symbols == nullptr || symbols.names == nullptr) continue;
    if (symbols.gnu_hash != nullptr) {
      search->found = FindByGnuHash(symbols, search->name);
      continue;
    }
    const std::uint32_t count = symbols.hash == nullptr ? 0 : symbols.hash[1];
    for (std::uint32_t index = 0; index < count && search->found == nullptr; ++index) {
      search->found = symbols.AddressIfNamed(index, search->name);
    }
  }
  return search->found != nullptr ? 1 : 0;
}

}  // namespace

void* FindFunction(const char* name) noexcept {
  Search search{name, nullptr};
  dl_iterate_phdr(LookInto, &search);
  return search.found;
}

}  // namespace internal
}  // namespace crema
