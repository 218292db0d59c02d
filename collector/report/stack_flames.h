// Sampled stacks as the page draws them.
#ifndef CREMA_COLLECTOR_REPORT_STACK_FLAMES_H_
#define CREMA_COLLECTOR_REPORT_STACK_FLAMES_H_

#include <cstddef>

#include "collector/exports/sampled_stacks.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// What a page can show, and what a browser draws at once.
inline constexpr size_t kMostFlames = 3'000;

/// `{"functions": [[name, short name, "file:line"], …], "places": [{"dataset", "section", "samples", "tree"}, …],
/// "left_out": …}`. A tree is a list of `[depth, function, samples, own]`, each function above what it called:
/// `samples` have it on the stack, in `own` of these it ran itself. Of more than `most` functions on stacks the rarest
/// are `left_out`. Names are cut after 200 bytes.
nlohmann::ordered_json FlamesOf(const SampledStacks& stacks, size_t most = kMostFlames);

}  // namespace crema

#endif  // CREMA_COLLECTOR_REPORT_STACK_FLAMES_H_
