// Two of four processes begin after two thirds of the run.
//
// expected: Two of four workers were there only for the last third: the run could have taken 2.7 s instead of 4
//     s.
// names: scaling-lag|workers (came|were there|began|joined)|late
// leads: workers
// wrong: slow-|chunks-too|too-few|between chunks|waiting-bound|startup
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnProcesses(
      4, laboratory::Cut("ttbar", 8, 20),
      [](const laboratory::Piece& piece, int) {
        crema::TrackMetrics chunk(piece.chunk());
        crema::TrackSection select("select");
        laboratory::Compute(12);
        laboratory::Rest(48 * laboratory::Scatter(piece.number));
        chunk.SetEvents(piece.events);
      },
      [](int process) {
        if (process < 2) return;
        laboratory::Rest(2700);
      });
}
