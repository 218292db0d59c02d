// Every 24th chunk also writes a checkpoint, and waits one second for it.
//
// expected: 5 stragglers took 5 s longer than chunks of the same size do, blocked in section checkpoint.
// names: section checkpoint|checkpoint
// leads: straggler
// wrong: slow-file|slow-worker|chunks-too|too-few|oversubscribed
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 10, 12), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection select("select");
      laboratory::Rest(60 * laboratory::Scatter(piece.number));
    }
    if (piece.number % 24 == 11) {
      crema::TrackSection checkpoint("checkpoint");
      laboratory::Rest(1000);
    }
    chunk.SetEvents(piece.events);
  });
}
