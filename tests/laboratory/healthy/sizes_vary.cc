// Chunks of 200 to 2,200 events, whose time is in proportion.
#include "tests/laboratory/laboratory.h"

int main() {
  auto pieces = laboratory::Cut("ttbar", 8, 20, 2500);
  for (laboratory::Piece& piece : pieces) piece.events = 200 + 500 * (piece.number * 7 % 5);
  laboratory::OnThreads(2, pieces, [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    for (const char* name : {"read", "select", "fill"}) {
      crema::TrackSection section(name);
      laboratory::Compute(0.007 * static_cast<double>(piece.events) * laboratory::Scatter(piece.number));
    }
    chunk.SetEvents(piece.events);
  });
}
