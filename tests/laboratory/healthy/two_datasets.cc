// Events of one dataset cost 2.5 times those of the other.
#include "tests/laboratory/laboratory.h"

int main() {
  const auto pieces = laboratory::Cut("ttbar", 5, 20) + laboratory::Cut("zjets", 5, 20);
  laboratory::OnThreads(2, pieces, [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    for (const char* name : {"read", "select", "fill"}) {
      crema::TrackSection section(name);
      laboratory::Compute((piece.dataset == "zjets" ? 10 : 4) * laboratory::Scatter(piece.number));
    }
    chunk.SetEvents(piece.events);
  });
}
