// From where on the measurement itself deserves a warning.
#ifndef CREMA_COLLECTOR_MEASUREMENT_QUALITY_LIMITS_H_
#define CREMA_COLLECTOR_MEASUREMENT_QUALITY_LIMITS_H_

namespace crema {

/// Share of events, or of an engine's compute seconds, that must have been recorded.
inline constexpr double kFullCoverage = 0.99;

}  // namespace crema

#endif  // CREMA_COLLECTOR_MEASUREMENT_QUALITY_LIMITS_H_
