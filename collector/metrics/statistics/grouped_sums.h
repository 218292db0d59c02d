// Sums by a key of texts: bounded, and the same for any split of the records and any order of merging.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_GROUPED_SUMS_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_GROUPED_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/stable_hash.h"

namespace crema {

/// Several texts as one key. A text may hold any byte, so its length stands before it.
inline std::string KeyOf(std::initializer_list<std::string_view> texts) {
  std::string key;
  for (const std::string_view text : texts) key.append(std::to_string(text.size())).append(":").append(text);
  return key;
}

/// Takes the first text off a key.
inline std::string_view TakeText(std::string_view* key) {
  const size_t colon = key->find(':');
  size_t length = 0;
  for (const char digit : key->substr(0, colon)) length = 10 * length + static_cast<size_t>(digit - '0');
  const std::string_view text = key->substr(colon + 1, length);
  key->remove_prefix(colon + 1 + length);
  return text;
}

/// Accumulator. `Sum` has a method `Add(const Sum&)`. Beyond `limit` keys some, always the same ones, are refused.
template <class Sum>
class GroupedSums {
 public:
  explicit GroupedSums(size_t limit) : keys_(limit) {}

  void Add(std::string_view key, const Sum& sum) {
    const uint32_t index = keys_.Intern(key, HashOf(key));
    if (index == BoundedNames::kRefused) {
      refused_.Add(sum);
      return;
    }
    if (index >= sums_.size()) sums_.resize(index + size_t{1});
    sums_[index].Add(sum);
    if (keys_.full()) Renumber(keys_.Prune());
  }

  void Merge(const GroupedSums& other) {
    refused_.Add(other.refused_);
    for (uint32_t i = 0; i < other.keys_.size(); ++i) Add(other.keys_.name(i), other.sums_[i]);
  }

  /// Calls `visit(key, sum)` for each key that is kept, in their order; returns the sum of those that were refused.
  template <class Visit>
  Sum Finalize(const Visit& visit) const {
    GroupedSums sorted = *this;
    sorted.Renumber(sorted.keys_.PruneAndSort());
    for (uint32_t i = 0; i < sorted.keys_.size(); ++i) {
      visit(std::string_view(sorted.keys_.name(i)), std::as_const(sorted.sums_[i]));
    }
    return sorted.refused_;
  }

 private:
  void Renumber(const Renumbering& renumbering) {
    renumbering.Apply(sums_, [this](const Sum& refused) { refused_.Add(refused); });
  }

  BoundedNames keys_;
  std::vector<Sum> sums_;
  Sum refused_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_GROUPED_SUMS_H_
