// A section is opened for each of 400,000 events of a chunk, and does nearly nothing.
//
// expected: Measuring itself took 30 % of the chunks' time.
// names: instrumentation-heavy|measuring itself
// leads: section every event
// wrong: chunks-too|too-few|slow-|waiting-bound
#include "tests/laboratory/laboratory.h"

int main() {
  std::atomic<std::int64_t> sum{0};
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 25, 400'000), [&](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    std::int64_t own = 0;
    for (std::int64_t event = 0; event < piece.events; ++event) {
      crema::TrackSection section("every event");
      own += event * own % 7919;
    }
    sum += own;
    chunk.SetEvents(piece.events);
  });
}
