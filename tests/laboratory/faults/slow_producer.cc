// A producer hands out a piece every 25 ms. Four threads need 30 ms for each, and wait for the next one most of the
// time.
//
// expected: Between chunks the threads had nothing to do for 70 % of the time: too little was queued.
// names: between (chunks|them)|idle-workers|queued
// leads: starved|idle
// wrong: chunks-too|too-few|slow-|straggler|waiting-bound
// threads: 4
#include "tests/laboratory/laboratory.h"

int main() {
  std::atomic<int> made{0};
  const auto pieces = laboratory::Cut("ttbar", 8, 12);
  std::thread producer([&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      laboratory::Rest(25);
      ++made;
    }
  });
  laboratory::OnThreads(4, pieces, [&](const laboratory::Piece& piece, int) {
    while (piece.number >= made) laboratory::Rest(1);
    crema::TrackMetrics chunk(piece.chunk());
    crema::TrackSection select("select");
    laboratory::Rest(30);
    chunk.SetEvents(piece.events);
  });
  producer.join();
}
