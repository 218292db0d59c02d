// The functions of exec(3), posix_spawn(3) and system(3). Each checks, where and as whom it starts the program, that
// the program can load this library (loadable.h). If not, it takes the library out of the program's LD_PRELOAD.
// Programs that are started by a system call of their own are not seen here.
#include <alloca.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "crema/internal/platform.h"
#include "loadable.h"
#include "process/loaded_objects.h"

namespace crema::allocations {
namespace {

using Words = char* const*;

constexpr char kVariable[] = "LD_PRELOAD=";
constexpr std::size_t kVariableLength = sizeof kVariable - 1;
constexpr char kName[] = "/libcrema_allocations.so";
constexpr std::size_t kNameLength = sizeof kName - 1;

struct NextExec {
  int (*execve)(const char*, Words, Words);
  int (*execvpe)(const char*, Words, Words);
  int (*fexecve)(int, Words, Words);
  int (*execveat)(int, const char*, Words, Words, int);
  int (*posix_spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, Words, Words);
  int (*posix_spawnp)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, Words, Words);
  int (*system)(const char*);
  FILE* (*popen)(const char*, const char*);
};
NextExec g_next;

// Before the program runs: a forked child must take no lock of ld.so's.
__attribute__((constructor)) void FindNextExec() {
  internal::FindNext(&g_next.execve, "execve");
  internal::FindNext(&g_next.execvpe, "execvpe");
  internal::FindNext(&g_next.fexecve, "fexecve");
  internal::FindNext(&g_next.execveat, "execveat");
  internal::FindNext(&g_next.posix_spawn, "posix_spawn");
  internal::FindNext(&g_next.posix_spawnp, "posix_spawnp");
  internal::FindNext(&g_next.system, "system");
  internal::FindNext(&g_next.popen, "popen");
}

const NextExec& Next() {
  if (g_next.popen == nullptr) FindNextExec();  // another library's constructor starts a program
  return g_next;
}

/// Whether the kernel could read what is at `address`: it refuses a program with a bad pointer, and goes on.
bool CanRead(const void* address) {
  constexpr int kNoSuchChange = -1;  // found out after the mask was read; its eight bytes are in one page
  const auto* const mask =
      reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7});
  return syscall(SYS_rt_sigprocmask, kNoSuchChange, mask, nullptr, sizeof(std::uint64_t)) == 0 || errno != EFAULT;
}

/// Reads what a program hands to exec. Asks once for each page.
class CheckedPage {
 public:
  bool CanRead(const void* address) {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) / kBytes;
    if (page != page_ && !allocations::CanRead(address)) return false;
    page_ = page;
    return true;
  }

 private:
  static constexpr std::uintptr_t kBytes = 4096;  // the smallest
  std::uintptr_t page_ = UINTPTR_MAX;             ///< none
};

/// Where an environment asks for this library.
struct Request {
  std::size_t count = 0;  ///< of variables
  std::size_t index = 0;
  const char* variable = nullptr;  ///< null: nowhere, or a pointer is bad
  std::size_t bytes = 0;           ///< of the variable, its NUL included
};

constexpr char kSeparators[] = ": ";

/// Calls `visit(path, length)` for each path of this library in the variable.
template <class Visit>
void ForEachPath(const char* variable, Visit visit) {
  const char* path = variable + kVariableLength;
  for (std::size_t length; *(path += std::strspn(path, kSeparators)) != '\0'; path += length) {
    length = std::strcspn(path, kSeparators);
    if (length >= kNameLength && std::memcmp(path + length - kNameLength, kName, kNameLength) == 0) visit(path, length);
  }
}

Request FindRequest(Words environment) {
  CheckedPage words, text;
  Request request;
  if (environment == nullptr) return {};
  for (;; ++request.count) {
    if (!words.CanRead(&environment[request.count])) return {};
    const char* const variable = environment[request.count];
    if (variable == nullptr) return request;
    std::size_t length = 0;
    while (length < kVariableLength && text.CanRead(variable + length) && variable[length] == kVariable[length])
      ++length;
    if (length != kVariableLength) continue;
    while (text.CanRead(variable + length) && variable[length] != '\0') ++length;
    if (!text.CanRead(variable + length)) return {};
    bool is_asked = false;
    ForEachPath(variable, [&](const char*, std::size_t) { is_asked = true; });
    if (!is_asked) continue;
    request.index = request.count;
    request.variable = variable;
    request.bytes = length + 1;
  }
}

