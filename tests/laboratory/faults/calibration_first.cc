// Before the first chunk one thread computes calibrations, in a section, while the other cores have nothing to do.
//
// expected: Before the first chunk, section calibrate took 1.2 s: nothing else ran meanwhile.
// names: section calibrate|calibrate
// leads: startup-dominated|before (its|the|their) first
// wrong: between chunks|chunks-too|too-few|oversubscribed
// threads: 4
#include "tests/laboratory/laboratory.h"

int main() {
  {
    crema::TrackSection calibrate("calibrate");
    laboratory::Compute(1200);
  }
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 8, 12), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    crema::TrackSection select("select");
    laboratory::Rest(60 * laboratory::Scatter(piece.number));
    chunk.SetEvents(piece.events);
  });
}
