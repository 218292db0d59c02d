// Events are begun, suspended, worked on by another thread, and ended on a third, as in a graph of tasks.
#include <memory>

#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 4, 20), [](const laboratory::Piece& piece, int) {
    auto event = std::make_unique<crema::TrackMetrics>(piece.chunk());
    event->SetEvents(piece.events);
    const crema::ChunkHandle handle = event->handle();
    event->Suspend();
    std::thread module([handle] {
      crema::TrackHelper helper(handle);
      crema::TrackSection tracker("tracker");
      laboratory::Compute(30);
    });
    module.join();
    std::thread last([&] {
      event->Resume();
      event.reset();
    });
    last.join();
  });
}
