// The pass of a chunk that ROOT reads again: in a later event loop, or in another frame of the process.
#ifndef CREMA_ROOT_LOOP_PASSES_H_
#define CREMA_ROOT_LOOP_PASSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace crema {
namespace internal {

/// A number for an event loop, unique in the process; never 0.
inline std::uint64_t NextLoop() noexcept {
  static std::mutex mutex;
  static std::uint64_t last = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  return ++last;
}

/// How many other loops of this process read `file` for `dataset` before `loop` did. A file that is read again is not
/// a chunk that is tried again: without another pass, its events would count once. Throws `std::bad_alloc`.
inline std::size_t LoopsBefore(std::uint64_t loop, std::string_view dataset, std::string_view file) {
  static std::mutex mutex;
  static std::unordered_map<std::size_t, std::vector<std::uint64_t>> loops_of_file;  // by hash: a clash costs a pass
  const std::hash<std::string_view> hash;
  const std::size_t key = hash(dataset) * 31 + hash(file);
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::uint64_t>& loops = loops_of_file[key];
  const auto found = std::find(loops.rbegin(), loops.rend(), loop);
  if (found != loops.rend()) return loops.size() - 1 - static_cast<std::size_t>(found - loops.rbegin());
  loops.push_back(loop);
  return loops.size() - 1;
}

}  // namespace internal
}  // namespace crema

#endif  // CREMA_ROOT_LOOP_PASSES_H_
