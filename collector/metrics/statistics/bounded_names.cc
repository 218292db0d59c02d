#include "collector/metrics/statistics/bounded_names.h"

namespace crema {

uint32_t BoundedNames::Intern(std::string_view name, uint64_t rank) {
  const auto found = index_.find(absl::string_view(name.data(), name.size()));
  if (found != index_.end()) return found->second;
  Name entry{rank, std::string(name)};
  if (has_worst_ && worst_ < entry) return kRefused;
  const auto index = static_cast<uint32_t>(names_.size());
  index_.emplace(entry.name, index);
  names_.push_back(std::move(entry));
  return index;
}

template <class Less>
Renumbering BoundedNames::Keep(const Less& less) {
  std::vector<uint32_t> order = Indices<uint32_t>(names_.size());
  if (order.size() > limit_) {
    const auto by_rank = [this](uint32_t a, uint32_t b) { return names_[a] < names_[b]; };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(limit_), order.end(), by_rank);
    order.resize(limit_);
    worst_ = names_[*std::max_element(order.begin(), order.end(), by_rank)];
    has_worst_ = true;
  }
  std::sort(order.begin(), order.end(), less);
  std::vector<uint32_t> renumbering(names_.size(), kRefused);
  std::vector<Name> kept;
  kept.reserve(order.size());
  index_.clear();
  for (const uint32_t old_index : order) {
    renumbering[old_index] = static_cast<uint32_t>(kept.size());
    index_.emplace(names_[old_index].name, renumbering[old_index]);
    kept.push_back(std::move(names_[old_index]));
  }
  names_ = std::move(kept);
  return {std::move(renumbering), names_.size()};
}

Renumbering BoundedNames::Prune() {
  return Keep([](uint32_t a, uint32_t b) { return a < b; });
}

Renumbering BoundedNames::PruneAndSort() {
  return Keep([this](uint32_t a, uint32_t b) { return names_[a].name < names_[b].name; });
}

namespace {

uint64_t RankOf(std::string_view name) {
  return static_cast<uint64_t>(name.front() - NamesWithOther::kLast) << 62 | HashOf(name) >> 2;
}

}  // namespace

uint32_t NamesWithOther::Intern(std::string_view name) {
  const uint32_t index = names_.Intern(name, RankOf(name));
  return index == BoundedNames::kRefused ? Intern(stand_in_of_(name)) : index;
}

Renumbering NamesWithOther::Prune() {
  std::vector<uint32_t> result = Indices<uint32_t>(names_.size());
  // A stand-in may push out another name, so this goes on until all have a place; stand-ins rank first, so it ends.
  while (names_.size() > limit_) {
    std::vector<std::string> names;
    names.reserve(names_.size());
    for (uint32_t i = 0; i < names_.size(); ++i) names.push_back(names_.name(i));
    const Renumbering renumbering = names_.Prune();
    std::vector<uint32_t> places(renumbering.size());
    for (uint32_t i = 0; i < places.size(); ++i) {
      places[i] = renumbering[i];
      if (places[i] == BoundedNames::kRefused) places[i] = Intern(stand_in_of_(names[i]));
    }
    for (uint32_t& index : result) index = places[index];
  }
  return {std::move(result), names_.size()};
}

}  // namespace crema
