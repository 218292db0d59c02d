// Findings about a finished measurement: what was found, on which evidence, and what one could do about it.
#pragma once

#include "collector/insight/verdict_families.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// Judges a measurement. A verdict fires only on measured evidence; with too little of it the only verdicts are about
/// the measurement itself. Worst first; among equals gaps of the measurement, failing chunks, then largest saving
/// first.
std::vector<Verdict> Judge(const Measurement& measurement);

/// The rows of the document's `verdicts`: `id severity sentence evidence suggestion saving`.
std::vector<VerdictRow> VerdictRows(const std::vector<Verdict>& verdicts);

/// Sets `chunk_size_advice`, `resource_advice`, `verdicts`, `headline` and `trouble` from all else.
void AddInsight(Measurement* measurement);

// Causes with their symptoms: how the verdicts of a document are shown to people.

struct VerdictGroup {
  const VerdictRow* cause = nullptr;
  std::vector<const VerdictRow*> symptoms;
};

/// The document's verdicts, in its order. A symptom whose cause the document does not hold stands alone.
std::vector<VerdictGroup> GroupVerdicts(const Measurement& measurement);

/// `≈ 12 %` of the core-seconds that could be saved; empty where that is not known, or less than 0.1 %.
std::string SavingText(const VerdictRow& verdict);

/// Sets `cause` where one verdict explains another.
void FindCauses(const Measurement& measurement, std::vector<Verdict>* verdicts);

/// Worst first; a cause is as bad as what it brings, and its symptoms stand behind it.
void OrderByCause(std::vector<Verdict>* verdicts);

}  // namespace crema