bool IsServed(const Request& request, int program) {
  bool is_served = program >= 0 && TakesPreloads(program);
  ForEachPath(request.variable, [&](const char* path, std::size_t length) {
    char library[PATH_MAX];
    if (!is_served || length >= sizeof library) return static_cast<void>(is_served = false);
    std::memcpy(library, path, length);
    library[length] = '\0';
    is_served = CanBeMapped(library);
  });
  return is_served;
}

/// Copies the variable without the library; gives whether another one is left.
bool CopyWithout(const char* variable, char* copy) {
  char* end = copy;
  const char* rest = variable;
  ForEachPath(variable, [&](const char* path, std::size_t length) {
    const auto before = static_cast<std::size_t>(path - rest);
    std::memcpy(end, rest, before);
    end += before;
    rest = path + length;
    if (*rest != '\0') ++rest;
  });
  std::strcpy(end, rest);
  return copy[kVariableLength] != '\0';
}

/// What execveat(2) runs. The C library declares that no path is null, which compilers believe where they see the
/// caller.
__attribute__((noinline)) int OpenAt(int directory, const char* path) {
  if (CanRead(path) && *path == '\0') return fcntl(directory, F_DUPFD_CLOEXEC, 0);
  return OpenRegular(directory, path);
}

/// A mapping that exec leaves behind after vfork(2), where the child has no memory of its own: the thread's next start
/// takes it away.
struct Left {
  void* memory = nullptr;
  std::size_t bytes = 0;
  const void* frame = nullptr;  ///< of who uses it, unless it is left
  pid_t process = 0;            ///< the same
};
CREMA_THREAD_LOCAL Left t_left;

void* MapForStart(std::size_t bytes, const void* frame) {
  // In a signal's handler, or in a child that it starts: what an earlier child left is nobody's.
  const bool interrupts_user = frame < t_left.frame && (t_left.process == getpid() || t_left.process == getppid());
  if (t_left.memory != nullptr && !interrupts_user) munmap(t_left.memory, t_left.bytes);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!interrupts_user) t_left = memory == MAP_FAILED ? Left() : Left{memory, bytes, frame, getpid()};
  return memory;
}

void UnmapAfterStart(void* memory, std::size_t bytes) {
  const internal::KeptErrno kept_errno;
  munmap(memory, bytes);
  if (t_left.memory == memory) t_left = Left();
}

/// Calls `start(environment)`, where need be without the library. `open()` opens the program.
template <class Open, class Start>
int StartProgram(Words environment, Open open, Start start) {
  constexpr std::size_t kMostStackBytes = 4096;  // a thread may have 16 kB
  const int host_errno = errno;
  const Request request = FindRequest(environment);
  bool is_served = true;
  if (request.variable != nullptr) {
    const int program = open();
    is_served = IsServed(request, program);
    if (program >= 0) close(program);
  }
  errno = host_errno;
  if (is_served) return start(environment);
  const std::size_t bytes = (request.count + 1) * sizeof(char*) + request.bytes;
  const bool is_mapped = bytes > kMostStackBytes;
  void* const memory = is_mapped ? MapForStart(bytes, __builtin_frame_address(0)) : alloca(bytes);
  errno = host_errno;
  if (memory == MAP_FAILED) return start(environment);
  auto* const changed = static_cast<char**>(memory);
  auto* const copy = reinterpret_cast<char*>(changed + request.count + 1);
  std::memcpy(changed, environment, (request.count + 1) * sizeof(char*));
  changed[request.index] = copy;
  if (!CopyWithout(request.variable, copy)) {
    std::memmove(changed + request.index, changed + request.index + 1, (request.count - request.index) * sizeof(char*));
  }
  const int result = start(changed);
  if (is_mapped) UnmapAfterStart(memory, bytes);
  return result;
}

/// What starts sh(1) in here takes the environment of the process. Where the library is gone, no program can load it.
void LeaveOutOfOwnEnvironment() {
  static char changed[PATH_MAX];
  static std::atomic_flag is_changed = ATOMIC_FLAG_INIT;
  const internal::KeptErrno kept_errno;
  if (const Request request = FindRequest(environ); request.variable != nullptr) {
    const int shell = OpenProgram("/bin/sh", nullptr);
    if (!IsServed(request, shell) && request.bytes <= sizeof changed && !is_changed.test_and_set()) {
      CopyWithout(request.variable, changed);
      environ[request.index] = changed;
    }
    if (shell >= 0) close(shell);
  }
}

