// Starts a program with two arguments, in each way that the C library has.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { kWays = 14 };

static void Start(int way, char* path, char* name) {
  char* words[] = {path, "one", "two", NULL};
  char command[4096];
  snprintf(command, sizeof command, "%s one two", path);
  pid_t process = 0;
  FILE* stream = NULL;
  switch (way) {
    case 0:
      execv(path, words);
      break;
    case 1:
      execve(path, words, environ);
      break;
    case 2:
      execvp(name, words);
      break;
    case 3:
      execvpe(name, words, environ);
      break;
    case 4:
      execl(path, path, "one", "two", NULL);
      break;
    case 5:
      execlp(name, path, "one", "two", NULL);
      break;
    case 6:
      execle(path, path, "one", "two", NULL, environ);
      break;
    case 7:
      fexecve(open(path, O_RDONLY), words, environ);
      break;
    case 8:
      execveat(AT_FDCWD, path, words, environ, 0);
      break;
    case 9:
      execveat(open(path, O_RDONLY), "", words, environ, AT_EMPTY_PATH);
      break;
    case 10:
      posix_spawn(&process, path, NULL, NULL, words, environ);
      break;
    case 11:
      posix_spawnp(&process, name, NULL, NULL, words, environ);
      break;
    case 12:
      process = system(command);
      break;
    case 13:
      stream = popen(command, "w");
      break;
  }
  if (stream != NULL) pclose(stream);
  if (process > 0) waitpid(process, NULL, 0);
  _exit(0);
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  char* name = strrchr(arguments[1], '/') + 1;
  for (int way = 0; way < kWays; ++way) {
    const pid_t child = way % 2 == 0 ? fork() : vfork();
    if (child == 0) Start(way, arguments[1], name);
    waitpid(child, NULL, 0);
  }
  return 0;
}
