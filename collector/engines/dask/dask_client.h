// Pulls a Dask log from a running scheduler, over its dashboard's HTTP.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_DASK_CLIENT_H_
#define CREMA_COLLECTOR_ENGINES_DASK_DASK_CLIENT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace crema {

/// Of `dask://HOST:PORT`, a scheduler's dashboard.
inline constexpr std::string_view kDaskScheme = "dask://";

/// The part behind the scheme.
std::string HostAndPort(const std::string& address);

/// The error of an address where something answers that is no Dask scheduler.
absl::Status NoSchedulerAt(const std::string& address);

/// Has all workers send what they have, and writes everything that the scheduler keeps into the file `path`.
/// Errors: nobody answers at the address, or no Dask scheduler; NotFound: a scheduler without crema's plug-in.
absl::Status PullDaskLog(const std::string& address, const std::string& path);

/// For a scheduler without the plug-in: writes a Dask log with what every scheduler tells, which is its state at this
/// moment (/json/counts.json) and its compute seconds by prefix (/metrics). Errors: it is no Dask scheduler.
absl::Status DescribeBareScheduler(const std::string& address, const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_DASK_CLIENT_H_
