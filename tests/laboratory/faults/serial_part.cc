// In each chunk, owner and helper work side by side for 25 ms. Then the owner works alone for 75 ms.
//
// expected: Inside chunks one core was free for 37 % of the time: most of it while section serial ran alone.
// names: section serial|inside (its |the )?chunks
// leads: helper
// wrong: between chunks|idle-workers|chunks-too|too-few
// threads: 2
#include "tests/laboratory/laboratory.h"

int main() {
  for (const laboratory::Piece& piece : laboratory::Cut("ttbar", 2, 12)) {
    crema::TrackMetrics chunk(piece.chunk());
    crema::TrackSection all("all");
    std::thread other([handle = chunk.handle()] {
      crema::TrackHelper helper(handle);
      crema::TrackSection parallel("parallel");
      laboratory::Rest(25);
    });
    {
      crema::TrackSection parallel("parallel");
      laboratory::Rest(25);
    }
    {
      crema::TrackSection serial("serial");
      laboratory::Rest(75);
    }
    other.join();
    chunk.SetEvents(piece.events);
  }
}
