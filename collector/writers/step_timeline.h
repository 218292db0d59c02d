// A time line of the document (`worker -> [[seconds, value], …]`, on change), summed over workers in equal columns.
#ifndef CREMA_COLLECTOR_WRITERS_STEP_TIMELINE_H_
#define CREMA_COLLECTOR_WRITERS_STEP_TIMELINE_H_

#include <optional>
#include <string_view>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

/// The sum over workers of `timelines[series]`, averaged over each of `columns` equal parts of the run's wall time. A
/// value holds until the next one or until its worker stops; a part without any value is nullopt. Empty where the
/// series or the wall time was not measured.
std::vector<std::optional<double>> TimelineColumns(const Measurement& measurement, std::string_view series,
                                                   int columns);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_STEP_TIMELINE_H_
