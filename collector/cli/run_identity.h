// The names by which a run is known.
#ifndef CREMA_COLLECTOR_CLI_RUN_IDENTITY_H_
#define CREMA_COLLECTOR_CLI_RUN_IDENTITY_H_

#include <string>

namespace crema {

/// Unique on all hosts, sorted by time: `20261121T140211Z-<8 random bytes in hex>`.
std::string NewRunId();

/// This host's name, fit for a file's name.
std::string HostName();

/// `/opt/bin/analysis` is `analysis`.
std::string CommandName(const std::string& command);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_IDENTITY_H_
