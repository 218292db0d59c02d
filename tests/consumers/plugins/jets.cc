#include "crema/crema.h"

extern "C" __attribute__((visibility("default"))) void run() {
  crema::TrackSection section("jets");
  crema::RecordMetric("jets", 4, "count");
}
