#include "collector/server/latest_chunks.h"

#include <utility>

namespace crema {

void LatestChunks::Add(LatestChunk chunk) {
  chunk.number = next_++;
  chunks_.push_back(chunk);
  if (chunks_.size() > kMost) chunks_.pop_front();
}

void LatestChunks::Forget(int64_t now_ns) {
  while (!chunks_.empty() && chunks_.front().stop_ns < now_ns - kStreamSeconds * 1'000'000'000) chunks_.pop_front();
}

}  // namespace crema
