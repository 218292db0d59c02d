// Plan: the work to do, found out once and passed to all workers.
#ifndef CREMA_EXAMPLES_ZJETS_PLAN_H_
#define CREMA_EXAMPLES_ZJETS_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examples/zjets/lhe_file.h"
#include "examples/zjets/options.h"

namespace zjets {

/// One chunk: events [first, last) of a file.
struct WorkItem {
  std::int32_t dataset = 0;          ///< index in Options::datasets
  std::int32_t file = 0;             ///< index in Plan::files
  std::int32_t file_in_dataset = 0;  ///< index in Dataset::files
  std::int32_t repeat = 0;           ///< which pass over the data
  std::int64_t first = 0;
  std::int64_t last = 0;  ///< first == last: a file that could not be indexed, to be tried, and missed, once more
};

struct Plan {
  std::vector<LheFile> files;  ///< of all datasets, in their order
  LheFile pileup;              ///< has no events when none are wanted
  std::vector<WorkItem> items;
};

/// Goes through all files. A part that cannot be read becomes an item that fails, so that no data are left out
/// silently.
Plan MakePlan(const Options& options);

std::string ToBytes(const Plan& plan);
Plan PlanFromBytes(std::string_view bytes);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_PLAN_H_
