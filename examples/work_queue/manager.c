/* A manager of Work Queue: 8 tasks, each one chunk of a guarded program, on whatever workers come.
 *
 *   gcc manager.c -o manager -lwork_queue -ldttools -lm -lz        (Debian: coop-computing-tools-dev)
 *   ./manager PROGRAM RECORDS [NAME]                               prints its port, and at the end what it counted
 *
 * With a NAME it reports to the catalog at CATALOG_HOST, CATALOG_PORT once a minute.
 * It asks for the log of transactions that crema reads, and sets for each task where to record. Work Queue's library
 * has the GNU General Public License 2: pass on programs that link it, as this one, under that licence only. */
#include <stdio.h>
#include <string.h>

#include "cctools/work_queue.h"

enum { kTasks = 8 };

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: manager PROGRAM RECORDS [NAME]\n");
    return 2;
  }
  struct work_queue* queue = work_queue_create(0); /* any free port */
  if (queue == NULL) return 1;
  work_queue_specify_transactions_log(queue, "transactions.log");
  if (argc == 4) work_queue_specify_name(queue, argv[3]);
  printf("%d\n", work_queue_port(queue));
  fflush(stdout);
  for (int number = 0; number < kTasks; ++number) {
    char command[64];
    snprintf(command, sizeof command, "./analysis %d", number);
    struct work_queue_task* task = work_queue_task_create(command);
    work_queue_task_specify_file(task, argv[1], "analysis", WORK_QUEUE_INPUT, WORK_QUEUE_CACHE);
    work_queue_task_specify_environment_variable(task, "CREMA_DIR", argv[2]);
    work_queue_task_specify_category(task, "analysis");
    work_queue_task_specify_cores(task, 1);
    work_queue_task_specify_memory(task, 50);
    work_queue_task_specify_disk(task, 50);
    work_queue_submit(queue, task);
  }
  int failed = 0;
  while (!work_queue_empty(queue)) {
    struct work_queue_task* task = work_queue_wait(queue, 5);
    if (task == NULL) continue;
    failed += task->return_status != 0;
    work_queue_task_delete(task);
  }
  struct work_queue_stats stats;
  work_queue_get_stats(queue, &stats);
  printf("{\"done\":%d,\"dispatched\":%d,\"joined\":%d,\"lost\":%d,\"failed\":%d}\n", stats.tasks_done,
         stats.tasks_dispatched, stats.workers_joined, stats.workers_lost, failed);
  work_queue_delete(queue);
  return failed == 0 ? 0 : 1;
}
