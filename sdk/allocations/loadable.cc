#include "loadable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

// The head of the file that this code is in (ld(1)).
// NOLINTNEXTLINE(readability-identifier-naming): the linker's name
extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace crema::allocations {
namespace {

constexpr int kMostInterpreters = 5;  // the kernel's limit for scripts of scripts
constexpr int kHeadBytes = 256;       // what the kernel reads of one; small, because a thread may have 16 kB of stack

template <class Value>
bool Read(int file, std::size_t at, Value* value) {
  return pread(file, value, sizeof *value, static_cast<off_t>(at)) == sizeof *value;
}

/// The first segment that `fits`.
template <class Fits>
bool FindSegment(int program, const ElfW(Ehdr) & head, ElfW(Phdr) * segment, Fits fits) {
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    if (!Read(program, head.e_phoff + i * sizeof *segment, segment)) return false;
    if (fits()) return true;
  }
  return false;
}

/// Whether the program needs the runtime of a sanitizer, as GCC and Clang name them. These end a program if another
/// library comes before them, or crash.
bool NeedsSanitizer(int program, const ElfW(Ehdr) & head) {
  static constexpr const char* kNames[] = {"libasan.", "liblsan.", "libtsan.", "libhwasan.", "libclang_rt."};
  ElfW(Phdr) segment;
  if (!FindSegment(program, head, &segment, [&] { return segment.p_type == PT_DYNAMIC; })) return false;
  const std::size_t first = segment.p_offset;
  ElfW(Dyn) entry;
  std::size_t at = first;
  do {
    if (!Read(program, at, &entry) || entry.d_tag == DT_NULL) return false;
    at += sizeof entry;
  } while (entry.d_tag != DT_STRTAB);
  const std::size_t strings = entry.d_un.d_ptr;
  const auto has_strings = [&] { return segment.p_type == PT_LOAD && strings - segment.p_vaddr < segment.p_filesz; };
  if (!FindSegment(program, head, &segment, has_strings)) return false;
  for (at = first; Read(program, at, &entry) && entry.d_tag != DT_NULL; at += sizeof entry) {
    if (entry.d_tag != DT_NEEDED) continue;
    char name[16] = "";
    const std::size_t name_at = segment.p_offset + (strings - segment.p_vaddr) + entry.d_un.d_val;
    if (pread(program, name, sizeof name - 1, static_cast<off_t>(name_at)) < 0) return false;
    for (const char* runtime : kNames) {
      if (std::strncmp(name, runtime, std::strlen(runtime)) == 0) return true;
    }
  }
  return false;
}

bool IsLinkedLikeThis(int program, const ElfW(Ehdr) & head) {
  if (head.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] || head.e_machine != __ehdr_start.e_machine)
    return false;
  ElfW(Phdr) segment;
  if (!FindSegment(program, head, &segment, [&] { return segment.p_type == PT_INTERP; })) return false;
  char linker[64] = "";  // the end of its path; glibc's are called ld-linux-x86-64.so.2, ld-linux-aarch64.so.1
  const std::size_t length = std::min<std::size_t>(segment.p_filesz, sizeof linker - 1);
  if (pread(program, linker, length, static_cast<off_t>(segment.p_offset + segment.p_filesz - length)) < 0)
    return false;
  return std::strstr(linker, "/ld-linux") != nullptr && !NeedsSanitizer(program, head);
}

}  // namespace

int OpenRegular(int directory, const char* path) noexcept {
  struct stat status;  // not by fstatat(3), which is of glibc 2.33
  if (path == nullptr || syscall(SYS_newfstatat, directory, path, &status, 0) != 0) return -1;
  if (!S_ISREG(status.st_mode)) return -1;
  return openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool CanBeMapped(const char* library) noexcept {
  if (access(library, R_OK) != 0) return false;  // without capabilities, which end with exec
  const int file = OpenRegular(AT_FDCWD, library);
  if (file < 0) return false;
  void* const page = mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (page != MAP_FAILED) munmap(page, 1);
  close(file);
  return page != MAP_FAILED;
}

bool TakesPreloads(int program) noexcept {
  union {
    ElfW(Ehdr) elf;
    char text[kHeadBytes + 1];
  } head;
  int interpreter = -1;
  bool takes = false;
  for (int i = 0; i < kMostInterpreters; ++i) {
    const int file = interpreter < 0 ? program : interpreter;
    const ssize_t length = pread(file, head.text, kHeadBytes, 0);
    if (length < 0) break;
    head.text[length] = '\0';
    if (std::strncmp(head.text, "#!", 2) != 0) {
      const bool is_elf =
          length >= static_cast<ssize_t>(sizeof head.elf) && std::memcmp(head.text, ELFMAG, SELFMAG) == 0;
      takes = is_elf ? IsLinkedLikeThis(file, head.elf) : std::memchr(head.text, '\0', length) == nullptr;
      break;
    }
    char* const name = head.text + 2 + std::strspn(head.text + 2, " \t");
    name[std::strcspn(name, " \t\n")] = '\0';
    if (interpreter >= 0) close(interpreter);
    interpreter = OpenRegular(AT_FDCWD, name);
    if (interpreter < 0) return false;
  }
  if (interpreter >= 0) close(interpreter);
  return takes;
}

int OpenProgram(const char* name, const char* path) noexcept {
  if (std::strchr(name, '/') != nullptr) return OpenRegular(AT_FDCWD, name);
  if (path == nullptr) path = "/bin:/usr/bin";
  for (;;) {
    char candidate[PATH_MAX];
    const std::size_t length = std::strcspn(path, ":");
    if (const std::size_t name_length = std::strlen(name); length + name_length + 2 <= sizeof candidate) {
      std::memcpy(candidate, path, length);
      candidate[length] = '/';
      std::memcpy(candidate + length + 1, name, name_length + 1);
      const char* const file = length == 0 ? name : candidate;  // an empty part is the working directory
      const int opened = access(file, X_OK) == 0 ? OpenRegular(AT_FDCWD, file) : -1;
      char byte;
      if (opened >= 0 && pread(opened, &byte, 1, 0) == 1) return opened;
      if (opened >= 0) close(opened);  // a directory
    }
    if (path[length] == '\0') return -1;
    path += length + 1;
  }
}

}  // namespace crema::allocations
