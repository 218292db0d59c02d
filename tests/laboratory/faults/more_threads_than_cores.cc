// Eight threads compute on a machine of two cores.
//
// expected: Threads were runnable but got no CPU for most of the time: more of them computed than there were
//     cores.
// names: more of them|more threads|oversubscribed|got no CPU
// leads: cpu-contention
// wrong: waiting-bound|slow-|straggler
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(8, laboratory::Cut("ttbar", 8, 12), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Compute(10);
    }
    crema::TrackSection select("select");
    laboratory::Compute(35 * laboratory::Scatter(piece.number));
    chunk.SetEvents(piece.events);
  });
}
