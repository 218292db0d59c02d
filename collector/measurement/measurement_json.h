// The file format of a measurement, `crema.measurement/1`: docs/measurements.md.
#pragma once

#include "collector/measurement/measurement.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// Every key, in the order in which people read them.
nlohmann::ordered_json JsonOf(const Measurement& measurement);

/// A metric: null, a number or a list of names.
nlohmann::ordered_json JsonOf(const MetricValue& value);
nlohmann::ordered_json JsonOf(const Number& number);

/// Never fails: a key that is not known is ignored, a value of another type is null, what is absent has no rows.
Measurement MeasurementOf(const nlohmann::ordered_json& document);

}  // namespace crema
