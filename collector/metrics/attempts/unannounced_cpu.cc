#include "collector/metrics/attempts/unannounced_cpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace crema {
namespace {

/// The part of a process's unannounced CPU in chunks that threads would have used anyway.
double ShareOfBackground(const UnannouncedFact& times) {
  constexpr int64_t kLeastOutsideNs = 10'000'000;  // a rate of less says nothing: the threads' work comes in pieces
  const auto outside_ns = times.outside_ns.value_or(0);
  const auto alone_cpu_ns = static_cast<double>(times.alone_cpu_ns.value_or(0));
  if (outside_ns < kLeastOutsideNs || alone_cpu_ns <= 0) return 0;
  const double rate = static_cast<double>(times.outside_cpu_ns.value_or(0)) / static_cast<double>(outside_ns);
  return std::min(1.0, rate * static_cast<double>(times.alone_ns.value_or(0)) / alone_cpu_ns);
}

}  // namespace

void LeaveOutBackground(const std::vector<ProcessRow>& processes, AttemptFindings* attempts) {
  std::vector<double> shares;
  for (const ProcessRow& process : processes) shares.push_back(ShareOfBackground(process.unannounced));
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0; })) return;
  const auto leave_out = [&](const AttemptRow& row) {
    if (row.helpers == AttemptRow::kNone) return;
    HelperTimes& helpers = attempts->helpers[row.helpers];
    const auto left_out = std::llround(static_cast<double>(helpers.unannounced_ns) * shares[row.recording_process()]);
    helpers.unannounced_ns -= left_out;
    if (helpers.cpu_ns >= 0) helpers.cpu_ns -= left_out;
    helpers.scope_ns -= left_out;
  };
  for (const AttemptRow& row : attempts->rows) leave_out(row);
  for (const SummedAttempts& summed : attempts->summed) leave_out(summed.row);
}

}  // namespace crema
