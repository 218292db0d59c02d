// Chunks one after another, each with a team of two that works all the time.
#include "tests/laboratory/laboratory.h"

int main() {
  for (const laboratory::Piece& piece : laboratory::Cut("ttbar", 8, 20)) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection cluster("cluster");
      std::thread other([handle = chunk.handle()] {
        crema::TrackHelper helper(handle);
        crema::TrackSection jets("jets");
        laboratory::Compute(16);
      });
      {
        crema::TrackSection jets("jets");
        laboratory::Compute(16);
      }
      other.join();
    }
    crema::TrackSection fill("fill");
    laboratory::Compute(1);
    chunk.SetEvents(piece.events);
  }
}
