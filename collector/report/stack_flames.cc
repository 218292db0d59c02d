#include <algorithm>

#include "collector/appearance/function_names.h"
#include "collector/report/report_page.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// A function on stacks that begin alike. Stacks come sorted, so that each is in the list after what it called from.
struct Flame {
  size_t depth = 0;
  size_t function = 0;
  int64_t samples = 0;
  int64_t own = 0;
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
      flames.push_back({depth, functions[depth], 0, 0});
    }
    for (const size_t flame : open) flames[flame].samples += weight.samples;
    if (!open.empty()) flames[open.back()].own += weight.samples;
    last = &functions;
  }
  return flames;
}

/// Those that have this many samples or more are at most `most`, with the first `ties` of those that have as many.
struct Least {
  int64_t samples = 0;
  size_t ties = 0;
};

Least LeastSamples(const std::vector<std::vector<Flame>>& places, size_t most) {
  std::vector<int64_t> samples;
  for (const std::vector<Flame>& flames : places) {
    for (const Flame& flame : flames) samples.push_back(flame.samples);
  }
  if (samples.size() <= most) return {0, samples.size()};
  std::sort(samples.begin(), samples.end(), std::greater<>());
  const int64_t least = samples[most];
  const auto first = std::lower_bound(samples.begin(), samples.end(), least, std::greater<>());
  return {least, most - static_cast<size_t>(first - samples.begin())};
}

/// At most `kMostBytes`, with whole characters.
std::string Cut(std::string_view name) {
  constexpr size_t kMostBytes = 200;
  if (name.size() <= kMostBytes) return std::string(name);
  size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return std::string(name.substr(0, end)) + "…";
}

}  // namespace

Json FlamesOf(const SampledStacks& stacks, size_t most) {
  std::vector<std::vector<Flame>> places;
  for (const auto& [place, of_place] : stacks.places) places.push_back(FlamesOfPlace(of_place));
  Least least = LeastSamples(places, most);

  Json functions = Json::array();
  std::map<size_t, size_t> numbers;  // of functions in the page, by theirs in `stacks`
  const auto number_of = [&](size_t function) {
    const auto [known, is_new] = numbers.try_emplace(function, numbers.size());
    if (is_new) {
      const SampledFunction& named = stacks.functions[function];
      functions.push_back({Cut(named.name), Cut(ShortFunctionName(named.name)),
                           Cut(named.line.has_value() ? fmt::format("{}:{}", named.file, *named.line) : named.file)});
    }
    return known->second;
  };
  Json rows = Json::array();
  int64_t left_out = 0;
  auto flames = places.begin();
  for (const auto& [place, of_place] : stacks.places) {
    int64_t samples = 0;
    for (const auto& [of_stack, weight] : of_place) samples += weight.samples;
    Json tree = Json::array();
    size_t drawn_depth = 0;  // what is below one that is left out is, too
    for (const Flame& flame : *flames++) {
      const bool is_tie = flame.samples == least.samples && least.ties > 0;
      if (flame.depth > drawn_depth || !(flame.samples > least.samples || is_tie)) {
        ++left_out;
        drawn_depth = std::min(drawn_depth, flame.depth);
        continue;
      }
      if (is_tie) --least.ties;
      drawn_depth = flame.depth + 1;
      tree.push_back({flame.depth, number_of(flame.function), flame.samples, flame.own});
    }
    rows.push_back(
        {{"dataset", place.dataset}, {"section", place.section}, {"samples", samples}, {"tree", std::move(tree)}});
  }
  return {{"functions", std::move(functions)}, {"places", std::move(rows)}, {"left_out", left_out}};
}

}  // namespace crema
