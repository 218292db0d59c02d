// Six threads add to one histogram under a mutex. Each holds it for 12 ms of a chunk of 20 ms, mostly asleep.
//
// expected: Threads wait for each other in section fill: they were blocked for most of the time.
// names: in section fill|shared-bottleneck
// leads: waiting-bound
// wrong: cpu-contention|oversubscribed|chunks-too-small
#include "tests/laboratory/laboratory.h"

int main() {
  std::mutex histogram;
  laboratory::OnThreads(6, laboratory::Cut("ttbar", 8, 20), [&](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection select("select");
      laboratory::Rest(8 * laboratory::Scatter(piece.number));
    }
    {
      crema::TrackSection fill("fill");
      const std::lock_guard<std::mutex> lock(histogram);
      laboratory::Rest(12 * laboratory::Scatter(piece.number + 1));
    }
    chunk.SetEvents(piece.events);
  });
}
