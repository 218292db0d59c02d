// All threads wait at the end of each round of four chunks. One chunk of each round takes three times as long.
//
// expected: Between chunks the threads waited for each other for half of the time.
// names: between (chunks|them)|idle-workers|wait for (each other|those before)|barrier
// leads: starved|idle
// wrong: chunks-too|too-few|slow-|waiting-bound|oversubscribed
// threads: 4
#include "tests/laboratory/laboratory.h"

int main() {
  const auto pieces = laboratory::Cut("ttbar", 8, 12);
  for (std::size_t round = 0; round < pieces.size(); round += 4) {
    const std::vector<laboratory::Piece> few(pieces.begin() + static_cast<std::ptrdiff_t>(round),
                                             pieces.begin() + static_cast<std::ptrdiff_t>(round + 4));
    laboratory::OnThreads(4, few, [](const laboratory::Piece& piece, int) {
      crema::TrackMetrics chunk(piece.chunk());
      crema::TrackSection select("select");
      laboratory::Rest(piece.number % 4 == 1 ? 120 : 40);
      chunk.SetEvents(piece.events);
    });
  }
}
