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
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "loadable.h"
#include "loaded_objects.h"

namespace crema {
namespace allocations {
namespace {

using Words = char* const*;

constexpr char kVariable[] = "LD_PRELOAD=";
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

/// Where an environment asks for this library.
struct Request {
  std::size_t variable = 0;  ///< its index
  const char* path = nullptr;
  std::size_t length = 0;
};

Request FindRequest(Words environment) {
  for (std::size_t i = 0; environment != nullptr && environment[i] != nullptr; ++i) {
    if (std::strncmp(environment[i], kVariable, sizeof kVariable - 1) != 0) continue;
    const char* path = environment[i] + sizeof kVariable - 1;
    for (std::size_t length; *(path += std::strspn(path, ": ")) != '\0'; path += length) {
      length = std::strcspn(path, ": ");
      if (length >= kNameLength && std::memcmp(path + length - kNameLength, kName, kNameLength) == 0) {
        return {i, path, length};
      }
    }
  }
  return {};
}

bool IsServed(const Request& request, int program) {
  char library[PATH_MAX];
  if (program < 0 || request.length >= sizeof library) return false;
  std::memcpy(library, request.path, request.length);
  library[request.length] = '\0';
  return TakesPreloads(program) && CanBeMapped(library);
}

/// Copies the variable without the library; gives whether another one is left.
bool CopyWithout(const Request& request, const char* variable, char* copy) {
  const std::size_t before = static_cast<std::size_t>(request.path - variable);
  const char* const rest = request.path + request.length;
  std::memcpy(copy, variable, before);
  std::strcpy(copy + before, rest + (*rest == '\0' ? 0 : 1));
  return copy[sizeof kVariable - 1] != '\0';
}

/// What execveat(2) runs. The C library declares that no path is null, which compilers believe where they see the
/// caller.
__attribute__((noinline)) int OpenAt(int directory, const char* path) {
  if (path != nullptr && *path == '\0') return fcntl(directory, F_DUPFD_CLOEXEC, 0);
  return OpenRegular(directory, path);
}

/// Calls `start(environment)`, where need be without the library. `open()` opens the program.
template <class Open, class Start>
int StartProgram(Words environment, Open open, Start start) {
  constexpr std::size_t kMostStackBytes = 4096;  // a thread may have 16 kB
  const int host_errno = errno;
  const Request request = FindRequest(environment);
  bool is_served = true;
  if (request.path != nullptr) {
    const int program = open();
    is_served = IsServed(request, program);
    if (program >= 0) close(program);
    errno = host_errno;
  }
  if (is_served) return start(environment);
  const char* const variable = environment[request.variable];
  const std::size_t length = std::strlen(variable) + 1;
  std::size_t count = request.variable;
  while (environment[count] != nullptr) ++count;
  const std::size_t bytes = (count + 1) * sizeof(char*) + length;
  const bool is_mapped = bytes > kMostStackBytes;
  void* const memory =
      is_mapped ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : alloca(bytes);
  if (memory == MAP_FAILED) {
    errno = host_errno;
    return start(environment);
  }
  auto* const changed = static_cast<char**>(memory);
  auto* const copy = reinterpret_cast<char*>(changed + count + 1);
  std::memcpy(changed, environment, (count + 1) * sizeof(char*));
  changed[request.variable] = copy;
  if (!CopyWithout(request, variable, copy)) {
    std::memmove(changed + request.variable, changed + request.variable + 1,
                 (count - request.variable) * sizeof(char*));
  }
  const int result = start(changed);
  if (!is_mapped) return result;
  const int start_errno = errno;
  munmap(memory, bytes);
  errno = start_errno;
  return result;
}

/// What starts sh(1) in here takes the environment of the process. Where the library is gone, no program can load it.
void LeaveOutOfOwnEnvironment() {
  static char changed[PATH_MAX];
  static std::atomic_flag is_changed = ATOMIC_FLAG_INIT;
  const int host_errno = errno;
  const Request request = FindRequest(environ);
  if (request.path != nullptr) {
    const int shell = OpenProgram("/bin/sh", nullptr);
    char** const variable = &environ[request.variable];
    if (!IsServed(request, shell) && std::strlen(*variable) < sizeof changed && !is_changed.test_and_set()) {
      CopyWithout(request, *variable, changed);
      *variable = changed;
    }
    if (shell >= 0) close(shell);
  }
  errno = host_errno;
}

int OpenFound(const char* name) { return OpenProgram(name, std::getenv("PATH")); }

}  // namespace
}  // namespace allocations
}  // namespace crema

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
