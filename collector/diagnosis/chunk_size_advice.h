// Advice for the next run: how many events a chunk should have (docs/verdicts.md, "Chunk-size advice"), and what to ask
// a batch system for.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/measurement/thresholds.h"

namespace crema {

struct ChunkSizeAdvice {
  std::string dataset;
  std::string pass;
  double attempts = 0;
  std::optional<double> fixed_seconds;  ///< nullopt where the fit does not show it well enough
  std::optional<double> seconds_per_event;
  double fixed_seconds_low = 0;  ///< of its 95 % interval, as the next
  double fixed_seconds_high = 0;
  std::optional<double> events_p50;
  /// From here on the fixed cost stays below kMostFixedCost of a chunk's duration.
  std::optional<double> events_least;
  /// With n cores the last chunks leave n d / 2 core-seconds free on average, for chunks of duration d: up to here that
  /// stays below kMostTail of the busy time. nullopt: one core, or no fit.
  std::optional<double> events_most_for_tail;
  /// Up to here a worker of usual size stays below kMostMemory of its limit; nullopt: no limit, no growth with events,
  /// or several chunks open at once in a process, which share its memory.
  std::optional<double> events_most_for_memory;
  std::string reason;  ///< why there is no advice, or what it leaves out; empty: nothing

  /// `ttbar`, in a later pass `ttbar, loop 2`; empty: the chunks name neither.
  std::string Whose() const { return dataset + (dataset.empty() || pass.empty() ? "" : ", ") + pass; }
  /// The lesser of the two.
  std::optional<double> EventsMost() const;
  /// What a chunk of this size takes by the fit.
  std::optional<double> SecondsOf(const std::optional<double>& events) const;
};

/// One for each row of the document's `chunk_fits`.
std::vector<ChunkSizeAdvice> AdviseChunkSizes(const Measurement& measurement);

/// The rows of the document's `chunk_size_advice`.
std::vector<ChunkSizeAdviceRow> ChunkSizeAdviceRows(const std::vector<ChunkSizeAdvice>& advice);

/// "use 20 000 to 110 000 events a chunk", "use at least 20 000 …"; empty where there is no advice.
std::string AdviceInWords(const ChunkSizeAdvice& advice);

// What to ask a batch system for next time, from what its jobs used: docs/verdicts.md, "Resource advice".

/// The rows of the document's `resource_advice`: of a document with jobs of a batch system, what an engine's workers
/// hold memory limits and CPU time. Empty: it has none.
std::vector<ResourceAdviceRow> AdviseResources(const Measurement& measurement);

}  // namespace crema
