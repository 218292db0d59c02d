// What `crema run` was asked to do.
#ifndef CREMA_COLLECTOR_CLI_RUN_PLAN_H_
#define CREMA_COLLECTOR_CLI_RUN_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/cli/output_options.h"

namespace crema {

struct RunPlan {
  std::vector<std::string> command;  ///< empty: `pid` is watched
  int pid = 0;
  std::string directory;  ///< empty: `crema-<time>`
  std::string name;       ///< empty: the command's file name
  std::string pass;       ///< empty: none
  double interval_seconds = 1;
  int cores = 0;  ///< that each process is given; 0: not told
  bool trace = false;
  bool requests = false;
  bool allocations = false;
  std::string allocations_library;  ///< that counts them
  bool gpu = false;
  std::string gpu_library;  ///< that counts what GPUs do
  double stacks_hertz = 0;  ///< of CPU time; 0: stacks are not taken
  bool replace = false;
  int64_t max_log_bytes = 0;  ///< of each process's log; 0: as the environment says
  bool force = false;
  bool json = false;
  OutputOptions output;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_PLAN_H_
