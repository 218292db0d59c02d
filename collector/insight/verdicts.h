// Findings about a finished measurement: what was found, on which evidence, and what one could do about it.
#pragma once

#include <vector>

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

}  // namespace crema
