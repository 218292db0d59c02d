#include "collector/insight/run_evidence.h"

#include <algorithm>
#include <string>

#include "collector/document/document_fields.h"

namespace crema {

using Json = nlohmann::ordered_json;

RunEvidence ReadRunEvidence(const nlohmann::ordered_json& document) {
  RunEvidence evidence;
  const std::string state = TextField(Field(document, "run"), "state");
  if (state == "running") evidence.state = RunState::kRunning;
  if (state == "killed") evidence.state = RunState::kKilled;
  evidence.attempts = Metric(document, "num_attempts").value_or(0);
  evidence.lost = Metric(document, "num_lost_attempts").value_or(0);
  const double failed = Metric(document, "num_failed_attempts").value_or(0);
  // A chunk has one result but may have several ok attempts: only whether any ended matters here. Without attempts the
  // number of chunks is what an engine reports of itself.
  if (evidence.attempts > 0) evidence.ended = std::max(Metric(document, "num_chunks").value_or(0) + failed, 0.0);
  evidence.budget = ReadBudget(document);
  return evidence;
}

bool RunEvidence::LacksCpuTime(const nlohmann::ordered_json& document) const {
  const Json& reasons = Field(Field(document, "quality"), "not_measured");
  const bool knows_cores = Metric(document, "core_seconds").has_value() && TextField(reasons, "core_seconds").empty();
  return ended > 0 && !budget.has_value() && knows_cores && !Metric(document, "chunk_cpu_time").has_value();
}

}  // namespace crema
