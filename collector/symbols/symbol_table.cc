#include "collector/symbols/symbol_table.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "fmt/format.h"

namespace crema {
namespace {

// No table of a real file is larger; a file that claims more is damaged.
constexpr uint64_t kMostTableBytes = uint64_t{1} << 30;

constexpr std::chrono::seconds kLongest{20};  // of a library of a gigabyte; nobody waits longer for line numbers
constexpr int kNotFound = 127;

/// A program that writes into a pipe. It does not outlive this object.
class Program {
 public:
  explicit Program(std::vector<std::string> command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    output_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    if (posix_spawnp(&pid_, arguments.front(), &actions, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
  }
  ~Program() {
    if (pid_ >= 0) {
      kill(pid_, SIGKILL);
      Status();
    }
    if (output_ >= 0) close(output_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// All that it writes; nullopt: it took too long.
  std::optional<std::string> Output() {
    const auto end = std::chrono::steady_clock::now() + kLongest;
    std::string text;
    char buffer[1 << 16];
    while (pid_ > 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      if (left <= 0) return std::nullopt;
      pollfd waited = {output_, POLLIN, 0};
      if (poll(&waited, 1, static_cast<int>(left)) <= 0) continue;  // interrupted, or too late
      const ssize_t bytes = read(output_, buffer, sizeof buffer);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) break;
      text.append(buffer, static_cast<size_t>(bytes));
    }
    return text;
  }

  /// Its exit status once it has written all; 127: it was not found, or did not end by itself.
  int Status() {
    if (pid_ < 0) return kNotFound;
    int status = 0;
    pid_t ended = -1;
    do {
      ended = waitpid(pid_, &status, 0);
    } while (ended < 0 && errno == EINTR);
    pid_ = -1;
    return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : kNotFound;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

/// A line of addr2line's: `/home/me/fit.cc:12 (discriminator 3)`, or `??:0`.
std::optional<SourceLine> ParseSourceLine(std::string_view text) {
  text = text.substr(0, text.find(" (discriminator"));
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.substr(0, colon) == "??") return std::nullopt;
  SourceLine place{std::string(text.substr(0, colon)), 0};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, place.line);
  if (error != std::errc() || stop != end || place.line <= 0) return std::nullopt;
  return place;
}

}  // namespace

/// What a file says of itself; pieces that it does not have are empty.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : file_(path, std::ios::binary | std::ios::ate) {
    if (!file_) return;
    bytes_ = static_cast<uint64_t>(file_.tellg());
    const std::vector<Elf64_Ehdr> heads = Rows<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr));
    if (heads.empty()) return;
    const Elf64_Ehdr& head = heads.front();
    constexpr uint16_t kByteOrderProbe = 1;
    const bool is_little = *reinterpret_cast<const char*>(&kByteOrderProbe) == 1;
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != (is_little ? ELFDATA2LSB : ELFDATA2MSB)) {
      return;
    }
    is_elf_ = true;
    sections_ = Rows<Elf64_Shdr>(head.e_shoff, uint64_t{head.e_shnum} * sizeof(Elf64_Shdr), head.e_shentsize);
    segments_ = Rows<Elf64_Phdr>(head.e_phoff, uint64_t{head.e_phnum} * sizeof(Elf64_Phdr), head.e_phentsize);
    section_names_ = head.e_shstrndx;
  }

  bool is_elf() const { return is_elf_; }

  /// In hexadecimal; empty: it has none.
  std::string BuildId() {
    std::string id;
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_NOTE && id.empty()) id = BuildIdIn(Bytes(segment.p_offset, segment.p_filesz));
    }
    for (const Elf64_Shdr& section : sections_) {  // a file with debug symbols only has empty segments
      if (section.sh_type == SHT_NOTE && id.empty()) id = BuildIdIn(Bytes(section.sh_offset, section.sh_size));
    }
    return id;
  }

  bool HasSection(std::string_view name) {
    if (section_names_ >= sections_.size()) return false;
    const std::string names = Bytes(sections_[section_names_].sh_offset, sections_[section_names_].sh_size);
    return std::any_of(sections_.begin(), sections_.end(), [&](const Elf64_Shdr& section) {
      return section.sh_name < names.size() && names.c_str() + section.sh_name == name;
    });
  }

  /// Adds the functions of the table of this kind, SHT_SYMTAB or SHT_DYNSYM; whether there was one.
  bool AddFunctions(uint32_t kind, std::vector<SymbolTable::Symbol>& symbols) {
    bool is_there = false;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != kind || section.sh_link >= sections_.size()) continue;
      const Elf64_Shdr& names_section = sections_[section.sh_link];
      const std::string names = Bytes(names_section.sh_offset, names_section.sh_size);
      for (const Elf64_Sym& symbol : Rows<Elf64_Sym>(section.sh_offset, section.sh_size, section.sh_entsize)) {
        is_there = true;
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
        if (!is_function || symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
        const char* const name = names.c_str() + symbol.st_name;
        if (*name == '\0') continue;
        symbols.push_back({symbol.st_value, symbol.st_value + symbol.st_size,
                           ELF64_ST_BIND(symbol.st_info) == STB_LOCAL, std::string(name)});
      }
    }
    return is_there;
  }

 private:
  std::string Bytes(uint64_t offset, uint64_t size) {
    if (size > kMostTableBytes || offset > bytes_ || size > bytes_ - offset) return "";
    std::string bytes(size, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(bytes.data(), static_cast<std::streamsize>(size));
    return file_ ? bytes : "";
  }

  template <class Row>
  std::vector<Row> Rows(uint64_t offset, uint64_t size, uint64_t row_bytes) {
    std::vector<Row> rows;
    if (row_bytes != sizeof(Row)) return rows;
    const std::string bytes = Bytes(offset, size);
    rows.resize(bytes.size() / sizeof(Row));
    if (!rows.empty()) std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(Row));
    return rows;
  }

  static std::string BuildIdIn(std::string_view notes) {
    static constexpr char kOwner[] = "GNU";  // and the zero after it
    Elf64_Nhdr note;
    while (notes.size() >= sizeof note) {
      std::memcpy(&note, notes.data(), sizeof note);
      notes.remove_prefix(sizeof note);
      const auto rounded = [](uint64_t size) { return (size + 3) / 4 * 4; };
      const uint64_t name = rounded(note.n_namesz);
      if (name > notes.size() || note.n_descsz > notes.size() - name) break;
      if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == std::string_view(kOwner, sizeof kOwner)) {
        return absl::BytesToHexString({notes.data() + name, note.n_descsz});
      }
      notes.remove_prefix(std::min<uint64_t>(name + rounded(note.n_descsz), notes.size()));
    }
    return "";
  }

  std::ifstream file_;
  uint64_t bytes_ = 0;
  bool is_elf_ = false;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Phdr> segments_;
  size_t section_names_ = 0;  ///< the section that has them
};

