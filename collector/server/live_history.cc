#include "collector/server/live_history.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace crema {

const char* ToString(EventKind kind) {
  switch (kind) {
    case EventKind::kInfo:
      return "info";
    case EventKind::kGood:
      return "good";
    case EventKind::kWarning:
      return "warning";
    case EventKind::kBad:
      break;
  }
  return "bad";
}

std::vector<LiveEvent> LiveEvents::NewestFirst() const {
  std::vector<LiveEvent> events(events_.rbegin(), events_.rend());
  std::stable_sort(events.begin(), events.end(),
                   [](const LiveEvent& left, const LiveEvent& right) { return left.time_ns > right.time_ns; });
  return events;
}

int64_t LiveEvents::Add(int64_t time_ns, EventKind kind, std::string text) {
  events_.push_back({++count_, time_ns, kind, std::move(text)});
  if (events_.size() > kMost) events_.pop_front();
  return count_;
}

void LiveEvents::Update(int64_t number, std::string text) {
  if (events_.empty() || number < events_.front().number || number > count_) return;
  events_[static_cast<size_t>(number - events_.front().number)].text = std::move(text);
}

void LatestChunks::Add(LatestChunk chunk) {
  chunk.number = next_++;
  chunks_.push_back(chunk);
  if (chunks_.size() > kMost) chunks_.pop_front();
}

void LatestChunks::Forget(int64_t now_ns) {
  while (!chunks_.empty() && chunks_.front().stop_ns < now_ns - kStreamSeconds * 1'000'000'000) chunks_.pop_front();
}

namespace {

// Far beyond any run: a clock that is wrong by years must not make the bins useless.
constexpr double kMostSeconds = 3e6;

}  // namespace

void RateSeries::Add(double seconds, int64_t events, int64_t bytes) {
  seconds = std::clamp(seconds, 0.0, kMostSeconds);
  while (seconds >= bin_seconds_ * kMost) {
    for (size_t i = 0; i < bins_.size(); ++i) {
      const Bin bin = bins_[i];
      if (i % 2 == 0) {
        bins_[i / 2] = bin;
      } else {
        bins_[i / 2].events += bin.events;
        bins_[i / 2].bytes += bin.bytes;
      }
    }
    bins_.resize((bins_.size() + 1) / 2);
    bin_seconds_ *= 2;
  }
  const auto index = static_cast<size_t>(seconds / bin_seconds_);
  if (index >= bins_.size()) bins_.resize(index + 1);
  bins_[index].events += events;
  bins_[index].bytes += bytes;
}

}  // namespace crema
