// Six threads begin half a second apart. They ask one server, which answers each request in 7 ms.
//
// expected: Chunks wait for something that all of them share: with each further thread they are blocked for
//     longer.
// names: shared-bottleneck
// leads: in section read|waiting-bound
// wrong: chunks-too-small|oversubscribed|cpu-contention|slow-worker
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::Server server(7);
  laboratory::OnThreads(6, laboratory::Cut("ttbar", 10, 60), [&](const laboratory::Piece& piece, int thread) {
    thread_local bool is_there = false;
    if (!is_there) laboratory::Rest(500 * thread);
    is_there = true;
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
