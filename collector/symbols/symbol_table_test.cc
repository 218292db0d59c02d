#include "collector/symbols/symbol_table.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace crema {

__attribute__((noinline)) int FunctionOfThisTest(int value) { return 3 * value + 1; }

namespace {

struct Place {
  std::string build_id;
  uint64_t address = 0;
};

// Where a function of this program lies, from what the loader has in memory.
Place PlaceOf(const void* function) {
  Dl_info info{};
  link_map* map = nullptr;
  Place place;
  if (dladdr1(function, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return place;
  place.address = reinterpret_cast<uint64_t>(function) - map->l_addr;
  const auto read_note = [](dl_phdr_info* object, size_t, void* to) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = object->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
      for (const char* const end = at + segment.p_memsz; at < end;) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const char* const contents = at + sizeof note + (size_t{note.n_namesz} + 3) / 4 * 4;
        if (note.n_type == NT_GNU_BUILD_ID) {
          static_cast<Place*>(to)->build_id = absl::BytesToHexString({contents, note.n_descsz});
        }
        at = contents + (size_t{note.n_descsz} + 3) / 4 * 4;
      }
    }
    return 1;  // the program itself comes first
  };
  dl_iterate_phdr(read_note, &place);
  return place;
}

TEST(SymbolTable, NamesTheFunctionsOfWhatRan) {
  const Place place = PlaceOf(reinterpret_cast<const void*>(&FunctionOfThisTest));
  ASSERT_FALSE(place.build_id.empty());
  const absl::StatusOr<SymbolTable> table = SymbolTable::Read("/proc/self/exe", place.build_id);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const uint64_t offset : {0, 1}) {
    const std::optional<NativeFunction> function = table->FunctionAt(place.address + offset);
    ASSERT_TRUE(function.has_value());
    EXPECT_EQ(ReadableName(function->symbol), "crema::FunctionOfThisTest(int)");
    EXPECT_EQ(function->begin, place.address);
  }
  EXPECT_FALSE(table->FunctionAt(0).has_value());
  EXPECT_FALSE(table->FunctionAt(UINT64_MAX).has_value());
  EXPECT_EQ(FunctionOfThisTest(1), 4);
}

TEST(SymbolTable, IsNotThatOfAnotherBuild) {
  const auto refusal = [](const std::string& path, std::string_view id) {
    return std::string(SymbolTable::Read(path, id).status().message());
  };
  EXPECT_EQ(refusal("/proc/self/exe", "00ff"), "/proc/self/exe is not the file that ran: it was built again");
  EXPECT_EQ(refusal("/proc/self/exe", ""),
            "/proc/self/exe has no build id (link it with -Wl,--build-id): it may not be the file that ran");
  EXPECT_EQ(refusal("/nowhere", "00ff"), "/nowhere is not there, or is not a program or library");
}

TEST(SymbolTable, OfADamagedFileIsEmptyOrRefused) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  file.read(head.data(), 4096);
  const std::string path = ::testing::TempDir() + "/damaged";
  const Place place = PlaceOf(reinterpret_cast<const void*>(&FunctionOfThisTest));
  for (const size_t bytes : {size_t{0}, size_t{3}, sizeof(Elf64_Ehdr) - 1, sizeof(Elf64_Ehdr), size_t{4096}}) {
    std::ofstream(path, std::ios::binary) << head.substr(0, bytes);
    const absl::StatusOr<SymbolTable> table = SymbolTable::Read(path, place.build_id);
    if (table.ok()) {
      EXPECT_FALSE(table->FunctionAt(place.address).has_value()) << bytes;
    }
  }
}

TEST(ReadableName, IsThatOfTheSource) {
  EXPECT_EQ(ReadableName("_ZN5crema3FitEi"), "crema::Fit(int)");
  EXPECT_EQ(ReadableName("_ZN5crema3FitEi.cold"), "crema::Fit(int)");
  EXPECT_EQ(ReadableName("_ZN5crema3FitEi.constprop.0.isra.1"), "crema::Fit(int)");
  EXPECT_EQ(ReadableName("main"), "main");
  EXPECT_EQ(ReadableName("f"), "f");
  EXPECT_EQ(ReadableName("memcpy@@GLIBC_2.14"), "memcpy");
}

}  // namespace
}  // namespace crema
