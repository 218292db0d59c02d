/* Preloaded into `crema`: kills it before its Nth step on files (KILL_AT), by SIGKILL or KILL_WITH, and lets exchanges
   of directories fail as on a file system without them (NO_EXCHANGE). Steps are what changes names or contents. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static void Step(void) {
  static int steps = 0;
  const char* at = getenv("KILL_AT");
  if (at == NULL || strcmp(program_invocation_short_name, "crema") != 0) return;
  if (++steps != atoi(at)) return;
  const char* with = getenv("KILL_WITH");
  kill(getpid(), with == NULL ? SIGKILL : atoi(with));
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rename(const char* from, const char* to) { return Step(), NEXT(rename)(from, to); }

int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
  Step();
  if (getenv("NO_EXCHANGE") != NULL) return errno = EINVAL, -1;
  return NEXT(renameat2)(from_at, from, to_at, to, flags);
}

int mkdir(const char* path, mode_t mode) { return Step(), NEXT(mkdir)(path, mode); }
int rmdir(const char* path) { return Step(), NEXT(rmdir)(path); }
int unlink(const char* path) { return Step(), NEXT(unlink)(path); }
int unlinkat(int at, const char* path, int flags) { return Step(), NEXT(unlinkat)(at, path, flags); }
int remove(const char* path) { return Step(), NEXT(remove)(path); }
int link(const char* from, const char* to) { return Step(), NEXT(link)(from, to); }
int fsync(int descriptor) { return Step(), NEXT(fsync)(descriptor); }
int chmod(const char* path, mode_t mode) { return Step(), NEXT(chmod)(path, mode); }

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (descriptor > 2) Step();
  return NEXT(write)(descriptor, bytes, size);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if ((flags & O_CREAT) != 0) Step();
  return NEXT(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if ((flags & O_CREAT) != 0) Step();
  return NEXT(open64)(path, flags, mode);
}
