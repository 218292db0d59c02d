R__LOAD_LIBRARY(libcrema_cpp.so)
#include "crema/crema.h"

void macro() {
  crema::TrackMetrics chunk({"ttbar", "events.root", 0, 1000});
  {
    crema::TrackSection select("select");
    crema::RecordMetric("jets", 4, "count");
  }
  chunk.SetEvents(1000);
}