int OpenFound(const char* name) { return CanRead(name) ? OpenProgram(name, std::getenv("PATH")) : -1; }

}  // namespace
}  // namespace crema::allocations

using namespace crema::allocations;  // the names of the C library are in none

// The words of execl(3) and its relatives, up to the null pointer.
// NOLINTBEGIN(bugprone-macro-parentheses): names of variables
#define CREMA_WORDS(words, first, list)                                         \
  va_list list;                                                                 \
  va_start(list, first);                                                        \
  std::size_t count = 1;                                                        \
  while (va_arg(list, char*) != nullptr) ++count;                               \
  va_end(list);                                                                 \
  auto* const words = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  words[0] = const_cast<char*>(first);                                          \
  va_start(list, first);                                                        \
  for (std::size_t i = 1; i <= count; ++i) words[i] = va_arg(list, char*)
// NOLINTEND(bugprone-macro-parentheses)

// NOLINTBEGIN(readability-identifier-naming): the C library's names
// As the C library declares them: glibc writes `throw()`, musl nothing.
#ifdef __GLIBC__
#define CREMA_NOTHROW noexcept
#else
#define CREMA_NOTHROW
#endif
#define CREMA_INTERPOSED extern "C" __attribute__((visibility("default")))

CREMA_INTERPOSED int execve(const char* path, Words words, Words environment) CREMA_NOTHROW {
  return StartProgram(
      environment, [&] { return OpenRegular(AT_FDCWD, path); },
      [&](Words changed) { return Next().execve(path, words, changed); });
}

CREMA_INTERPOSED int execvpe(const char* file, Words words, Words environment) CREMA_NOTHROW {
  return StartProgram(
      environment, [&] { return OpenFound(file); },
      [&](Words changed) { return Next().execvpe(file, words, changed); });
}

CREMA_INTERPOSED int execv(const char* path, Words words) CREMA_NOTHROW { return execve(path, words, environ); }
CREMA_INTERPOSED int execvp(const char* file, Words words) CREMA_NOTHROW { return execvpe(file, words, environ); }

CREMA_INTERPOSED int execl(const char* path, const char* word, ...) CREMA_NOTHROW {
  CREMA_WORDS(words, word, list);
  va_end(list);
  return execve(path, words, environ);
}

CREMA_INTERPOSED int execlp(const char* file, const char* word, ...) CREMA_NOTHROW {
  CREMA_WORDS(words, word, list);
  va_end(list);
  return execvpe(file, words, environ);
}

CREMA_INTERPOSED int execle(const char* path, const char* word, ...) CREMA_NOTHROW {
  CREMA_WORDS(words, word, list);
  Words environment = va_arg(list, Words);
  va_end(list);
  return execve(path, words, environment);
}

CREMA_INTERPOSED int fexecve(int file, Words words, Words environment) CREMA_NOTHROW {
  return StartProgram(
      environment, [&] { return fcntl(file, F_DUPFD_CLOEXEC, 0); },
      [&](Words changed) { return Next().fexecve(file, words, changed); });
}

CREMA_INTERPOSED int execveat(int directory, const char* path, Words words, Words environment,
                              int flags) CREMA_NOTHROW {
  return StartProgram(
      environment, [&] { return OpenAt(directory, path); },
      [&](Words changed) { return Next().execveat(directory, path, words, changed, flags); });
}

CREMA_INTERPOSED int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, Words words, Words environment) {
  return StartProgram(
      environment, [&] { return OpenRegular(AT_FDCWD, path); },
      [&](Words changed) { return Next().posix_spawn(process, path, actions, attributes, words, changed); });
}

CREMA_INTERPOSED int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                                  const posix_spawnattr_t* attributes, Words words, Words environment) {
  return StartProgram(
      environment, [&] { return OpenFound(file); },
      [&](Words changed) { return Next().posix_spawnp(process, file, actions, attributes, words, changed); });
}

CREMA_INTERPOSED int system(const char* command) {
  LeaveOutOfOwnEnvironment();
  return Next().system(command);
}

CREMA_INTERPOSED FILE* popen(const char* command, const char* mode) {
  LeaveOutOfOwnEnvironment();
  return Next().popen(command, mode);
}
// NOLINTEND(readability-identifier-naming)
