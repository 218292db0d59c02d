// A `crema run` inside another one keeps its own directory; the outer one's gets a pointer to it.
#ifndef CREMA_COLLECTOR_CLI_NESTED_RUN_H_
#define CREMA_COLLECTOR_CLI_NESTED_RUN_H_

#include "collector/cli/run_directory.h"
#include "collector/records/tree_facts.h"

namespace crema {

/// Where CREMA_DIR is set in crema's own environment, writes `$CREMA_DIR/<host>-<pid>.nested.json`: `schema`
/// (`crema.nested/1`), `run_id`, `name`, `command`, `host`, `pid`, `start_ns`, `directory`. A pointer that cannot be
/// written is no reason to fail: the outer run's records lack nothing but the hint.
void NotePointerInOuterRun(const TreeRunFact& run, const RunDirectory& directory);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_NESTED_RUN_H_
