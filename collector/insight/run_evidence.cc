#include "collector/insight/run_evidence.h"

#include <algorithm>
#include <string>

namespace crema {

RunEvidence ReadRunEvidence(const Measurement& measurement) {
  RunEvidence evidence;
  const std::string state = measurement.run.state.str();
  if (state == "running") evidence.state = RunState::kRunning;
  if (state == "killed") evidence.state = RunState::kKilled;
  evidence.attempts = measurement.Metric("num_attempts").value_or(0);
  evidence.lost = measurement.Metric("num_lost_attempts").value_or(0);
  const double failed = measurement.Metric("num_failed_attempts").value_or(0);
  // A chunk has one result but may have several ok attempts: only whether any ended matters here. Without attempts the
  // number of chunks is what an engine reports of itself.
  if (evidence.attempts > 0) evidence.ended = std::max(measurement.Metric("num_chunks").value_or(0) + failed, 0.0);
  evidence.budget = ReadBudget(measurement);
  return evidence;
}

}  // namespace crema
