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

class HttpConnection;

/// Why a server that does not know crema's route has no records, with the remedy: NotFound: it is a Dask scheduler
/// without crema's plug-in, or no Dask scheduler. Unavailable: it does not answer any more.
absl::Status WithoutPlugin(const std::string& address, HttpConnection* scheduler);

/// Has all workers send what they have, and writes everything that the scheduler keeps into the file `path`.
/// Errors: nobody answers at the address; NotFound: a scheduler without crema's plug-in, or no Dask scheduler.
absl::Status PullDaskLog(const std::string& address, const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_DASK_CLIENT_H_
