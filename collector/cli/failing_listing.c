// Preloaded: the listing of the directory in FAILING_LISTING ends with EIO after two entries, as on a disk that fails.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dirent* readdir(DIR* directory) {
  static int entries = 0;
  struct dirent* (*const next)(DIR*) = (struct dirent * (*)(DIR*)) dlsym(RTLD_NEXT, "readdir");
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd(directory));
  const ssize_t size = readlink(link, path, sizeof path - 1);
  const char* const failing = getenv("FAILING_LISTING");
  if (size > 0 && failing != NULL && strlen(failing) == (size_t)size && memcmp(path, failing, (size_t)size) == 0 &&
      entries++ >= 2) {
    errno = EIO;
    return NULL;
  }
  return next(directory);
}
