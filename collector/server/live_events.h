// What happened in a run, newest last, for people to read.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_EVENTS_H_
#define CREMA_COLLECTOR_SERVER_LIVE_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "collector/engines/live_run.h"

namespace crema {

/// `info`, `good`, `warning`, `bad`.
const char* ToString(EventKind kind);

struct LiveEvent {
  int64_t number = 0;  ///< from 1, in the order in which they were noticed
  int64_t time_ns = 0;
  EventKind kind = EventKind::kInfo;
  std::string text;
};

/// The last `kMost` of them; the record logs keep everything.
class LiveEvents {
 public:
  static constexpr size_t kMost = 200;

  /// The number of the new event.
  int64_t Add(int64_t time_ns, EventKind kind, std::string text);
  /// Says otherwise what goes on; nothing happens where the event is no longer kept.
  void Update(int64_t number, std::string text);
  const std::deque<LiveEvent>& all() const { return events_; }
  /// By when they happened; of a log that was read afterwards, events come in late.
  std::vector<LiveEvent> NewestFirst() const;
  int64_t count() const { return count_; }

 private:
  std::deque<LiveEvent> events_;
  int64_t count_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_EVENTS_H_
