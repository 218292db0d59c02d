#include "collector/report/stack_flames.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/function_names.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// A function on stacks that begin alike. Stacks come sorted, so that each is in the list after what it called from.
struct Flame {
  size_t depth = 0;
  size_t function = 0;
  int64_t samples = 0;
};

std::vector<Flame> FlamesOfPlace(const std::map<std::vector<size_t>, StackWeight>& stacks) {
  std::vector<Flame> flames;
  std::vector<size_t> open;  // of the last stack: indices into `flames`
  const std::vector<size_t>* last = nullptr;
  for (const auto& [functions, weight] : stacks) {
    size_t same = 0;
    while (last != nullptr && same < std::min(last->size(), functions.size()) && (*last)[same] == functions[same]) {
      ++same;
    }
    open.resize(same);
    for (size_t depth = same; depth < functions.size(); ++depth) {
      open.push_back(flames.size());
      flames.push_back({depth, functions[depth], 0});
    }
    for (const size_t flame : open) flames[flame].samples += weight.samples;
    last = &functions;
  }
  return flames;
}

/// Which samples a flame needs so that at most `most` have as many.
int64_t FewestSamples(const std::vector<std::vector<Flame>>& places, size_t most) {
  std::vector<int64_t> samples;
  for (const std::vector<Flame>& flames : places) {
    for (const Flame& flame : flames) samples.push_back(flame.samples);
  }
  if (samples.size() <= most) return 0;
  const auto first_left_out = samples.begin() + static_cast<ptrdiff_t>(most);
  std::nth_element(samples.begin(), first_left_out, samples.end(), std::greater<>());
  return *first_left_out + 1;
}

}  // namespace

Json FlamesOf(const SampledStacks& stacks, size_t most) {
  std::vector<std::vector<Flame>> places;
  for (const auto& [place, of_place] : stacks.places) places.push_back(FlamesOfPlace(of_place));
  const int64_t fewest = FewestSamples(places, most);

  Json functions = Json::array();
  std::map<size_t, size_t> numbers;  // of functions in the page, by theirs in `stacks`
  const auto number_of = [&](size_t function) {
    const auto [known, is_new] = numbers.try_emplace(function, numbers.size());
    if (is_new) {
      const SampledFunction& named = stacks.functions[function];
      functions.push_back({named.name, ShortFunctionName(named.name),
                           named.line.has_value() ? fmt::format("{}:{}", named.file, *named.line) : named.file});
    }
    return known->second;
  };
  Json rows = Json::array();
  auto flames = places.begin();
  for (const auto& [place, of_place] : stacks.places) {
    int64_t samples = 0;
    for (const auto& [of_stack, weight] : of_place) samples += weight.samples;
    Json tree = Json::array();
    for (const Flame& flame : *flames++) {  // what is left out has no more samples below it
      if (flame.samples >= fewest) tree.push_back({flame.depth, number_of(flame.function), flame.samples});
    }
    rows.push_back(
        {{"dataset", place.dataset}, {"section", place.section}, {"samples", samples}, {"tree", std::move(tree)}});
  }
  return {{"functions", std::move(functions)}, {"places", std::move(rows)}};
}

}  // namespace crema
