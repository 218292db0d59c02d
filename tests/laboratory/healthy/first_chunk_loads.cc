// The first chunk of each thread loads calibrations.
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 25), [](const laboratory::Piece& piece, int) {
    thread_local bool is_first = true;
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection calibrate("calibrate");
      laboratory::Compute(is_first ? 150 : 6);
      is_first = false;
    }
    for (const char* name : {"select", "fill"}) {
      crema::TrackSection section(name);
      laboratory::Compute(8);
    }
    chunk.SetEvents(piece.events);
  });
}
