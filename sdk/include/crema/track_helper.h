// TrackHelper: another thread works for a chunk.
#ifndef CREMA_TRACK_HELPER_H_
#define CREMA_TRACK_HELPER_H_

#include "crema/track_metrics.h"

namespace crema {

/// Until the end of the scope, this thread works for the chunk of `handle`: its CPU time, its time runnable without a
/// CPU, its sections (marked as a helper's, below the section where the handle was taken) and its metrics are the
/// chunk's. On the chunk's own thread, and inside another helper of the same chunk, it does nothing, so it can be at
/// the top of any parallel body. End it before the chunk ends: what comes later is counted as dropped. Never throws.
///
///     tbb::parallel_for(range, [handle = chunk.handle()](const auto& part) {
///       crema::TrackHelper helper(handle);
///       ...
///     });
class TrackHelper {
 public:
  explicit TrackHelper(const ChunkHandle& handle) noexcept;
  ~TrackHelper();
  TrackHelper(const TrackHelper&) = delete;
  TrackHelper& operator=(const TrackHelper&) = delete;

 private:
  [[maybe_unused]] void* scope_ = nullptr;  ///< null: nothing to do
  [[maybe_unused]] std::uint64_t use_ = 0;  ///< of the scope's frame
};

#ifdef CREMA_COMPILED_OUT
inline TrackHelper::TrackHelper(const ChunkHandle&) noexcept {}
inline TrackHelper::~TrackHelper() {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_HELPER_H_
