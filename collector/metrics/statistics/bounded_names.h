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

/// What stands for names that found no room.
inline constexpr std::string_view kOtherName = "(other)";
/// What stands for a dataset or file that a chunk did not name.
inline constexpr std::string_view kNoName = "(none)";

/// What pruning did to the indices of a table's names. It knows how many names are left, so nobody has to ask the table
/// for it at the right moment.
class Renumbering {
 public:
  static constexpr uint32_t kRefused = 0xffffffff;

  Renumbering() = default;
  /// `new_indices`: by old index; `kRefused` for a name that is gone. `kept`: how many names are left.
  Renumbering(std::vector<uint32_t> new_indices, size_t kept) : new_indices_(std::move(new_indices)), kept_(kept) {}

  /// The new index, or `kRefused` for a name that is gone, or was refused before.
  uint32_t operator[](uint32_t old_index) const { return old_index == kRefused ? kRefused : new_indices_[old_index]; }
  /// How many names there were, and are left.
  size_t size() const { return new_indices_.size(); }
  size_t kept() const { return kept_; }

  /// Moves values kept by index to their new places; those of names that are gone go to `on_refused(value)`. Names
  /// without a value yet get a default one.
  template <class T, class OnRefused>
  void Apply(std::vector<T>& values, const OnRefused& on_refused) const {
    std::vector<T> moved(kept_);
    for (uint32_t i = 0; i < values.size(); ++i) {
      const uint32_t index = (*this)[i];
      if (index == kRefused) {
        on_refused(values[i]);
      } else {
        moved[index] = std::move(values[i]);
      }
    }
    values = std::move(moved);
  }

  /// The same where several old names may have become one: values are added to default ones by `add(to, from)`.
  template <class T, class Add>
  void ApplySumming(std::vector<T>& values, const Add& add) const {
    std::vector<T> sums(kept_);
    for (uint32_t i = 0; i < values.size(); ++i) add(sums[(*this)[i]], values[i]);
    values = std::move(sums);
  }

 private:
  std::vector<uint32_t> new_indices_;
  size_t kept_ = 0;
};

/// Keeps the `limit` names that rank first, by (rank, name); rank is the caller's, usually a hash. A name that ranks
/// too low for what has been seen is refused for ever, so a name that is kept at the end was never refused before: what
/// its owner has summed for it is complete, and the same for any split of the records and any order of merging.
///
/// Names have indices from 0. To spare work, up to twice the limit are held between calls of `Prune`, which the owner
/// calls when `full()` and once at the end; it applies the returned renumbering to whatever it keeps by index.
class BoundedNames {
 public:
  static constexpr uint32_t kRefused = Renumbering::kRefused;

  explicit BoundedNames(size_t limit) : limit_(limit) {}

  /// The name's index, new or old, or `kRefused`.
  uint32_t Intern(std::string_view name, uint64_t rank);
  size_t size() const { return names_.size(); }
  const std::string& name(uint32_t index) const { return names_[index].name; }
  uint64_t rank(uint32_t index) const { return names_[index].rank; }
  bool full() const { return names_.size() >= 2 * limit_; }

  /// Drops names beyond the limit.
  Renumbering Prune();
  /// Drops names beyond the limit and puts the others in order of name.
  Renumbering PruneAndSort();

 private:
  struct Name {
    uint64_t rank;
    std::string name;
    bool operator<(const Name& other) const { return std::tie(rank, name) < std::tie(other.rank, other.name); }
  };
  template <class Less>
  Renumbering Keep(const Less& less);

  size_t limit_;
  std::vector<Name> names_;
  absl::flat_hash_map<std::string, uint32_t> index_;
  bool has_worst_ = false;
  Name worst_ = {};  // the last of the names kept by the latest pruning: nothing after it is taken
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_BOUNDED_NAMES_H_
