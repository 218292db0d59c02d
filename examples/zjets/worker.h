// Worker: takes chunks until there are none.
#ifndef CREMA_EXAMPLES_ZJETS_WORKER_H_
#define CREMA_EXAMPLES_ZJETS_WORKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "examples/zjets/dataset_results.h"
#include "examples/zjets/options.h"
#include "examples/zjets/plan.h"
#include "examples/zjets/work_counter.h"

namespace zjets {

/// The results of one worker, or of all workers.
struct WorkerReport {
  std::vector<DatasetResults> datasets;  ///< as in Options::datasets
  std::int64_t chunks = 0;               ///< that succeeded
  std::vector<std::string> failures;     ///< one line each: which chunk, and why

  void Merge(const WorkerReport& other);
  std::string ToBytes() const;
  static WorkerReport FromBytes(std::string_view bytes);
};

/// An empty report of this many datasets.
WorkerReport EmptyReport(std::size_t datasets);

/// Processes the items that `counter` hands out, in `options.threads` threads. A chunk that fails is reported and does
/// not stop the others. Throws std::runtime_error when the worker cannot be set up.
WorkerReport RunWorker(const Options& options, const Plan& plan, WorkCounter* counter);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_WORKER_H_
