// One of four processes takes three times as long for each event, without more CPU.
//
// expected: One worker took 3 times as long as others for chunks of the same size.
// names: slow-worker
// leads: straggler
// wrong: slow-file|chunks-too|too-few|skewed
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnProcesses(
      4, laboratory::Cut("ttbar", 8, 20),
      [](const laboratory::Piece& piece, int process) {
        crema::TrackMetrics chunk(piece.chunk());
        crema::TrackSection select("select");
        laboratory::Rest((process == 1 ? 150 : 50) * laboratory::Scatter(piece.number));
        chunk.SetEvents(piece.events);
      },
      [](int) {});
}
