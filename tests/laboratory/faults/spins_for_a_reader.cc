// A thread spins until its reader has the data. Two thirds of its CPU time do no work.
//
// expected: Section load takes most of the chunks' time, all of it on a CPU.
// names: section load
// wrong: waiting-bound|stragglers
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(1, laboratory::Cut("ttbar", 6, 10), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    std::atomic<bool> is_ready{false};
    std::thread reader([&] {
      laboratory::Rest(25);
      is_ready = true;
    });
    {
      crema::TrackSection load("load");
      while (!is_ready) {
      }
    }
    reader.join();
    crema::TrackSection select("select");
    laboratory::Compute(11);
    chunk.SetEvents(piece.events);
  });
}
