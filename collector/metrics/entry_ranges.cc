#include "collector/metrics/entry_ranges.h"

#include <algorithm>
#include <cstddef>

namespace crema {

std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const SearchedLogs& logs) {
  std::vector<size_t> attempts;
  for (const Straggler& straggler : figures.stragglers.stragglers) {
    if (attempts.size() == kMaxStragglerRows) break;
    attempts.push_back(straggler.attempt);
  }
  std::vector<EntryRange> ranges(attempts.size());
  FindChunks(figures.findings, attempts, logs, [&ranges](size_t i, const ChunkFact& chunk) {
    ranges[i] = {chunk.input.entry_start, chunk.input.entry_stop};
  });
  return ranges;
}

}  // namespace crema
