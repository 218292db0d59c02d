// Events of one of four datasets take six times as long.
//
// expected: Dataset wjets takes 67 % of the chunks' time for a quarter of the events.
// names: wjets
// leads: skewed-dataset|datasets
// wrong: chunks-too-small|slow-file|stragglers|oversubscribed
#include "tests/laboratory/laboratory.h"

int main() {
  using laboratory::Cut;
  const auto pieces = Cut("ttbar", 4, 12) + Cut("zjets", 4, 12) + Cut("qcd", 4, 12) + Cut("wjets", 4, 12);
  laboratory::OnThreads(4, pieces, [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest(5);
    }
    crema::TrackSection select("select");
    laboratory::Rest((piece.dataset == "wjets" ? 90 : 15) * laboratory::Scatter(piece.number));
    chunk.SetEvents(piece.events);
  });
}
