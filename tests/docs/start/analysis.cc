#include <algorithm>
#include <cmath>

#include "crema/crema.h"

double g_sum = 0;

void Read(long) {}         // your reading
void Select(long event) {  // your work on one event
  for (int i = 0; i < 2'000; ++i) g_sum += std::sqrt(static_cast<double>(event + i));
}

int main() {
  const long total = 400'000, per_chunk = 10'000;
  for (long first = 0; first < total; first += per_chunk) {
    const long last = std::min(first + per_chunk, total);
    crema::TrackMetrics chunk({"ttbar", "events.root", first, last});  // 1: dataset, file, events [first, last)
    {
      crema::TrackSection read("read");  // 2: a part of the work
      Read(first);
    }
    crema::TrackSection select("select");  // 3: another part
    for (long event = first; event < last; ++event) Select(event);
    chunk.SetEvents(last - first);
  }
}
