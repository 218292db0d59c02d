// What a roastcoffea measurement says beside its chunk records: workers, time series, Dask's fine metrics.
#ifndef CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_FIGURES_H_
#define CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_FIGURES_H_

#include <string>

#include "collector/measurement/measurement.h"
#include "collector/sources/roastcoffea/roastcoffea_directory.h"
#include "collector/sources/roastcoffea/roastcoffea_records.h"

namespace crema {

/// Completes what was measured from the chunk records alone. Figures of the catalog are computed anew from
/// the samples (step integrals where roastcoffea has trapezoids); what its files cannot tell becomes null with the
/// reason, also where the one process that stands for all workers gave a value.
void AddRoastcoffeaFigures(const RoastcoffeaMeasurement& measurement, const RoastcoffeaRecords& records,
                           Measurement* measured);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_FIGURES_H_
