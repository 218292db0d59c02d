// What sacct wrote with --noheader: which column is which, by what the cells hold.
#ifndef CREMA_COLLECTOR_ENGINES_SLURM_SACCT_COLUMNS_H_
#define CREMA_COLLECTOR_ENGINES_SLURM_SACCT_COLUMNS_H_

#include <optional>
#include <string_view>

#include "collector/engines/slurm/sacct_table.h"

namespace crema {

/// The columns that nothing else can be: JobID, JobIDRaw, State, ExitCode, Start, End. Others stay without a name.
/// `text` begins with the first row. nullopt: not all of JobID, State, Start and End can be told from others.
std::optional<SacctHeader> RecogniseSacctColumns(std::string_view text);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_SLURM_SACCT_COLUMNS_H_
