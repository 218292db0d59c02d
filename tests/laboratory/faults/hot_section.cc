// Two thirds of the time are in a section two levels deep.
//
// expected: Section select/jets/overlap takes 65 % of the chunks' time.
// names: overlap
// leads: hot-section
// wrong: cpu-contention|chunks-too|waiting
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 12), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Compute(5);
    }
    crema::TrackSection select("select");
    {
      crema::TrackSection jets("jets");
      laboratory::Compute(2);
      crema::TrackSection overlap("overlap");
      laboratory::Compute(20);
    }
    crema::TrackSection muons("muons");
    laboratory::Compute(3);
    chunk.SetEvents(piece.events);
  });
}
