#include "collector/records/sums_so_far.h"

#include <algorithm>
#include <string_view>

namespace crema {
namespace {

std::string NameOf(const SumsFact& fact) {
  std::string name(1, fact.failed ? 'f' : 'o');
  for (const std::string_view text : {fact.input.dataset, fact.input.file, fact.input.pass}) {
    name.append(std::to_string(text.size())).push_back(':');
    name.append(text.data(), text.size());
  }
  return name;
}

// Not known as soon as one side is not.
std::optional<int64_t> Less(const std::optional<int64_t>& now, const std::optional<int64_t>& before, bool is_first) {
  if (is_first || !now.has_value()) return now;
  return std::max<int64_t>(0, *now - before.value_or(0));
}

SumsFact NumbersOf(const SumsFact& fact) {
  SumsFact numbers;
  numbers.chunks = fact.chunks;
  numbers.last_stop_ns = fact.last_stop_ns;
  numbers.duration_ns = fact.duration_ns;
  numbers.events = fact.events;
  numbers.bytes_read = fact.bytes_read;
  numbers.cpu_ns = fact.cpu_ns;
  numbers.helper_cpu_ns = fact.helper_cpu_ns;
  numbers.cpu_wait_ns = fact.cpu_wait_ns;
  numbers.helper_joined_ns = fact.helper_joined_ns;
  numbers.unannounced_cpu_ns = fact.unannounced_cpu_ns;
  numbers.children_cpu_ns = fact.children_cpu_ns;
  return numbers;
}

}  // namespace

std::optional<SumsFact> SumsSoFar::Increment(const SumsFact& fact) {
  const std::string name = NameOf(fact);
  const auto found = told_.find(name);
  const bool is_first = found == told_.end();
  if (is_first && told_.size() >= kMostRows) return std::nullopt;
  const SumsFact before = is_first ? SumsFact() : found->second;
  if (fact.chunks <= before.chunks) return std::nullopt;
  SumsFact added = fact;
  added.chunks -= before.chunks;
  added.duration_ns = std::max<int64_t>(0, fact.duration_ns - before.duration_ns);
  added.events = Less(fact.events, before.events, is_first);
  added.bytes_read = Less(fact.bytes_read, before.bytes_read, is_first);
  added.cpu_ns = Less(fact.cpu_ns, before.cpu_ns, is_first);
  added.helper_cpu_ns = Less(fact.helper_cpu_ns, before.helper_cpu_ns, is_first);
  added.cpu_wait_ns = Less(fact.cpu_wait_ns, before.cpu_wait_ns, is_first);
  added.helper_joined_ns = Less(fact.helper_joined_ns, before.helper_joined_ns, is_first);
  added.unannounced_cpu_ns = Less(fact.unannounced_cpu_ns, before.unannounced_cpu_ns, is_first);
  added.children_cpu_ns = Less(fact.children_cpu_ns, before.children_cpu_ns, is_first);
  added.first_start_ns = std::max(fact.first_start_ns, before.last_stop_ns);
  told_.insert_or_assign(name, NumbersOf(fact));
  return added;
}

}  // namespace crema
