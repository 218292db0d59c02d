// The pass of a chunk that ROOT reads again: in a later event loop, or in another frame of the process.
#ifndef CREMA_ROOT_LOOP_PASSES_H_
#define CREMA_ROOT_LOOP_PASSES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace crema::internal {

/// A number for an event loop, unique in the process; never 0.
inline std::uint64_t NextLoop() noexcept {
  static std::mutex mutex;
  static std::uint64_t last = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  return ++last;
}

/// Which loop of its process reads a file for a dataset. Its memory is bounded, however many loops a program runs.
class LoopPasses {
 public:
  static constexpr std::size_t kMostFiles = 100'000;  ///< further ones are not distinguished: each loop is their first
  static constexpr std::size_t kMostLoops = 32;       ///< of a file that may take turns

  /// How many other loops read `file` for `dataset` before `loop` did. Throws `std::bad_alloc`.
  std::size_t Before(std::uint64_t loop, std::string_view dataset, std::string_view file) {
    const std::hash<std::string_view> hash;
    const std::size_t key = hash(dataset) * 31 + hash(file);
    auto known = files_.find(key);
    if (known == files_.end()) {
      if (files_.size() == kMostFiles) return 0;
      known = files_.emplace(key, Loops()).first;
    }
    Loops& loops = known->second;
    const auto found = std::find(loops.last.rbegin(), loops.last.rend(), loop);
    if (found != loops.last.rend()) return loops.count - 1 - static_cast<std::size_t>(found - loops.last.rbegin());
    if (loops.last.size() == kMostLoops) loops.last.erase(loops.last.begin());
    loops.last.push_back(loop);
    return loops.count++;
  }
  /// How many loops it keeps, of all files.
  std::size_t size() const {
    const auto add = [](std::size_t sum, const auto& file) { return sum + file.second.last.size(); };
    return std::accumulate(files_.begin(), files_.end(), std::size_t{0}, add);
  }

 private:
  struct Loops {
    std::size_t count = 0;
    std::vector<std::uint64_t> last;  ///< in the order in which they first read it
  };
  std::unordered_map<std::size_t, Loops> files_;  // by hash: a clash costs a pass
};

/// As `LoopPasses::Before`, for the whole process. A file that is read again is not a chunk that is tried again:
/// without another pass, its events would count once.
inline std::size_t LoopsBefore(std::uint64_t loop, std::string_view dataset, std::string_view file) {
  static std::mutex mutex;
  static LoopPasses passes;
  const std::lock_guard<std::mutex> lock(mutex);
  return passes.Before(loop, dataset, file);
}

}  // namespace crema::internal

#endif  // CREMA_ROOT_LOOP_PASSES_H_
