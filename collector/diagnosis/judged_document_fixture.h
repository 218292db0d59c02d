// A measurement document of a quiet run, for the tests of what judges documents: each changes what it is about.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "collector/diagnosis/verdicts.h"
#include "collector/measurement/measurement.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Replaces the budget by these parts; their sum becomes `core_seconds`.
inline void SetBudget(nlohmann::ordered_json* document, const std::vector<std::pair<std::string, double>>& parts) {
  (*document)["budget"] = nlohmann::ordered_json::array();
  double sum = 0;
  for (const auto& [part, core_seconds] : parts) {
    nlohmann::ordered_json row;
    row["part"] = part;
    row["group"] = "group of " + part;
    row["core_seconds"] = core_seconds;
    (*document)["budget"].push_back(std::move(row));
    sum += core_seconds;
  }
  (*document)["metrics"]["core_seconds"] = sum;
}

/// 100 core-seconds, 90 of them CPU, 100 chunks without failure, nothing missing.
inline nlohmann::ordered_json QuietRun() {
  nlohmann::ordered_json document;
  document["run"]["state"] = "finished";
  document["run"]["exit_status"] = 0;
  auto& metrics = document["metrics"];
  metrics["num_chunks"] = 100;
  metrics["num_attempts"] = 100;
  metrics["num_failed_attempts"] = 0;
  metrics["num_lost_attempts"] = 0;
  metrics["num_unfinished_chunks"] = 0;
  metrics["cpu_efficiency"] = 0.9;
  metrics["straggler_chunks"] = 0;
  document["quality"]["records_dropped"] = 0;
  document["stragglers"] = nlohmann::ordered_json::array();
  SetBudget(&document, {{"compute", 90}, {"blocked", 4}, {"idle", 4}, {"tail", 2}});
  return document;
}

/// The same of a document as of its measurement.
inline std::vector<Verdict> Judge(const nlohmann::ordered_json& document) { return Judge(MeasurementOf(document)); }
inline void AddInsight(nlohmann::ordered_json* document) {
  Measurement measurement = MeasurementOf(*document);
  AddInsight(&measurement);
  *document = JsonOf(measurement);
}

inline std::vector<std::string> VerdictIds(const nlohmann::ordered_json& document) {
  std::vector<std::string> ids;
  for (const Verdict& verdict : Judge(document)) ids.push_back(verdict.id);
  return ids;
}

/// The verdict of this id; a failure and an empty one where it did not fire.
inline Verdict FindVerdict(const nlohmann::ordered_json& document, const std::string& id) {
  for (const Verdict& verdict : Judge(document)) {
    if (verdict.id == id) return verdict;
  }
  ADD_FAILURE() << id << " did not fire";
  return {};
}

inline Measurement WithMetrics(const nlohmann::ordered_json& metrics) { return MeasurementOf({{"metrics", metrics}}); }

}  // namespace crema
