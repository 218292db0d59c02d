// What `crema compare` prints for people.
#ifndef CREMA_COLLECTOR_WRITERS_TERMINAL_COMPARISON_H_
#define CREMA_COLLECTOR_WRITERS_TERMINAL_COMPARISON_H_

#include <string>

#include "collector/insight/comparison.h"
#include "collector/writers/terminal_style.h"

namespace crema {

/// First what should be equal and is not, then the key figures and every other metric that changed, then datasets and
/// sections. No line is wider than `style.width`.
std::string RenderComparison(const Comparison& comparison, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TERMINAL_COMPARISON_H_
