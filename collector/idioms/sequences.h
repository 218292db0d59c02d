// Short forms of loops over lists, beside Abseil's (absl::c_any_of and similar ones, which it includes).
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace crema {

/// Sorts by `key` of each item, a member or a function; equal items keep their order.
template <class List, class Key>
void SortBy(List* list, const Key& key) {
  absl::c_stable_sort(*list, [&](const auto& a, const auto& b) { return std::invoke(key, a) < std::invoke(key, b); });
}

/// The same, the largest first.
template <class List, class Key>
void SortLargestFirst(List* list, const Key& key) {
  absl::c_stable_sort(*list, [&](const auto& a, const auto& b) { return std::invoke(key, a) > std::invoke(key, b); });
}

/// What `of`, a member or a function, says of each item.
template <class Value, class List, class Function>
std::vector<Value> Mapped(const List& list, const Function& of) {
  std::vector<Value> mapped;
  for (const auto& item : list) mapped.emplace_back(std::invoke(of, item));
  return mapped;
}

/// The first item whose `member` is `value`; null where there is none.
template <class List, class Item, class Member, class Value>
constexpr const Item* FindBy(const List& list, Member Item::*member, const Value& value) {
  for (const Item& item : list) {
    if (item.*member == value) return &item;
  }
  return nullptr;
}

/// Where the items are for which `is` holds.
template <class List, class Condition>
auto PlacesWhere(const List& list, const Condition& is) {
  std::vector<decltype(&*std::begin(list))> places;
  for (const auto& item : list) {
    if (std::invoke(is, item)) places.push_back(&item);
  }
  return places;
}

/// The sum of what `of`, a member or a function, says of each item.
template <class Value, class List, class Function>
Value SumOf(const List& list, const Function& of) {
  Value sum = 0;
  for (const auto& item : list) sum += std::invoke(of, item);
  return sum;
}

/// The median, the upper one of an even number; 0 of none. Quantiles of figures have another rank (docs/metrics.md,
/// "Rules").
inline double UpperMedian(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The first item for which `of`, a member or a function, says most, and what it says; null and 0 where no item has
/// more.
template <class List, class Function>
auto LargestBy(const List& list, const Function& of) {
  std::pair<decltype(&*std::begin(list)), double> largest = {nullptr, 0};
  for (const auto& item : list) {
    if (const double value = std::invoke(of, item); value > largest.second) largest = {&item, value};
  }
  return largest;
}

/// 0, 1, ..., `count` - 1.
template <class Index>
std::vector<Index> Indices(size_t count) {
  std::vector<Index> indices(count);
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

/// Sorts the list, and leaves each item in it once. Returns the place of each of the items that there were.
template <class Item>
std::vector<uint32_t> SortAndNumber(std::vector<Item>* list) {
  const std::vector<Item> before = *list;
  absl::c_sort(*list);
  list->erase(std::unique(list->begin(), list->end()), list->end());
  return Mapped<uint32_t>(before, [list](const Item& item) {
    return static_cast<uint32_t>(absl::c_lower_bound(*list, item) - list->begin());
  });
}

/// The item at this index of a list, which grows to have it.
template <class List>
typename List::reference GrownAt(List* list, size_t index) {
  if (index >= list->size()) list->resize(index + 1);
  return (*list)[index];
}

/// Moves the items of one list to the end of the other.
template <class List, class From>
void Append(List* list, From&& from) {
  static_assert(!std::is_reference_v<From>, "a list that is left empty");
  list->insert(list->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

template <class List, class Condition>
void EraseWhere(List* list, const Condition& is) {
  list->erase(std::remove_if(list->begin(), list->end(), is), list->end());
}

/// What a map has under `key`, else `other`.
template <class Map, class Key>
typename Map::mapped_type ValueOr(const Map& map, const Key& key, typename Map::mapped_type other) {
  const auto found = map.find(key);
  return found == map.end() ? other : found->second;
}

}  // namespace crema
