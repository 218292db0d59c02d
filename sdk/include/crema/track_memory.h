// TrackMemory: how the process's resident set changed over a part of the work.
#ifndef CREMA_TRACK_MEMORY_H_
#define CREMA_TRACK_MEMORY_H_

#include <cstdint>
#include <string_view>

namespace crema {
namespace internal {
struct OpenWork;
}  // namespace internal

/// Measures the RSS delta from here to the end of the scope (`/proc/self/statm`, proc(5)), under `name` below the
/// section that is open. It is the whole process's: other threads' allocations are in it, memory that the allocator
/// kept is not. Costs two system calls (about 2 us). Never throws.
///
///     crema::TrackMemory memory("jets");
class TrackMemory {
 public:
  explicit TrackMemory(std::string_view name) noexcept;
  ~TrackMemory();
  TrackMemory(const TrackMemory&) = delete;
  TrackMemory& operator=(const TrackMemory&) = delete;

 private:
  [[maybe_unused]] internal::OpenWork* frame_ = nullptr;  ///< null: not recorded
  [[maybe_unused]] std::uint64_t use_ = 0;                ///< distinguishes the chunk from later ones
  [[maybe_unused]] std::int64_t rss_start_bytes_ = 0;
  [[maybe_unused]] int row_ = -1;
};

#ifdef CREMA_COMPILED_OUT
inline TrackMemory::TrackMemory(std::string_view) noexcept {}
inline TrackMemory::~TrackMemory() {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_MEMORY_H_
