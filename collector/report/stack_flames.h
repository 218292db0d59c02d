// Sampled stacks as the page draws them.
#ifndef CREMA_COLLECTOR_REPORT_STACK_FLAMES_H_
#define CREMA_COLLECTOR_REPORT_STACK_FLAMES_H_

#include <cstddef>

#include "collector/exports/sampled_stacks.h"
#include "nlohmann/json.hpp"

namespace crema {

/// What a page can show, and what a browser draws at once.
inline constexpr size_t kMostFlames = 5'000;

/// `{"functions": [[name, short name, "file:line"], …], "places": [{"dataset", "section", "samples", "tree"}, …]}`. A
/// tree is a list of `[depth, function, samples]`, each function above what it called; `samples` have it on the stack.
/// Of more than `most` functions on stacks the rarest are left out: their samples count for their callers.
nlohmann::ordered_json FlamesOf(const SampledStacks& stacks, size_t most = kMostFlames);

}  // namespace crema

#endif  // CREMA_COLLECTOR_REPORT_STACK_FLAMES_H_
