// The section in which the chunks of a slow spell were slow.
#ifndef CREMA_COLLECTOR_METRICS_SPELL_SECTIONS_H_
#define CREMA_COLLECTOR_METRICS_SPELL_SECTIONS_H_

#include "collector/metrics/chunk_search.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// Sets `section` of the spells that have a sample: the one whose own time took half or more of what the spell's chunks
/// took beyond the usual. The usual is the share that the section has in chunks of the same datasets elsewhere.
/// Sections of helpers do not count: their time is beside the chunk's. Reads the records of the samples again.
void NameSpellSections(const SearchedLogs& logs, RunFigures* figures);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_SPELL_SECTIONS_H_
