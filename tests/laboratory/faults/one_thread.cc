// One thread works through all chunks, one after another, on a machine of several cores.
//
// expected: CPU in your code took all of the time; more cores help only if chunks run side by side.
// names: one after (the other|another)|side by side
// leads: compute-bound
// wrong: waiting-bound|chunks-too|straggler
#include "tests/laboratory/laboratory.h"

int main() {
  for (const laboratory::Piece& piece : laboratory::Cut("ttbar", 4, 20)) {
    crema::TrackMetrics chunk(piece.chunk());
    laboratory::Compute(20);
    chunk.SetEvents(piece.events);
  }
}
