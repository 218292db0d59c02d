// After the last chunk one thread merges histograms for as long as the chunks took, in a section.
//
// expected: After the last chunk, section merge took 1.5 s of 3 s on one core: nothing else ran meanwhile.
// names: section merge|merge
// leads: after the last chunk|shutdown
// wrong: between chunks|chunks-too|too-few|oversubscribed
// threads: 4
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 8, 12), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    crema::TrackSection select("select");
    laboratory::Rest(60 * laboratory::Scatter(piece.number));
    chunk.SetEvents(piece.events);
  });
  crema::TrackSection merge("merge");
  laboratory::Rest(1500);
}
