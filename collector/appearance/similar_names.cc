#include "collector/appearance/similar_names.h"

#include <algorithm>
#include <utility>

namespace crema {
namespace {

constexpr size_t kMostSimilar = 5;

/// Edits (insert, delete, replace) between two short words: Levenshtein's distance.
size_t Distance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  for (size_t at = 0; at <= right.size(); ++at) row[at] = at;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& names) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string_view name : names) {
    const bool contains = !word.empty() && name.find(word) != std::string_view::npos;
    const size_t distance = contains ? 0 : Distance(name, word);
    if (distance <= std::max<size_t>(2, word.size() / 3)) ranked.emplace_back(distance, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::string text;
  for (size_t at = 0; at < std::min(ranked.size(), kMostSimilar); ++at) {
    text.append(at == 0 ? "; did you mean " : ", ").append(ranked[at].second);
  }
  return text.empty() ? text : text + "?";
}

}  // namespace crema
