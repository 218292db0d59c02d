// A program that begins to record before main. Prints a line, and ends with 3.
#include <cstdio>

#include "crema/crema.h"

namespace {

/// Does what static objects of a library may do.
struct EarlyAndLate {
  EarlyAndLate() {
    crema::TrackMetrics metrics("static initialiser");
    crema::TrackSection section("early");
    crema::RecordMetric("objects", 1, "count");
  }
  ~EarlyAndLate() {
    crema::TrackMetrics metrics("static destructor");
    crema::TrackSection section("late");
  }
};
const EarlyAndLate kObject;

}  // namespace

int main() {
  const crema::TrackMetrics metrics("main");
  const crema::TrackSection section("prints");
  std::puts("the other program's line");
  return 3;
}
