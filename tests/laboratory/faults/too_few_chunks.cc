// Six threads get eight files as whole chunks: in the second round four of them have nothing to do.
//
// expected: 8 chunks for 6 threads cannot be spread evenly: the cores were idle at the end.
// names: too-few-chunks|cannot be spread
// leads: long-tail|last chunk|waited
// wrong: chunks-too-small|oversubscribed|stragglers
// threads: 6
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(6, laboratory::Cut("ttbar", 8, 1, 50'000), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest(500 * laboratory::Scatter(piece.number));
    }
    crema::TrackSection select("select");
    laboratory::Rest(1200 * laboratory::Scatter(piece.number + 1));
    chunk.SetEvents(piece.events);
  });
}
