// From where on the measurement itself deserves a warning.
#pragma once

namespace crema {

/// Share of events, or of an engine's compute seconds, that must have been recorded.
inline constexpr double kFullCoverage = 0.99;

}  // namespace crema
