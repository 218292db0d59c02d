// What `crema serve` and `crema top` have in common: which run is followed, and how much of it there is to come.
#ifndef CREMA_COLLECTOR_CLI_LIVE_OPTIONS_H_
#define CREMA_COLLECTOR_CLI_LIVE_OPTIONS_H_

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "collector/server/live_model.h"

namespace crema {

struct LiveCommandOptions {
  std::vector<std::string> sources;
  std::string name;
  std::string run;
  std::vector<std::string> total_events;
};

/// Adds SOURCE…, --name, --run and --total-events. `options` must outlive the parsing.
void AddLiveOptions(CLI::App* subcommand, LiveCommandOptions* options);

/// What they mean. Throws CLI::ValidationError where --total-events is neither a number nor DATASET=NUMBER.
LiveOptions ReadLiveOptions(const LiveCommandOptions& options);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_LIVE_OPTIONS_H_
