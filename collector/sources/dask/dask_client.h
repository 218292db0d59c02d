// Pulls a Dask log from a running scheduler, over its dashboard's HTTP.
#ifndef CREMA_COLLECTOR_SOURCES_DASK_DASK_CLIENT_H_
#define CREMA_COLLECTOR_SOURCES_DASK_DASK_CLIENT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace crema {

/// `dask://HOST:PORT`: a scheduler's dashboard.
bool IsDaskAddress(std::string_view source);

/// Has all workers send what they have, and writes everything that the scheduler keeps into the file `path`.
/// Errors: nobody answers at the address, or no Dask scheduler; NotFound: a scheduler without crema's plug-in.
absl::Status PullDaskLog(const std::string& address, const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_DASK_DASK_CLIENT_H_
