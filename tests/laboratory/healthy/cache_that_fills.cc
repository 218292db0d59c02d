// A cache fills in the first third of the run, and stays.
#include "tests/laboratory/laboratory.h"

int main() {
  std::mutex mutex;
  std::vector<std::vector<char>> cache;
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 25), [&](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      if (piece.number < 66) {
        const std::lock_guard<std::mutex> lock(mutex);
        cache.emplace_back(2 << 20, 1);
      }
      laboratory::Compute(7);
    }
    for (const char* name : {"select", "fill"}) {
      crema::TrackSection section(name);
      laboratory::Compute(8);
    }
    chunk.SetEvents(piece.events);
  });
}
