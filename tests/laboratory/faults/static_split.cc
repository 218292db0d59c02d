// Four processes have lists of their own. That of one is four times as long, so three wait for it.
//
// expected: The run waited for one worker alone for 2.2 of 3 s.
// names: waited for (worker|one worker|laboratory|[a-z0-9_.-]+:\d+)|for .* alone
// leads: long-tail|last chunk|tail
// wrong: slow-worker|slow-file|chunks-too|too-few|startup|between chunks
#include "tests/laboratory/laboratory.h"

int main() {
  const auto pieces = laboratory::Cut("ttbar", 7, 10);
  for (int process = 0; process < 4; ++process) {
    if (fork() > 0) continue;
    for (const laboratory::Piece& piece : pieces) {
      if (std::min(piece.of_file, 3) != process) continue;
      crema::TrackMetrics chunk(piece.chunk());
      crema::TrackSection select("select");
      laboratory::Rest(75 * laboratory::Scatter(piece.number));
      chunk.SetEvents(piece.events);
    }
    std::exit(0);
  }
  while (wait(nullptr) > 0) {
  }
}
