// What the figures show: the rows of `stragglers`, `chunk_fits`, `expected_time`, `slow_spells`, `contention`,
// `chunk_size_advice`, `resource_advice` and `verdicts`.
#pragma once

#include "collector/measurement/column.h"

namespace crema {

/// A chunk that took far longer than its size explains.
struct StragglerRow {
  Number chunk;
  Text dataset;
  Text file;
  Number entry_start;
  Number entry_stop;
  Text worker;
  Number start;
  Number duration;
  Number predicted;
  Number events;
  Number cpu;
  Number cpu_wait;
  Number blocked;
  Text reason;
  Text section;
  static absl::Span<const Column> Columns();
};

/// The robust fit of a dataset.
struct ChunkFitRow {
  Text dataset;
  Text pass;
  Number attempts;
  Number fixed_seconds;
  Number fixed_seconds_low;
  Number fixed_seconds_high;
  Number seconds_per_event;
  Number seconds_per_event_low;
  Number seconds_per_event_high;
  Number events_min;
  Number events_p50;
  Number events_max;
  Number stragglers;
  Number oversized;
  static absl::Span<const Column> Columns();
};

/// The time that a worker or file took, beside what the fits predict.
struct ExpectedTimeRow {
  Text name;
  Text by;
  Number attempts;
  Number duration;
  Number predicted;
  static absl::Span<const Column> Columns();
};

/// A time in which chunks were slow.
struct SlowPeriodRow {
  Text name;
  Text by;
  Number start;
  Number stop;
  Number attempts;
  Number duration;
  Number predicted;
  Text reason;
  Text section;
  static absl::Span<const Column> Columns();
};

/// Mean open lanes during a chunk, and the blocked seconds per event then.
struct LanePoint {
  double lanes = 0;
  double seconds = 0;
};
void WriteValue(const std::vector<LanePoint>& member, Json* value);
void ReadValue(const Json& value, std::vector<LanePoint>* member);

/// Whether chunks are blocked for longer while more of them are open.
struct ContentionRow {
  Number attempts;
  Number lanes_low;
  Number lanes_high;
  Number slope;
  Number slope_low;
  Number slope_high;
  Number ceiling;
  Number ceiling_low;
  Number ceiling_high;
  Number excess;
  Number excess_low;
  std::vector<LanePoint> points;
  Text reason;
  static absl::Span<const Column> Columns();
};

/// How many events a chunk of a dataset should have.
struct ChunkSizeAdviceRow {
  Text dataset;
  Text pass;
  Number events_p50;
  Number events_least;
  Number events_most;
  Number seconds_least;
  Number seconds_most;
  Text limited_by;
  Text reason;
  static absl::Span<const Column> Columns();
};

/// What to ask a batch system for.
struct ResourceAdviceRow {
  Text resource;
  Number jobs;
  Number requested;
  Number used;
  Number used_low;
  Number used_high;
  Text reason;
  static absl::Span<const Column> Columns();
};

/// A figure that made a verdict fire.
struct EvidenceRow {
  Text key;
  Number value;
  static absl::Span<const Column> Columns();
};

/// A finding, in words.
struct VerdictRow {
  Text id;
  Text severity;
  Text sentence;
  std::vector<EvidenceRow> evidence;
  Text suggestion;
  Number saving;
  Text cause;
  static absl::Span<const Column> Columns();
};

}  // namespace crema
