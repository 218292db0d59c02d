// All chunks of one file fail, each twice.
//
// expected: 10 chunks have no result (not a basket), all of ttbar/part5.root.
// names: part5
// leads: failing-chunks|no result|chunks failed
// wrong: slow-|waiting-bound|oversubscribed|chunks-too
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 8, 10), [](const laboratory::Piece& piece, int) {
    for (int attempt = 0; attempt < (piece.of_file == 5 ? 2 : 1); ++attempt) {
      crema::TrackMetrics chunk(piece.chunk());
      crema::TrackSection select("select");
      laboratory::Rest(60);
      if (piece.of_file == 5) {
        chunk.Fail("not a basket");
      } else {
        chunk.SetEvents(piece.events);
      }
    }
  });
}
