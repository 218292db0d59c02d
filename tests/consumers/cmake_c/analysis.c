#include "crema_c.h"

int main(void) {
  crema_chunk_info info = {sizeof info, "ttbar", NULL, NULL, NULL, CREMA_UNKNOWN, CREMA_UNKNOWN};
  crema_chunk* chunk = crema_chunk_begin(&info);
  crema_section select = crema_section_enter("select");
  crema_section_exit(select);
  crema_chunk_set_events(chunk, 1000);
  crema_chunk_end(chunk);
  return 0;
}
