// Reading one of twelve files takes ten times as long.
//
// expected: ttbar/part7.root took several times as long as chunks of other files, blocked in section read.
// names: part7
// leads: slow-file|in section read
// wrong: chunks-too|oversubscribed|slow-worker
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 12, 10), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest((piece.of_file == 7 ? 250 : 25) * laboratory::Scatter(piece.number));
    }
    crema::TrackSection select("select");
    laboratory::Rest(35 * laboratory::Scatter(piece.number + 1));
    chunk.SetEvents(piece.events);
  });
}
