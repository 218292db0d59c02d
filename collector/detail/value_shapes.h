// The shape of quantities over all attempts: distributions of one, and grids of two.
#ifndef CREMA_COLLECTOR_DETAIL_VALUE_SHAPES_H_
#define CREMA_COLLECTOR_DETAIL_VALUE_SHAPES_H_

#include <vector>

#include "collector/detail/attempt_list.h"
#include "collector/detail/run_detail.h"

namespace crema {

/// Over `ok` attempts (docs/metrics.md), of every quantity that at least one of them has. `slots`: by attempt.
std::vector<ValueShape> ShapeDistributions(const AttemptList& list, const std::vector<uint32_t>& slots,
                                           uint32_t slot_count);

/// Over `ok` attempts that have both quantities.
std::vector<CountGrid> ShapeGrids(const AttemptList& list);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_VALUE_SHAPES_H_
