#include "collector/records/sums_so_far.h"

namespace crema {
namespace {

// Not known as soon as one side is not.
std::optional<int64_t> Less(const std::optional<int64_t>& now, const std::optional<int64_t>& before, bool is_first) {
  if (is_first || !now.has_value()) return now;
  return std::max<int64_t>(0, *now - before.value_or(0));
}

/// Sums that are not known as soon as those of one chunk are not.
constexpr auto kKnownSums = MemberList<&SumsFact::events, &SumsFact::bytes_read, &SumsFact::cpu_ns,
                                       &SumsFact::helper_cpu_ns, &SumsFact::cpu_wait_ns, &SumsFact::helper_joined_ns,
                                       &SumsFact::unannounced_cpu_ns, &SumsFact::children_cpu_ns>::kNamed;

SumsFact NumbersOf(const SumsFact& fact) {
  SumsFact numbers;
  numbers.chunks = fact.chunks;
  numbers.last_stop_ns = fact.last_stop_ns;
  numbers.duration_ns = fact.duration_ns;
  for (const auto& [key, member] : kKnownSums) numbers.*member = fact.*member;
  return numbers;
}

}  // namespace

std::string NameOfSums(const SumsFact& fact) {
  std::string name(1, fact.failed ? 'f' : 'o');
  for (const std::string_view text : {fact.input.dataset, fact.input.file, fact.input.pass}) {
    name.append(std::to_string(text.size())).push_back(':');
    name.append(text.data(), text.size());
  }
  return name;
}

std::optional<SumsFact> SumsSoFar::Increment(const SumsFact& fact) {
  const std::string name = NameOfSums(fact);
  const auto found = reported_.find(name);
  const bool is_first = found == reported_.end();
  if (is_first && reported_.size() >= kMostRows) return std::nullopt;
  const SumsFact before = is_first ? SumsFact() : found->second;
  if (fact.chunks <= before.chunks) return std::nullopt;
  SumsFact added = fact;
  added.chunks -= before.chunks;
  added.duration_ns = std::max<int64_t>(0, fact.duration_ns - before.duration_ns);
  for (const auto& [key, member] : kKnownSums) added.*member = Less(fact.*member, before.*member, is_first);
  added.first_start_ns = std::max(fact.first_start_ns, before.last_stop_ns);
  reported_.insert_or_assign(name, NumbersOf(fact));
  return added;
}

}  // namespace crema
