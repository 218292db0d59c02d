// Engines' logs and addresses among the sources: pulled or read, and taken apart into record logs.
#ifndef CREMA_COLLECTOR_CLI_ENGINE_SOURCES_H_
#define CREMA_COLLECTOR_CLI_ENGINE_SOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/temporary_directory.h"

namespace crema {

/// Replaces each address of an engine and each of its logs by a directory with what it holds, below the directory that
/// is returned; null where there was none. Errors: as those of the engine's `pull` and `unpack`.
absl::StatusOr<std::shared_ptr<TemporaryDirectory>> UnpackEngineSources(std::vector<std::string>* sources);

/// What engines take, for `--help`: `dask://HOST:PORT (a scheduler's dashboard), Dask logs …`.
std::string EngineSourcesHelp();
/// The addresses that can be followed, for `--help`: `dask://HOST:PORT`.
std::string EngineAddressesHelp();
/// `a Dask scheduler`, of each engine that has addresses.
std::string EngineSchedulersHelp();

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_ENGINE_SOURCES_H_
