#include "collector/metrics/plausibility.h"

#include <algorithm>
#include <string_view>

namespace crema {
namespace {

// Clocks of CPUs, of threads and of the wall are read one after the other, and count in different steps.
constexpr double kTolerance = 0.01;

constexpr std::string_view kTooFewCores =
    "the chunks used more CPU time than their cores have: the number of cores is too low (CREMA_THREADS)";
constexpr std::string_view kTooManySeconds = "its parts take longer than the time that there was for them";

/// From 0 to `most`, or to the figure `most_key`.
struct Limit {
  std::string_view key;
  std::string_view reason;
  double most = 1;
  std::string_view most_key = {};
};

constexpr Limit kLimits[] = {
    {"cpu_efficiency", kTooFewCores},
    {"core_efficiency", kTooManySeconds},
    {"balance", kTooManySeconds},
    {"io_overhead", kTooManySeconds},
    {"io_overhead_pct", kTooManySeconds, 100},
    {"section_coverage", kTooManySeconds},
    {"decompression_share", kTooManySeconds},
    {"instrumentation_overhead", kTooManySeconds},
    {"ideal_wall_time", "it is longer than the elapsed time", 0, "wall_time"},
    {"tail_time", "it is longer than the elapsed time", 0, "wall_time"},
};

/// nullopt: it is beyond `most` by more than clocks and rounding explain.
std::optional<double> Bounded(double value, double most) {
  if (value < 0 || value > most * (1 + kTolerance)) return std::nullopt;
  return std::min(value, most);
}

}  // namespace

std::optional<double> PossibleShare(std::optional<double> share) {
  return share.has_value() ? Bounded(*share, 1) : std::nullopt;
}

void RefuseImpossible(MetricSet* metrics) {
  for (const Limit& limit : kLimits) {
    const std::optional<double> value = metrics->Number(limit.key);
    const std::optional<double> most = limit.most_key.empty() ? limit.most : metrics->Number(limit.most_key);
    if (!value.has_value() || !most.has_value() || (*value >= 0 && *value <= *most)) continue;
    if (const std::optional<double> bounded = Bounded(*value, *most)) {
      metrics->Set(limit.key, *bounded);
    } else {
      metrics->SetNull(limit.key, limit.reason);
    }
  }
}

}  // namespace crema
