// For 2.5 s of about 6 s, reading takes four times as long for all threads.
//
// expected: From 0:02 to 0:04 everything took about twice as long, blocked in section read.
// names: slow-spell
// leads: stragglers
// wrong: slow-file|slow-worker|skewed|chunks-too|oversubscribed
#include "tests/laboratory/laboratory.h"

int main() {
  const auto begin = std::chrono::steady_clock::now();
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 14, 15), [&](const laboratory::Piece& piece, int) {
    const std::chrono::duration<double> at = std::chrono::steady_clock::now() - begin;
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest((at.count() > 2 && at.count() < 4.5 ? 120 : 30) * laboratory::Scatter(piece.number));
    }
    crema::TrackSection select("select");
    laboratory::Rest(40 * laboratory::Scatter(piece.number + 1));
    chunk.SetEvents(piece.events);
  });
}
