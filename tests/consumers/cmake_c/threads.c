#include <pthread.h>
#include <stdio.h>

#include "crema_c.h"

struct part { /* of a chunk, for a thread that helps */
  crema_chunk_handle chunk;
  long first, last;
  double sum;
};

struct step { /* of an event, for the thread of the next task */
  crema_event* event;
  crema_ready ready;
  double sum;
};

static double process(long first, long last) {
  double sum = 0;
  for (long event = first; event < last; ++event) sum += (double)(event % 97);
  return sum;
}

static void* help(void* argument) {
  struct part* part = argument;
  crema_scope* helper = crema_helper_begin(part->chunk); /* from here on this thread works for the chunk */
  crema_section select = crema_section_enter("select");
  part->sum = process(part->first, part->last);
  crema_section_exit(select);
  crema_scope_end(helper);
  return NULL;
}

static void* fit(void* argument) {
  struct step* step = argument;
  crema_scope* task = crema_task_begin(crema_event_get_handle(step->event), "fit", &step->ready);
  step->sum += process(0, 10000);
  crema_scope_end(task);
  crema_event_set_events(step->event, 1);
  crema_event_end(step->event); /* an event ends on any thread */
  return NULL;
}

int main(void) {
  pthread_t thread;
  crema_chunk_info info = {sizeof info, "ttbar", "events.root", NULL, NULL, 0, 20000};
  crema_chunk* chunk = crema_chunk_begin(&info);
  struct part part = {crema_chunk_get_handle(chunk), 10000, 20000, 0};
  if (pthread_create(&thread, NULL, help, &part) != 0) return 1;
  double sum = process(0, 10000);
  pthread_join(thread, NULL); /* before the chunk ends */
  crema_chunk_set_events(chunk, 20000);
  crema_chunk_end(chunk);

  crema_chunk_info raw = {sizeof raw, "raw", "raw.root", NULL, NULL, 0, 1};
  struct step step = {.event = crema_event_begin(&raw, 0)};
  crema_scope* read = crema_task_begin(crema_event_get_handle(step.event), "read", NULL);
  step.sum = process(0, 100);
  crema_scope_end(read);
  step.ready = crema_mark_ready(crema_event_get_handle(step.event), "fit"); /* fit could run from now on */
  if (pthread_create(&thread, NULL, fit, &step) != 0) return 1;
  pthread_join(thread, NULL);
  printf("%.0f\n", sum + part.sum + step.sum);
  return 0;
}
