// The last chunk has 40 times the events of the others. Three threads wait for the fourth.
//
// expected: The run waited for one chunk at its end, with 40 times the events of the median.
// names: oversized|40 000 events|one chunk
// leads: long-tail|last chunk
// wrong: chunks-too-small|oversubscribed|slow-
// threads: 4
#include "tests/laboratory/laboratory.h"

int main() {
  auto pieces = laboratory::Cut("ttbar", 8, 15);
  pieces.push_back({"ttbar", "ttbar/part8.root", 0, 40'000, 120, 8});
  laboratory::OnThreads(4, pieces, [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest(0.015 * static_cast<double>(piece.events));
    }
    crema::TrackSection select("select");
    laboratory::Rest(0.04 * static_cast<double>(piece.events));
    chunk.SetEvents(piece.events);
  });
}
