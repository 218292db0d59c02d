// A chunk is begun on one thread and ended on another, without Suspend and Resume.
//
// expected: 20 guards were not used as they should be: suspend a chunk before another thread ends it.
// names: guards? (was|were) not used
// leads: incomplete
#include <memory>

#include "tests/laboratory/laboratory.h"

int main() {
  for (const laboratory::Piece& piece : laboratory::Cut("ttbar", 2, 20)) {
    auto event = std::make_unique<crema::TrackMetrics>(piece.chunk());
    event->SetEvents(piece.events);
    std::thread module([handle = event->handle()] {
      crema::TrackHelper helper(handle);
      crema::TrackSection tracker("tracker");
      laboratory::Compute(30);
    });
    module.join();
    std::thread last([&] { event.reset(); });
    last.join();
  }
}