std::string ReadableName(std::string_view symbol) {
  std::string name(symbol.substr(0, symbol.find('@')));  // the version of a library's function
  // f.cold, f.part.0, f.constprop.0, f.isra.0: of parts and copies of f.
  if (const size_t dot = name.find('.', 1); dot != std::string::npos) name.resize(dot);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  const bool is_mangled = name.rfind("_Z", 0) == 0;  // else `f` would be read as the type float
  return is_mangled && status == 0 ? std::string(demangled.get()) : name;
}

absl::StatusOr<SymbolTable> SymbolTable::Read(const std::string& path, std::string_view build_id) {
  ElfFile file(path);
  if (!file.is_elf()) return absl::NotFoundError(fmt::format("{} is not there, or is not a program or library", path));
  if (build_id.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("{} has no build id (link it with -Wl,--build-id): it may not be the file that ran", path));
  }
  if (file.BuildId() != build_id) {
    return absl::FailedPreconditionError(fmt::format("{} is not the file that ran: it was built again", path));
  }
  SymbolTable table;
  const auto take_lines = [&table](const std::string& from, ElfFile* elf) {
    if (table.file_with_lines_.empty() && elf->HasSection(".debug_line")) table.file_with_lines_ = from;
  };
  take_lines(path, &file);
  if (!file.AddFunctions(SHT_SYMTAB, table.symbols_)) {
    const std::string debug_path =
        fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", build_id.substr(0, 2), build_id.substr(2));
    ElfFile debug(debug_path);
    const bool belongs = debug.is_elf() && debug.BuildId() == build_id;
    if (belongs) take_lines(debug_path, &debug);
    if (!belongs || !debug.AddFunctions(SHT_SYMTAB, table.symbols_)) file.AddFunctions(SHT_DYNSYM, table.symbols_);
  }
  // Several names for one function: a global one that others would use, too.
  std::sort(table.symbols_.begin(), table.symbols_.end(), [](const Symbol& one, const Symbol& other) {
    return std::tie(one.begin, one.is_local, one.name) < std::tie(other.begin, other.is_local, other.name);
  });
  return table;
}

std::optional<NativeFunction> SymbolTable::FunctionAt(uint64_t address) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](uint64_t value, const Symbol& symbol) { return value < symbol.begin; });
  if (after == symbols_.begin()) return std::nullopt;
  const uint64_t begin = std::prev(after)->begin;
  auto first = std::lower_bound(symbols_.begin(), after, begin,
                                [](const Symbol& symbol, uint64_t value) { return symbol.begin < value; });
  for (; first != after; ++first) {
    if (address < first->end || address == first->begin) return NativeFunction{first->name, first->begin};
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<std::optional<SourceLine>>> FindSourceLines(const std::string& file,
                                                                       const std::vector<uint64_t>& addresses) {
  std::vector<std::string> command = {"addr2line", "-e", file};
  for (const uint64_t address : addresses) command.push_back(fmt::format("{:#x}", address));
  Program program(std::move(command));
  const std::optional<std::string> output = program.Output();
  if (!output.has_value()) {
    return absl::DeadlineExceededError(fmt::format("addr2line took more than {} s to read {}", kLongest.count(), file));
  }
  if (program.Status() != 0) return absl::UnavailableError("addr2line does not run here (install binutils)");
  std::vector<std::optional<SourceLine>> lines;
  std::istringstream texts(*output);
  for (std::string text; std::getline(texts, text);) lines.push_back(ParseSourceLine(text));
  if (lines.size() != addresses.size()) {
    return absl::InternalError(fmt::format("addr2line does not answer for {}", file));
  }
  return lines;
}

}  // namespace crema
