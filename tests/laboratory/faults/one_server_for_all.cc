// Six threads ask one server, which answers one request after another, each in 7 ms.
//
// expected: Most of the time threads waited in section read for something that they share.
// names: in section read|shared-bottleneck
// leads: waiting-bound
// wrong: chunks-too-small|oversubscribed|cpu-contention
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::Server server(7);
  laboratory::OnThreads(6, laboratory::Cut("ttbar", 8, 40), [&](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      server.Ask();
    }
    crema::TrackSection select("select");
    laboratory::Rest(8);
    chunk.SetEvents(piece.events);
  });
}
