#include "collector/metrics/statistics/stand_in_names.h"

#include <numeric>
#include <utility>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

uint64_t RankOf(std::string_view name) {
  return static_cast<uint64_t>(name.front() - StandInNames::kLast) << 62 | HashOf(name) >> 2;
}

}  // namespace

uint32_t StandInNames::Intern(std::string_view name) {
  const uint32_t index = names_.Intern(name, RankOf(name));
  return index == BoundedNames::kRefused ? Intern(stand_in_of_(name)) : index;
}

Renumbering StandInNames::Prune() {
  std::vector<uint32_t> result(names_.size());
  std::iota(result.begin(), result.end(), 0);
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
