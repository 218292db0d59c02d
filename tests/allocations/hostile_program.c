// A program that makes bad requests to the kernel. It prints the same with and without crema. `pointers`: bad pointers
// to exec(3). `vfork PROGRAM`: many starts by vfork(2), with a large environment. `strict`: allocates in a thread that
// may only read, write and end.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void WaitFor(const char* what, pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  printf("%s: status %x\n", what, (unsigned)status);
  fflush(stdout);
}

enum { kExecs = 6 };

static int Exec(int way, char* path, char** words, char** environment) {
  switch (way) {
    case 0:
      return execve(path, words, environment);
    case 1:
      return execvpe(path, words, environment);
    case 2:
      return execle(path, path, NULL, environment);
    case 3:
      return fexecve(open("/bin/echo", O_RDONLY), words, environment);
    case 4:
      return execveat(AT_FDCWD, path, words, environment, 0);
    default:
      return execveat(open("/bin/echo", O_RDONLY), "", words, environment, AT_EMPTY_PATH);
  }
}

static void TryAll(const char* what, char* path, char** words, char** environment) {
  pid_t process;
  printf("%s: posix_spawn gives %d\n", what, posix_spawn(&process, path, NULL, NULL, words, environment));
  for (int way = 0; way < kExecs; ++way) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const int result = Exec(way, path, words, environment);
      printf("%s: %d gives %d with errno %d\n", what, way, result, errno);
      fflush(stdout);
      _exit(0);
    }
    WaitFor(what, child);
  }
}

static void HandBadPointers(void) {
  char program[] = "/bin/echo";
  char* words[] = {program, NULL};
  char* const pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const end = pages + 4096;
  mprotect(end, 4096, PROT_NONE);
  char** const without_end = (char**)end - 1;
  *without_end = program;
  char* const cut = end - 20;
  memcpy(cut, "LD_PRELOAD=/a/b/c/d/e", 20);
  char* bad_word[] = {(char*)8, NULL};
  char* cut_word[] = {cut, NULL};
  TryAll("no environment", program, words, (char**)8);
  TryAll("an environment without an end", program, words, without_end);
  TryAll("a bad word", program, words, bad_word);
  TryAll("a word without an end", program, words, cut_word);
  char* volatile bad_path = (char*)8;  // compilers warn of one that they know
  printf("a bad path: %d\n", execve(bad_path, words, environ) == -1 && errno == EFAULT);
  printf("a bad path: %d\n", execveat(AT_FDCWD, bad_path, words, environ, 0) == -1 && errno == EFAULT);
}

static long Pages(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld", &pages) != 1) abort();
  fclose(file);
  return pages;
}

static void StartOften(char* path) {
  enum { kStarts = 200, kVariables = 2000 };
  char name[32];
  char* words[] = {path, NULL};
  for (int i = 0; i < kVariables; ++i) {
    snprintf(name, sizeof name, "VARIABLE_%d", i);
    setenv(name, "with a value", 1);
  }
  const long before = Pages();
  for (int i = 0; i < kStarts; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      execv(path, words);
      _exit(127);
    }
    waitpid(child, NULL, 0);
  }
  printf("grown by a page a start: %d\n", Pages() - before >= kStarts);
}

static void AllocateConfined(void) {
  enum { kBlocks = 4000 };
  static void* blocks[kBlocks];
  const pid_t child = fork();
  if (child == 0) {
    // Half of them are free again, so that the allocator needs no memory from the kernel.
    for (int i = 0; i < kBlocks; ++i) blocks[i] = malloc(24);
    for (int i = 0; i < kBlocks; i += 2) free(blocks[i]);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) syscall(SYS_exit, 1);
    for (int i = 0; i < kBlocks; i += 2) blocks[i] = malloc(i % 4 == 0 ? 8 : 24);
    for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
    syscall(SYS_exit, 0);
  }
  WaitFor("strict", child);
}

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "pointers") == 0) HandBadPointers();
  if (strcmp(what, "vfork") == 0 && count > 2) StartOften(arguments[2]);
  if (strcmp(what, "strict") == 0) AllocateConfined();
  return 0;
}
