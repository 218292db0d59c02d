#include <stdio.h>

#include "crema_c.h"

static double process(long first, long last) {
  double sum = 0;
  for (long event = first; event < last; ++event) sum += (double)(event % 97);
  return sum;
}

int main(void) {
  double sum = 0;
  for (long first = 0; first < 30000; first += 10000) {
    crema_chunk_info info = {sizeof info, "ttbar", "events.root", NULL, NULL, first, first + 10000};
    crema_chunk* chunk = crema_chunk_begin(&info);
    crema_section select = crema_section_enter("select"); /* sections nest: leave the inner one first */
    sum += process(first, first + 10000);
    crema_section_exit(select);
    crema_record_metric("jets", 4, "count");
    crema_record_cut("all", 10000);
    crema_chunk_add_bytes_read(chunk, 40000, 120000); /* as stored, and decompressed */
    crema_chunk_set_events(chunk, 10000);
    if (sum < 0) crema_chunk_fail(chunk, "the sum is negative");
    crema_chunk_end(chunk);
  }
  crema_scope* merge = crema_span_begin("reduce");
  printf("%.0f\n", sum);
  crema_scope_end(merge);
  return 0;
}
