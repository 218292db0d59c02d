// A run of a second and a half.
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 4, 15), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    for (const char* name : {"read", "select", "fill"}) {
      crema::TrackSection section(name);
      laboratory::Compute(8);
    }
    chunk.SetEvents(piece.events);
  });
}
