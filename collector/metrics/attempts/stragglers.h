// Chunks that took far longer than their size explains, and chunks that are far larger than their like.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_STRAGGLERS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_STRAGGLERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/statistics/robust_fit.h"

namespace crema {

/// Fewer `ok` attempts of a dataset have no quartiles worth the name: it is not judged.
inline constexpr int64_t kLeastFittedAttempts = 8;

/// A chunk with more than so many times the events of its dataset's median is oversized.
inline constexpr double kOversizedMedians = 3;

/// Where most of a straggler's excess over the prediction went, against the dataset's median shares.
enum class StragglerReason : uint8_t { kCpu, kCpuWait, kBlocked, kJoined, kUnknown };

/// `cpu`, `cpu_wait`, `blocked`, `joined` (waiting for its own helpers) or `unknown` (CPU or run delay not measured).
std::string_view ToString(StragglerReason reason);

struct Straggler {
  size_t attempt = 0;  ///< index into the attempts
  double predicted_seconds = 0;
  StragglerReason reason = StragglerReason::kUnknown;
};

/// What is known of one dataset's chunks, in one pass.
struct DatasetFit {
  uint32_t dataset = 0;    ///< as `dataset_of_input` numbers them
  RobustFit fit;           ///< over its `ok` attempts
  bool by_events = false;  ///< attempts whose events are unknown were left out; false: all are unknown
  double events_min = 0;   ///< of the attempts in the fit, as the next two
  double events_p50 = 0;
  double events_max = 0;
  int64_t stragglers = 0;
  int64_t oversized = 0;
};

struct StragglerFindings {
  std::vector<Straggler> stragglers;  ///< largest excess (duration - prediction) first
  std::vector<DatasetFit> datasets;   ///< by dataset index; those with an `ok` attempt
  /// docs/metrics.md, `straggler_chunks`; nullopt where no dataset has 8 `ok` attempts.
  std::optional<int64_t> straggler_chunks;
  /// docs/metrics.md, `oversized_chunks`, over results; nullopt where no result's events are known.
  std::optional<int64_t> oversized_chunks;
};

/// `dataset_of_input[attempt.input]` is the attempt's dataset in its pass. A dataset whose chunks' events are
/// all unknown is judged against its median duration; where only some are, the others are left out.
StragglerFindings FindStragglers(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers,
                                 const std::vector<uint32_t>& dataset_of_input);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_STRAGGLERS_H_
