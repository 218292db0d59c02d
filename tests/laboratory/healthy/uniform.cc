// All chunks do the same in three sections.
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 20), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    for (const char* name : {"read", "select", "fill"}) {
      crema::TrackSection section(name);
      laboratory::Compute(8);
    }
    chunk.SetEvents(piece.events);
  });
}
