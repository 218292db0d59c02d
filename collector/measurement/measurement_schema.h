// The name of the format of measurement.json (docs/measurements.md, "What a measurement holds").
#pragma once

#include <string_view>

namespace crema {

/// A reader refuses another major number; `schema_minor` only adds.
inline constexpr std::string_view kMeasurementSchema = "crema.measurement/1";
inline constexpr int kMeasurementSchemaMinor = 7;  ///< docs/changelog.md says what each number brought

}  // namespace crema
