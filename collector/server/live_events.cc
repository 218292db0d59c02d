#include "collector/server/live_events.h"

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

}  // namespace crema
