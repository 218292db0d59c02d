#include "collector/metrics/attempts/chunk_distributions.h"

#include <array>
#include <optional>
#include <type_traits>

#include "collector/metrics/attempts/attempt_quantities.h"
#include "collector/metrics/memory/large_pages.h"

namespace crema {
namespace {

constexpr double kPerSecond = 1e9;
constexpr double kPerOne = 1;

std::optional<double> Ratio(double part, int64_t whole) {
  return whole > 0 ? std::optional<double>(part / static_cast<double>(whole)) : std::nullopt;
}

// The values of one quantity: optional integers of 1 / `per_unit`, or doubles.
template <class Value>
class QuantityColumn {
 public:
  QuantityColumn(std::string_view key, double per_unit, size_t attempts) : per_unit_(per_unit) {
    result_.key = key;
    ReserveLargePages(values_, attempts);
  }
  void Add(const std::optional<Value>& value) {
    if (value.has_value()) {
      values_.push_back(*value);
    } else {
      ++result_.unknown;
    }
  }
  ChunkDistribution Describe() {
    if constexpr (std::is_same_v<Value, double>) {
      result_.distribution = DescribeReals(values_);
    } else {
      result_.distribution = DescribeIntegers(values_, per_unit_);
    }
    return result_;
  }

 private:
  double per_unit_;
  std::vector<Value> values_;
  ChunkDistribution result_;
};

template <class A, class B, class C, class Fill>
std::vector<ChunkDistribution> DescribeThree(const AttemptRows& attempts, QuantityColumn<A> a, QuantityColumn<B> b,
                                             QuantityColumn<C> c, const Fill& fill) {
  for (const AttemptRow& attempt : attempts) {
    if (attempt.status == AttemptState::kOk) fill(attempt, a, b, c);
  }
  return {a.Describe(), b.Describe(), c.Describe()};
}

using Integers = QuantityColumn<int64_t>;
using Reals = QuantityColumn<double>;
using Helpers = std::vector<HelperTimes>;

std::vector<ChunkDistribution> DescribeTimes(const AttemptRows& attempts, const Helpers& helpers) {
  const size_t count = attempts.size();
  return DescribeThree(attempts, Integers("chunk_duration", kPerSecond, count),
                       Integers("chunk_cpu", kPerSecond, count), Integers("chunk_cpu_wait", kPerSecond, count),
                       [&helpers](const AttemptRow& attempt, Integers& duration, Integers& cpu, Integers& cpu_wait) {
                         duration.Add(Known(attempt.duration_ns));
                         cpu.Add(ChunkCpu(attempt, helpers));
                         cpu_wait.Add(Known(attempt.cpu_wait_ns));
                       });
}

std::vector<ChunkDistribution> DescribeSizes(const AttemptRows& attempts, const Helpers& helpers) {
  const size_t count = attempts.size();
  return DescribeThree(
      attempts, Integers("chunk_blocked", kPerSecond, count), Integers("chunk_events", kPerOne, count),
      Reals("chunk_time_per_event", kPerOne, count),
      [&helpers](const AttemptRow& attempt, Integers& blocked, Integers& events, Reals& time_per_event) {
        blocked.Add(ChunkBlocked(attempt, helpers));
        events.Add(Known(attempt.events));
        time_per_event.Add(Ratio(static_cast<double>(attempt.duration_ns) / kPerSecond, attempt.events));
      });
}

std::vector<ChunkDistribution> DescribeMemory(const AttemptRows& attempts, const Helpers& /*helpers*/) {
  const size_t count = attempts.size();
  return DescribeThree(
      attempts, Integers("chunk_rss_delta", kPerOne, count), Reals("chunk_rss_delta_per_event", kPerOne, count),
      Reals("chunk_event_rate", kPerOne, count),
      [](const AttemptRow& attempt, Integers& rss_delta, Reals& rss_delta_per_event, Reals& event_rate) {
        const std::optional<int64_t> delta = RssDelta(attempt);
        const bool known = attempt.events != AttemptRow::kUnknown;
        rss_delta.Add(delta);
        rss_delta_per_event.Add(delta.has_value() ? Ratio(static_cast<double>(*delta), attempt.events) : std::nullopt);
        event_rate.Add(known ? Ratio(static_cast<double>(attempt.events) * kPerSecond, attempt.duration_ns)
                             : std::nullopt);
      });
}

}  // namespace

std::vector<ChunkDistribution> DescribeChunks(size_t pass, const AttemptRows& attempts,
                                              const std::vector<HelperTimes>& helpers) {
  using Describe = std::vector<ChunkDistribution> (*)(const AttemptRows&, const Helpers&);
  constexpr std::array<Describe, kDistributionPasses> kPasses = {DescribeTimes, DescribeSizes, DescribeMemory};
  return kPasses[pass](attempts, helpers);
}

}  // namespace crema
