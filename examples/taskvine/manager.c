/* A manager of TaskVine: 8 tasks of two cores each, each one chunk of a guarded program, on whatever workers come.
 *
 *   gcc manager.c -o manager -ltaskvine -ldttools -lssl -lcrypto -lm -lz
 *   ./manager PROGRAM      prints its port, a line for each task, and then its counts
 *
 * Debian 13 has what it needs in coop-computing-tools-dev, libssl-dev and zlib1g-dev.
 *
 * TaskVine writes its logs below vine-run-info. Its library has the GNU General Public License 2: a program that links
 * it, as this one, may be handed on under that licence only. */
#include <inttypes.h>
#include <stdio.h>

#include "cctools/taskvine.h"

enum { kTasks = 8 };

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: manager PROGRAM\n");
    return 2;
  }
  struct vine_manager* manager = vine_create(0); /* any free port */
  if (manager == NULL) return 1;
  printf("%d\n", vine_port(manager));
  fflush(stdout);
  struct vine_file* program = vine_declare_file(manager, argv[1], VINE_CACHE_LEVEL_WORKFLOW, 0);
  for (int number = 0; number < kTasks; ++number) {
    char command[64];
    snprintf(command, sizeof command, "./analysis %d", number);
    struct vine_task* task = vine_task_create(command);
    vine_task_add_input(task, program, "analysis", 0);
    vine_task_set_category(task, "analysis");
    vine_task_set_cores(task, 2);
    vine_task_set_memory(task, 50);
    vine_task_set_disk(task, 50);
    vine_submit(manager, task);
  }
  int failed = 0;
  while (!vine_empty(manager)) {
    struct vine_task* task = vine_wait(manager, 5);
    if (task == NULL) continue;
    printf("{\"task\":%d,\"exit\":%d,\"microseconds\":%" PRId64 "}\n", vine_task_get_id(task),
           vine_task_get_exit_code(task), vine_task_get_metric(task, "time_workers_execute_last"));
    failed += vine_task_get_exit_code(task) != 0;
    vine_task_delete(task);
  }
  struct vine_stats stats;
  vine_get_stats(manager, &stats);
  printf("{\"done\":%d,\"dispatched\":%d,\"joined\":%d,\"lost\":%d,\"failed\":%d}\n", stats.tasks_done,
         stats.tasks_dispatched, stats.workers_joined, stats.workers_lost, failed);
  vine_delete(manager);
  return failed == 0 ? 0 : 1;
}
