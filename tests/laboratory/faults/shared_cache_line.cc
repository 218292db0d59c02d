// Two threads count in neighbouring words of one cache line, without a lock. Counting takes most of each chunk.
//
// expected: Section count takes most of the chunks' time, all of it on a CPU: look there first.
// names: section count
// wrong: waiting-bound|shared-bottleneck
#include "tests/laboratory/laboratory.h"

int main() {
  alignas(64) static std::atomic<std::int64_t> counts[8];
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 40), [](const laboratory::Piece& piece, int thread) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection select("select");
      laboratory::Compute(4);
    }
    {
      crema::TrackSection count("count");
      for (int i = 0; i < 600'000; ++i) counts[thread].fetch_add(1, std::memory_order_relaxed);
    }
    chunk.SetEvents(piece.events);
  });
}
