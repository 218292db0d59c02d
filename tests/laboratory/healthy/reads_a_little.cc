// A seventh of the time is waiting for reads, as in many analyses.
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 25), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest(2.5 * laboratory::Scatter(piece.number));
      laboratory::Compute(2);
    }
    for (const char* name : {"select", "fill"}) {
      crema::TrackSection section(name);
      laboratory::Compute(8 * laboratory::Scatter(piece.number + 1));
    }
    chunk.SetEvents(piece.events);
  });
}
