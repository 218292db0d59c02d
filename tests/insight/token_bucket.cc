// Chunks that wait: for a resource which serves so many events a second to all of them, or each for itself.
//
//   token_bucket shared|alone RATE LANES SECONDS SEED
//
// Lanes begin one after another, so that few and many are open at once.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kEvents = 5;  // of a chunk

Clock::duration Of(double seconds) { return std::chrono::duration_cast<Clock::duration>(Seconds(seconds)); }

/// Serves one after another; each takes the same time.
class Resource {
 public:
  explicit Resource(double rate) : takes_(Of(1 / rate)) {}
  void Use() {
    Clock::time_point done;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      free_at_ = std::max(free_at_, Clock::now()) + takes_;
      done = free_at_;
    }
    std::this_thread::sleep_until(done);
  }

 private:
  const Clock::duration takes_;
  std::mutex mutex_;
  Clock::time_point free_at_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 2;
  const bool is_shared = std::string_view(arguments[1]) == "shared";
  const double rate = std::atof(arguments[2]);
  const int lanes = std::atoi(arguments[3]);
  const double seconds = std::atof(arguments[4]);
  const auto seed = static_cast<unsigned>(std::atoi(arguments[5]));

  Resource resource(rate);
  std::mutex numbers;
  std::int64_t next = 0;
  const Clock::time_point begin = Clock::now();
  const auto work = [&](int lane) {
    std::mt19937 random(1000 * seed + static_cast<unsigned>(lane));
    std::exponential_distribution<double> own(is_shared ? 10 * rate : 2 * rate / lanes);
    std::this_thread::sleep_until(begin + Of(seconds * lane / (lanes + 2)));
    while (Clock::now() < begin + Of(seconds)) {
      std::int64_t first = 0;
      {
        const std::lock_guard<std::mutex> lock(numbers);
        first = next;
        next += kEvents;
      }
      crema::TrackMetrics chunk(crema::Chunk("events", "events.root", first, first + kEvents));
      for (std::int64_t i = 0; i < kEvents; ++i) {
        if (is_shared) resource.Use();
        std::this_thread::sleep_for(Of(own(random)));
      }
      chunk.SetEvents(kEvents);
    }
  };
  std::vector<std::thread> threads;
  for (int lane = 0; lane < lanes; ++lane) threads.emplace_back(work, lane);
  for (std::thread& thread : threads) thread.join();
}
