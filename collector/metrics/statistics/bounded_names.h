// A table of names that never grows beyond a limit, and keeps the same names however the records were split.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_BOUNDED_NAMES_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_BOUNDED_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace crema {

/// Keeps the `limit` names that rank first, by (rank, name); rank is the caller's, usually a hash. A name that ranks
/// too low for what has been seen is refused for ever, so a name that is kept at the end was never refused before: what
/// its owner has summed for it is complete, and the same for any split of the records and any order of merging.
///
/// Names have indices from 0. To spare work, up to twice the limit are held between calls of `Prune`, which the owner
/// calls when `full()` and once at the end; it applies the returned renumbering to whatever it keeps by index.
class BoundedNames {
 public:
  static constexpr uint32_t kRefused = 0xffffffff;

  explicit BoundedNames(size_t limit) : limit_(limit) {}

  /// The name's index, new or old, or `kRefused`.
  uint32_t Intern(std::string_view name, uint64_t rank);
  size_t size() const { return names_.size(); }
  const std::string& name(uint32_t index) const { return names_[index].name; }
  uint64_t rank(uint32_t index) const { return names_[index].rank; }
  bool full() const { return names_.size() >= 2 * limit_; }

  /// Drops names beyond the limit. Entry i of the result is the new index of the name that had index i, or `kRefused`.
  std::vector<uint32_t> Prune();
  /// Drops names beyond the limit and puts the others in order of name; returns the renumbering as `Prune`.
  std::vector<uint32_t> PruneAndSort();

 private:
  struct Name {
    uint64_t rank;
    std::string name;
    bool operator<(const Name& other) const { return std::tie(rank, name) < std::tie(other.rank, other.name); }
  };
  template <class Less>
  std::vector<uint32_t> Keep(const Less& less);

  size_t limit_;
  std::vector<Name> names_;
  absl::flat_hash_map<std::string, uint32_t> index_;
  bool has_worst_ = false;
  Name worst_ = {};  // the last of the names kept by the latest pruning: nothing after it is taken
};

/// Applies a renumbering to values kept by index: values of names that are gone are passed to `on_refused`.
template <class T, class OnRefused>
void Renumber(std::vector<T>& values, const std::vector<uint32_t>& renumbering, size_t new_size,
              const OnRefused& on_refused) {
  std::vector<T> renumbered(new_size);
  for (size_t i = 0; i < values.size(); ++i) {
    if (renumbering[i] == BoundedNames::kRefused) {
      on_refused(values[i]);
    } else {
      renumbered[renumbering[i]] = std::move(values[i]);
    }
  }
  values = std::move(renumbered);
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_BOUNDED_NAMES_H_
