#include "collector/metrics/entry_ranges.h"

#include <algorithm>
#include <cstddef>

namespace crema {
namespace {

/// Whatever a section takes in usual chunks, it is not more than the whole chunk should.
std::string SlowSection(const ChunkFact& chunk, double predicted_seconds) {
  const double predicted_ns = 1e9 * predicted_seconds;
  const double excess_ns = static_cast<double>(chunk.duration_ns()) - predicted_ns;
  for (const SectionFact& section : chunk.sections) {
    const double beyond_ns = static_cast<double>(section.self_ns) - predicted_ns;
    if (!section.helper && 2 * beyond_ns > excess_ns) return std::string(section.path);
  }
  return "";
}

}  // namespace

std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const SearchedLogs& logs) {
  std::vector<size_t> attempts;
  for (const Straggler& straggler : figures.stragglers.stragglers) {
    if (attempts.size() == kMaxStragglerRows) break;
    attempts.push_back(straggler.attempt);
  }
  std::vector<EntryRange> ranges(attempts.size());
  FindChunks(figures.findings, attempts, logs, [&](size_t i, const ChunkFact& chunk) {
    ranges[i] = {chunk.input.entry_start, chunk.input.entry_stop,
                 SlowSection(chunk, figures.stragglers.stragglers[i].predicted_seconds)};
  });
  return ranges;
}

}  // namespace crema
