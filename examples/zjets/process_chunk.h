// ProcessChunk: the analysis of one chunk, with its guards.
#ifndef CREMA_EXAMPLES_ZJETS_PROCESS_CHUNK_H_
#define CREMA_EXAMPLES_ZJETS_PROCESS_CHUNK_H_

#include "examples/zjets/dataset_results.h"
#include "examples/zjets/ghosts.h"
#include "examples/zjets/options.h"
#include "examples/zjets/overlay.h"
#include "examples/zjets/plan.h"

namespace zjets {

/// The data that all chunks of a process share. They are only read while chunks are processed.
struct AnalysisInput {
  const Options& options;
  const Plan& plan;
  PileupSample pileup;
  Ghosts ghosts;  ///< none without pile-up: then there is nothing to subtract
};

/// Reads the pile-up sample and prepares FastJet. Throws std::runtime_error when the sample cannot be read.
AnalysisInput PrepareAnalysis(const Options& options, const Plan& plan);

/// Reads, overlays, clusters, selects and fills the events of one chunk. May run in several threads at once. If the
/// chunk cannot be processed, it throws an exception derived from std::exception, and the attempt is recorded as
/// failed.
DatasetResults ProcessChunk(const AnalysisInput& input, const WorkItem& item);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_PROCESS_CHUNK_H_
