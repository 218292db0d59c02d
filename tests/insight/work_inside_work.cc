// Threads that never pause, and work that is inside other work of its thread: `work_inside_work KIND`. However many
// chunks and helper scopes are open, no more lanes are at work than this program has threads at work: one, or two.
#include <functional>
#include <string>
#include <thread>

#include "crema/crema.h"

namespace {

void Compute() {
  for (volatile long i = 0; i < 100'000'000; i = i + 1) {
  }
}

crema::Chunk Part(int number) { return {"data", "events.root", number, number + 1}; }

/// A chunk that a helper works for, while its owner waits.
void Help(const std::function<void(crema::ChunkHandle)>& body, int helpers = 1) {
  const crema::TrackMetrics one(Part(0));
  std::thread first(body, one.handle());
  std::thread second;
  if (helpers > 1) {
    second = std::thread([handle = one.handle()] {
      const crema::TrackHelper helper(handle);
      Compute();
      Compute();
      Compute();
    });
  }
  first.join();
  if (second.joinable()) second.join();
}

void HelpAndBeginAChunk(crema::ChunkHandle one) {
  const crema::TrackHelper helper(one);
  Compute();
  {
    const crema::TrackMetrics inside(Part(1));
    Compute();
  }
  Compute();
}

/// A helper scope for a chunk inside that for another one: a thread that waits takes what it finds.
void HelpTwo(crema::ChunkHandle one) {
  crema::TrackMetrics two(Part(1));
  two.Suspend();
  std::thread([one, other = two.handle()] {
    const crema::TrackHelper outer(one);
    Compute();
    {
      const crema::TrackHelper inner(other);
      Compute();
    }
    Compute();
  }).join();
  two.Resume();
}

void BeginAChunkInsideAnother() {
  const crema::TrackMetrics outer(Part(0));
  Compute();
  {
    const crema::TrackMetrics inside(Part(1));
    Compute();
  }
  Compute();
}

/// Events on two threads at once, without lines.
void RunAtOnce() {
  const auto run = [](int number) {
    const crema::TrackEvent event(Part(number), crema::kSummed);
    const crema::TrackTask task(event.handle(), "compute");
    for (int i = 0; i < 3; ++i) Compute();
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

/// Four events in flight with lines, and one thread.
void TakeTurns() {
  crema::TrackEvent events[4];
  for (int i = 0; i < 4; ++i) events[i] = crema::TrackEvent(Part(i), crema::kLine);
  for (const crema::TrackEvent& event : events) {
    const crema::TrackTask task(event.handle(), "compute");
    Compute();
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::string kind = arguments[1];
  if (kind == "chunk-in-chunk") BeginAChunkInsideAnother();
  if (kind == "chunk-in-helper") Help(HelpAndBeginAChunk);
  if (kind == "helper-in-helper") Help(HelpTwo);
  if (kind == "two-threads") Help(HelpAndBeginAChunk, 2);
  if (kind == "events-at-once") RunAtOnce();
  if (kind == "events-in-turn") TakeTurns();
}
