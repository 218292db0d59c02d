/* What the tasks run: one chunk of 100 events. With HOLD in the environment, its first tries wait for that file. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "crema_c.h"

int main(int argc, char** argv) {
  const long number = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  char file[32];
  snprintf(file, sizeof file, "f%ld.root", number);
  const crema_chunk_info info = {sizeof info, "ttbar", file, "Events", NULL, 0, 100};
  crema_chunk* chunk = crema_chunk_begin(&info);
  const char* hold = getenv("HOLD");
  while (hold != NULL && access(hold, F_OK) != 0) usleep(10000);
  crema_chunk_set_events(chunk, 100);
  crema_chunk_end(chunk);
  return 0;
}
