// A comparison as Markdown: for the description of a merge request.
#ifndef CREMA_COLLECTOR_WRITERS_MARKDOWN_COMPARISON_H_
#define CREMA_COLLECTOR_WRITERS_MARKDOWN_COMPARISON_H_

#include <string>
#include <vector>

#include "collector/insight/comparison.h"
#include "collector/insight/comparison_gate.h"

namespace crema {

/// The sentences; for each compared run the sections that changed, with their ranges, and the parts of its elapsed
/// time; what should be equal and is not; the gates.
std::string ComparisonAsMarkdown(const Comparison& comparison, const std::vector<JudgedGate>& gates);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_MARKDOWN_COMPARISON_H_
