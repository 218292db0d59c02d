// Sorts many values by an integer key where they stand.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_FLAG_SORT_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_FLAG_SORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace crema {

/// By growing `key(value)`, an uint64_t; values of equal keys in any order. American flag sort (McIlroy, Bostic,
/// McIlroy: Computing Systems 6, 1993) on the bits in which the keys differ: linear for keys of a small range, and no
/// second array, which a million chunks would feel.
template <class T, class Key>
void FlagSort(T* begin, T* end, const Key& key) {
  constexpr int kDigitBits = 10;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  constexpr std::ptrdiff_t kFew = 256;
  const auto less = [&key](const T& a, const T& b) { return key(a) < key(b); };
  if (std::is_sorted(begin, end, less)) return;
  if (end - begin <= kFew) {
    std::sort(begin, end, less);
    return;
  }
  uint64_t differing = 0;
  for (const T* at = begin; at != end; ++at) differing |= key(*at) ^ key(*begin);
  const int highest_bit = 63 - __builtin_clzll(differing);
  const int shift = std::max(0, highest_bit + 1 - kDigitBits);
  const auto digit = [&key, shift](const T& value) { return static_cast<size_t>(key(value) >> shift) % kDigits; };

  std::array<size_t, kDigits + 1> bounds = {};
  for (const T* at = begin; at != end; ++at) ++bounds[digit(*at) + 1];
  for (size_t i = 0; i < kDigits; ++i) bounds[i + 1] += bounds[i];
  std::array<size_t, kDigits> next;
  std::copy(bounds.begin(), bounds.end() - 1, next.begin());
  for (size_t i = 0; i < kDigits; ++i) {
    while (next[i] < bounds[i + 1]) {
      const size_t home = digit(begin[next[i]]);
      if (home == i) {
        ++next[i];
      } else {
        std::swap(begin[next[i]], begin[next[home]++]);
      }
    }
  }
  if (shift == 0) return;
  for (size_t i = 0; i < kDigits; ++i) {
    if (bounds[i + 1] - bounds[i] > 1) FlagSort(begin + bounds[i], begin + bounds[i + 1], key);
  }
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_FLAG_SORT_H_
