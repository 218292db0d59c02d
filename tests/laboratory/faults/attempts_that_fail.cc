// One chunk in twenty fails at its end, and is tried again.
//
// expected: 6 attempts failed (basket 12: bad checksum); all chunks have results.
// names: (attempts?|chunks?) failed|retry-waste|failing-chunks
// wrong: chunks-too-small|oversubscribed|slow-
#include <stdexcept>

#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 8, 15), [](const laboratory::Piece& piece, int) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        crema::RunChunk(piece.chunk(), [&](crema::TrackMetrics& chunk) {
          {
            crema::TrackSection read("read");
            laboratory::Rest(25);
          }
          crema::TrackSection select("select");
          laboratory::Rest(45);
          if (attempt == 0 && piece.number % 20 == 7) throw std::runtime_error("basket 12: bad checksum");
          chunk.SetEvents(piece.events);
        });
        break;
      } catch (const std::runtime_error&) {
      }
    }
  });
}
