// Each file has a server, which answers in 6 ms. That of file 3 takes 60 ms.
//
// expected: ttbar/part3.root took several times as long as other files, blocked in section read.
// names: part3
// leads: slow-file|waiting-bound|in section read
// wrong: chunks-too-small|oversubscribed
#include <memory>

#include "tests/laboratory/laboratory.h"

int main() {
  std::vector<std::unique_ptr<laboratory::Server>> servers;
  for (int file = 0; file < 8; ++file) servers.push_back(std::make_unique<laboratory::Server>(file == 3 ? 60 : 6));
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 8, 20), [&](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      servers[static_cast<std::size_t>(piece.of_file)]->Ask();
    }
    crema::TrackSection select("select");
    laboratory::Rest(12);
    chunk.SetEvents(piece.events);
  });
}
