// A chunk opens its file for 1 ms and works for 1 ms. The last chunk of each file is shorter.
//
// expected: Chunks are too small: half of the time is a fixed cost of each chunk.
// names: chunks-too-small
// leads: section open
// wrong: oversubscribed|stragglers
#include "tests/laboratory/laboratory.h"

int main() {
  std::vector<laboratory::Piece> pieces = laboratory::Cut("ttbar", 30, 100, 100);
  for (laboratory::Piece& piece : pieces) piece.events = piece.first == 9900 ? 30 : 100;
  laboratory::OnThreads(4, pieces, [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection open("open");
      laboratory::Rest(1);
    }
    crema::TrackSection select("select");
    laboratory::Rest(0.01 * static_cast<double>(piece.events));
    chunk.SetEvents(piece.events);
  });
}
