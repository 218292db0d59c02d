// What `crema compare` prints for people, as Markdown, and as JUnit for a CI system.
#ifndef CREMA_COLLECTOR_WRITERS_TERMINAL_COMPARISON_H_
#define CREMA_COLLECTOR_WRITERS_TERMINAL_COMPARISON_H_

#include <string>
#include <vector>

#include "collector/insight/comparison.h"
#include "collector/insight/comparison_gate.h"
#include "collector/writers/display_text.h"

namespace crema {

/// First what should be equal and is not, then the key figures and every other metric that changed, then datasets and
/// sections. No line is wider than `style.width`.
std::string RenderComparison(const Comparison& comparison, const TerminalStyle& style);

/// The sentences; for each compared run the sections that changed, with their ranges, and the parts of its elapsed
/// time; what should be equal and is not; the gates.
std::string ComparisonAsMarkdown(const Comparison& comparison, const std::vector<JudgedGate>& gates);

/// One test suite `crema compare`, a test case for each gate, in the format of JUnit that continuous integration reads
/// (https://github.com/testmoapp/junitxml). Valid XML whatever runs and sections are called.
std::string GatesAsJunit(const std::vector<JudgedGate>& gates);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TERMINAL_COMPARISON_H_
