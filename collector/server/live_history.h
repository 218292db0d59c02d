// What the live model keeps of the past, bounded: the last events and chunks, and rates since the start of the run.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_HISTORY_H_
#define CREMA_COLLECTOR_SERVER_LIVE_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "collector/engines/engine.h"

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

/// Seconds that the stream shows.
inline constexpr int64_t kStreamSeconds = 120;

struct LatestChunk {
  int64_t number = 0;   ///< in the order of coming
  uint32_t worker = 0;  ///< index into `LiveModel::workers`
  int32_t lane = 0;     ///< of its thread in the worker
  uint32_t dataset = 0;
  bool failed = false;
  int waiting_percent = -1;  ///< -1: not known
  int64_t start_ns = 0;      ///< Unix time
  int64_t stop_ns = 0;
};

class LatestChunks {
 public:
  static constexpr size_t kMost = 3000;

  /// Gives it its number.
  void Add(LatestChunk chunk);
  /// Forgets what ended over two minutes before.
  void Forget(int64_t now_ns);

  const std::deque<LatestChunk>& all() const { return chunks_; }

 private:
  std::deque<LatestChunk> chunks_;
  int64_t next_ = 0;
};

/// Bins of one width, 1 s at first. When they become more than `kMost`, neighbours are joined and the width doubles.
class RateSeries {
 public:
  static constexpr size_t kMost = 600;

  struct Bin {
    int64_t events = 0;
    int64_t bytes = 0;
  };

  /// `seconds` since the run's start; earlier ones count as at the start.
  void Add(double seconds, int64_t events, int64_t bytes);

  double bin_seconds() const { return bin_seconds_; }
  const std::vector<Bin>& bins() const { return bins_; }

 private:
  double bin_seconds_ = 1;
  std::vector<Bin> bins_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_HISTORY_H_
