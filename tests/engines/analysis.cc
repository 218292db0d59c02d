// The program that the tests of engines run: a chunk of 100 events that holds some memory, or one that takes more and
// more. If HOLD is set, the chunk goes on until the file of this name exists.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

int main(int argc, char** argv) {
  const std::string number = argc > 1 ? argv[1] : "0";
  const bool takes_all = argc > 2 && std::string(argv[2]) == "all";
  const char* const rank = std::getenv("SLURM_PROCID");  // each rank of a step has a file of its own
  crema::TrackMetrics chunk({"ttbar", "f" + number + (rank == nullptr ? "" : std::string("_") + rank), 0, 100});
  std::vector<std::vector<char>> held;
  for (int i = 0; i < 30 || takes_all; ++i) {
    if (i < 2 || takes_all) held.emplace_back(10'000'000, 'x');
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const char* const hold = std::getenv("HOLD");
  while (hold != nullptr && access(hold, F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  chunk.SetEvents(100);
  return 0;
}
