// Which pieces of two runs hold the same input: pairs of them, or whole datasets where chunks do not say what they had.
#ifndef CREMA_COLLECTOR_INSIGHT_PIECE_MATCH_H_
#define CREMA_COLLECTOR_INSIGHT_PIECE_MATCH_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/run_pieces.h"

namespace crema {

/// A range of fewer pairs, or of fewer chunks of a side, means nothing.
inline constexpr size_t kFewestPairs = 5;

/// The same input in both runs. Seconds by part: the indices are those of `PieceMatch::parts`.
struct PiecePair {
  std::string file;
  std::vector<double> before;
  std::vector<double> after;  ///< for as many events
  std::vector<double> ratio;  ///< of all time, after over before; negative: there was none before
};

struct WeighedPiece {
  double weight = 0;  ///< events; where a chunk does not know them, 1
  std::vector<double> seconds;
};

/// Chunks of one dataset, of which nobody knows which belong together.
struct UnpairedPieces {
  std::vector<WeighedPiece> before;
  std::vector<WeighedPiece> after;
};

struct PieceMatch {
  std::string why_not;                   ///< not empty: there is nothing to compare
  std::string_view paired_by;            ///< `chunk`; `file`: ranges differ, and events are the measure; `none`
  std::vector<std::string> parts;        ///< top-level sections; the last one is `(other)`
  std::vector<PiecePair> pairs;          ///< empty where `paired_by` is `none`
  std::vector<UnpairedPieces> unpaired;  ///< empty else
  double before_share = 0;               ///< of the run's time in chunks, what takes part
  double after_share = 0;
  struct Seconds {
    double all = 0, waiting = 0, cpu = 0;
  };
  Seconds before_seconds;  ///< of what takes part; `waiting` is without a CPU
  Seconds after_seconds;   ///< for as many events
};

/// Whether times are compared without the time in which threads waited for a CPU: it is known of all runs.
enum class ComparedTime { kWork, kAll };

/// By chunk where chunks tell their ranges, else by file, else not paired at all. What takes part is the input that
/// both runs have; a way that leaves out more than 10 % of either run's time is taken only where no other leaves out
/// less.
PieceMatch MatchPieces(const RunPieces& before, const RunPieces& after, ComparedTime time);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_PIECE_MATCH_H_
