// Two threads compute. Three quarters of each chunk's work are done under one mutex, so that one core is mostly
// idle.
//
// expected: Threads wait for each other in section fill: 40 % of the time they were blocked there.
// names: in section fill|shared-bottleneck
// leads: waiting-bound
// wrong: cpu-contention|oversubscribed|chunks-too-small
#include "tests/laboratory/laboratory.h"

int main() {
  std::mutex histogram;
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 20), [&](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection select("select");
      laboratory::Compute(3 * laboratory::Scatter(piece.number));
    }
    {
      crema::TrackSection fill("fill");
      const std::lock_guard<std::mutex> lock(histogram);
      laboratory::Compute(9 * laboratory::Scatter(piece.number + 1));
    }
    chunk.SetEvents(piece.events);
  });
}
