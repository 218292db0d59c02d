// A second loop over the same files does much less work. Each loop is a pass of its own.
#include "tests/laboratory/laboratory.h"

int main() {
  for (const char* pass : {"derive", "apply"}) {
    laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 12), [&](const laboratory::Piece& piece, int) {
      crema::Chunk range = piece.chunk();
      range.pass = pass;
      crema::TrackMetrics chunk(range);
      for (const char* name : {"read", "select", "fill"}) {
        crema::TrackSection section(name);
        laboratory::Compute(*pass == 'd' ? 10 : 3);
      }
      chunk.SetEvents(piece.events);
    });
  }
}
