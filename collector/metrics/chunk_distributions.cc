#include "collector/metrics/chunk_distributions.h"

#include <optional>
#include <type_traits>

#include "collector/metrics/attempt_quantities.h"

namespace crema {
namespace {

constexpr double kPerSecond = 1e9;
constexpr double kPerOne = 1;

std::optional<double> Ratio(double part, int64_t whole) {
  return whole > 0 ? std::optional<double>(part / static_cast<double>(whole)) : std::nullopt;
}

// Describes what `quantity(attempt)` gives of each `ok` attempt: optional integers of 1 / `per_unit`, or doubles.
template <class Quantity>
ChunkDistribution Describe(std::string_view key, const std::vector<AttemptRow>& attempts, double per_unit,
                           const Quantity& quantity) {
  using Value = typename std::decay_t<decltype(quantity(attempts.front()))>::value_type;
  ChunkDistribution result;
  result.key = key;
  std::vector<Value> values;
  values.reserve(attempts.size());
  for (const AttemptRow& attempt : attempts) {
    if (attempt.status != AttemptStatus::kOk) continue;
    if (const auto value = quantity(attempt)) {
      values.push_back(*value);
    } else {
      ++result.unknown;
    }
  }
  if constexpr (std::is_same_v<Value, double>) {
    result.distribution = DescribeReals(values);
  } else {
    result.distribution = DescribeIntegers(values, per_unit);
  }
  return result;
}

}  // namespace

std::vector<ChunkDistribution> DescribeChunks(const std::vector<AttemptRow>& attempts,
                                              const std::vector<HelperTimes>& helpers) {
  const auto integers = [&](std::string_view key, double per_unit, const auto& quantity) {
    return Describe(key, attempts, per_unit, quantity);
  };
  const auto reals = [&](std::string_view key, const auto& quantity) {
    return Describe(key, attempts, kPerOne, quantity);
  };
  return {
      integers("chunk_duration", kPerSecond, [](const AttemptRow& a) { return Known(a.duration_ns); }),
      integers("chunk_cpu", kPerSecond, [&](const AttemptRow& a) { return ChunkCpu(a, helpers); }),
      integers("chunk_cpu_wait", kPerSecond, [](const AttemptRow& a) { return Known(a.cpu_wait_ns); }),
      integers("chunk_blocked", kPerSecond, [&](const AttemptRow& a) { return ChunkBlocked(a, helpers); }),
      integers("chunk_events", kPerOne, [](const AttemptRow& a) { return Known(a.events); }),
      reals("chunk_time_per_event",
            [](const AttemptRow& a) { return Ratio(static_cast<double>(a.duration_ns) / kPerSecond, a.events); }),
      integers("chunk_rss_delta", kPerOne, RssDelta),
      reals("chunk_rss_delta_per_event",
            [](const AttemptRow& a) {
              const std::optional<int64_t> delta = RssDelta(a);
              return delta.has_value() ? Ratio(static_cast<double>(*delta), a.events) : std::nullopt;
            }),
      reals("chunk_event_rate",
            [](const AttemptRow& a) {
              const bool known = a.events != AttemptRow::kUnknown;
              return known ? Ratio(static_cast<double>(a.events) * kPerSecond, a.duration_ns) : std::nullopt;
            }),
  };
}

}  // namespace crema
