// One of four processes is killed inside a chunk, half-way.
//
// expected: 1 of 4 workers vanished, and one chunk has no result.
// names: 1 of 4 workers
// leads: worker-loss|no result
// wrong: chunks-too-small|waiting-bound
#include <csignal>

#include "tests/laboratory/laboratory.h"

int main() {
  int done = 0;
  laboratory::OnProcesses(
      4, laboratory::Cut("ttbar", 8, 15),
      [&](const laboratory::Piece& piece, int process) {
        crema::TrackMetrics chunk(piece.chunk());
        {
          crema::TrackSection read("read");
          laboratory::Rest(25 * laboratory::Scatter(piece.number));
        }
        if (process == 2 && ++done == 15) kill(getpid(), SIGKILL);
        crema::TrackSection select("select");
        laboratory::Rest(45 * laboratory::Scatter(piece.number + 1));
        chunk.SetEvents(piece.events);
      },
      [](int) {});
}
