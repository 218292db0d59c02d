// From where on the measurement itself, rather than the run, deserves a warning.
#ifndef CREMA_COLLECTOR_INSIGHT_TRUST_LIMITS_H_
#define CREMA_COLLECTOR_INSIGHT_TRUST_LIMITS_H_

namespace crema {

/// Share of events (or of compute seconds) that must have been recorded: docs/metrics.md, "quality" flags less.
inline constexpr double kFullCoverage = 0.99;

/// A wall clock that stepped further than this was set by somebody: slewing (adjtimex(2)) stays far below.
inline constexpr double kLargeClockStepSeconds = 0.01;

/// Share of chunk time that measuring may cost; ten times what docs/performance.md, "Aims", has.
inline constexpr double kHighOverhead = 0.01;

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_TRUST_LIMITS_H_
