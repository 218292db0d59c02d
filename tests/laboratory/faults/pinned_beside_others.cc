// Four threads read and compute; one is bound to a core that other programs keep busy.
//
// expected: One thread waited for a CPU that other programs used.
// names: runnable but got no CPU|waiting for a CPU|short of CPU
// leads: slow-worker
// wrong: chunks-too-small|too-few
// beside: 3 programs on core 1
#include <sched.h>

#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 8, 20), [](const laboratory::Piece& piece, int thread) {
    thread_local bool is_bound = false;
    if (!is_bound) {
      is_bound = true;
      cpu_set_t core;
      CPU_ZERO(&core);
      CPU_SET(thread == 3 ? 1 : 0, &core);
      sched_setaffinity(0, sizeof core, &core);
    }
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest(24);
    }
    crema::TrackSection select("select");
    laboratory::Compute(8);
    chunk.SetEvents(piece.events);
  });
}
