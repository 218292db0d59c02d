// A finding about a measurement, and the measurement while it is being judged.
#ifndef CREMA_COLLECTOR_INSIGHT_VERDICT_H_
#define CREMA_COLLECTOR_INSIGHT_VERDICT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/insight/run_evidence.h"
#include "collector/insight/verdict_table.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// docs/verdicts.md. Conditions, thresholds and their reasons: verdict_table.h.
struct Verdict {
  std::string id;
  Severity severity = Severity::kInfo;
  std::string sentence;
  std::vector<std::pair<std::string, double>> evidence;  ///< the figures (document keys) that made it fire
  std::string suggestion;                                ///< what to do; empty where nothing is to be done
  std::optional<double> saving;                          ///< share of the core-seconds (0 to 1) that could be saved
  std::string cause = "";                                ///< id of the verdict that explains this one; empty: none does
};

/// What a family of verdicts judges, and where it puts its findings.
struct JudgedRun {
  const Measurement& measurement;
  const RunEvidence& evidence;
  std::vector<Verdict>* verdicts;

  /// Only where `evidence.IsEnough()`.
  const BudgetRows& budget() const { return *evidence.budget; }
  bool is_running() const { return evidence.state == RunState::kRunning; }

  /// Adds a verdict of the table with its suggestion, bad where `value` reaches the rule's second threshold.
  void Add(const VerdictRule& rule, double value, std::string sentence,
           std::vector<std::pair<std::string, double>> found, std::optional<double> saving) const {
    verdicts->push_back({std::string(rule.id), value >= rule.bad ? Severity::kBad : rule.severity, std::move(sentence),
                         std::move(found), std::string(rule.suggestion), saving});
  }
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_VERDICT_H_
