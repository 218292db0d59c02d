// The chunks that ended in the last two minutes, for the page's stream: as many as can be drawn.
#ifndef CREMA_COLLECTOR_SERVER_LATEST_CHUNKS_H_
#define CREMA_COLLECTOR_SERVER_LATEST_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>

namespace crema {

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

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LATEST_CHUNKS_H_
