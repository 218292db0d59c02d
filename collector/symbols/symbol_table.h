// The functions of a program or library, from the symbols in its file (ELF: elf(5)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

/// A name as people read it: that of C++ demangled, without what compilers append to parts and copies of a function.
std::string ReadableName(std::string_view symbol);

struct NativeFunction {
  std::string_view symbol;
  uint64_t begin = 0;  ///< its first address, as the file counts
};

/// Reads files of 64 bits in the byte order of this machine.
class SymbolTable {
 public:
  /// Reads the file, and where it has been stripped the one with its debug symbols (/usr/lib/debug/.build-id), if they
  /// are what the linker called `build_id`, in hexadecimal. An error says what they are instead.
  static absl::StatusOr<SymbolTable> Read(const std::string& path, std::string_view build_id);

  /// The function that has this address, as the file counts; nullopt: no symbol says so.
  std::optional<NativeFunction> FunctionAt(uint64_t address) const;

  /// The file that knows its lines (`FindSourceLines`), this one or the one with its debug symbols; empty: none does.
  const std::string& file_with_lines() const { return file_with_lines_; }

 private:
  struct Symbol {
    uint64_t begin = 0;
    uint64_t end = 0;
    bool is_local = false;
    std::string name;
  };
  friend class ElfFile;

  std::vector<Symbol> symbols_;  ///< by `begin`
  std::string file_with_lines_;
};

struct SourceLine {
  std::string file;
  int64_t line = 0;
};

/// The functions at these addresses, as `file` counts them: one entry an address; nullopt: the file does not say. Runs
/// `addr2line` of binutils, for at most 20 seconds.
absl::StatusOr<std::vector<std::optional<SourceLine>>> FindSourceLines(const std::string& file,
                                                                       const std::vector<uint64_t>& addresses);

}  // namespace crema
