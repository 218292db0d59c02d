// Which commit of its source a run is of, and who says so: the environment, or the files of git. No process is started.
#pragma once

#include "collector/sources/process_tree/allocated_cores.h"

namespace crema {

struct SourceCommit {
  std::string id;      ///< empty: not known
  std::string source;  ///< the variable that said it, or `git`: `run.commit_source`
};

/// The first of these:
///  - CREMA_COMMIT, whatever it says (at most 100 bytes of it);
///  - the variables of CI systems, where they hold a hash;
///  - HEAD of the git repository of `directory`, as `git rev-parse HEAD` would say (gitrepository-layout(5)). That is
///    looked for upwards, but not beyond the file system. One that keeps its references as reftable shows nothing.
/// Changes that are not committed are not seen.
SourceCommit FindSourceCommit(const Environment& environment, const std::string& directory);

}  // namespace crema
