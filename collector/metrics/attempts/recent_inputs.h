// The inputs of the chunks read last, so that the next chunk of the same file needs no hashing.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_RECENT_INPUTS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_RECENT_INPUTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "collector/metrics/statistics/stable_hash.h"
#include "collector/records/facts.h"

namespace crema {

/// What was made of one input.
struct RecentInput {
  uint64_t run_hash = 0;
  uint32_t index = 0;   ///< in the table of inputs
  StableHash identity;  ///< of the chunks read from it, but for their entries
};

/// A few of them, each in a place that its names give; a later one takes the place of an earlier.
class RecentInputs {
 public:
  /// nullptr where the input was not seen lately.
  const RecentInput* Find(uint64_t run_hash, const ChunkInput& input) const {
    const Place& place = places_[PlaceOf(input)];
    const bool same = place.used && place.input.run_hash == run_hash && place.file == input.file &&
                      place.dataset == input.dataset && place.tree == input.tree && place.pass == input.pass;
    return same ? &place.input : nullptr;
  }
  const RecentInput& Keep(const ChunkInput& input, const RecentInput& made) {
    Place& place = places_[PlaceOf(input)];
    place = {
        true, std::string(input.file), std::string(input.dataset), std::string(input.tree), std::string(input.pass),
        made};
    return place.input;
  }
  /// Indices have changed.
  void Clear() { places_ = {}; }

 private:
  struct Place {
    bool used = false;
    std::string file;
    std::string dataset;
    std::string tree;
    std::string pass;
    RecentInput input;
  };

  // Files' names differ near their ends, as a rule.
  static size_t PlaceOf(const ChunkInput& input) {
    uint64_t last = 0;
    const size_t bytes = std::min(input.file.size(), sizeof(last));
    if (bytes > 0) std::memcpy(&last, input.file.data() + (input.file.size() - bytes), bytes);
    uint64_t before = input.dataset.size();
    if (input.file.size() >= 2 * sizeof(last)) {
      std::memcpy(&before, input.file.data() + (input.file.size() - 2 * sizeof(last)), sizeof(before));
    }
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<size_t>(((last ^ before * kGolden) * kGolden) >> 58);
  }

  std::array<Place, 64> places_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_RECENT_INPUTS_H_
