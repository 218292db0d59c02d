// How much longer the same input took in another run, with the range that the pieces' own scatter allows.
//
// Pieces that both runs processed are paired, so that what differs between files cancels. The change is the ratio of
// their sums; its range comes from drawing files again and again (a cluster bootstrap). Two runs tell nothing of how
// much equal runs differ, and the range does not hold it.
#ifndef CREMA_COLLECTOR_INSIGHT_PAIRED_CHANGE_H_
#define CREMA_COLLECTOR_INSIGHT_PAIRED_CHANGE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/run_pieces.h"
#include "nlohmann/json.hpp"

namespace crema {

/// A part of the change: of the first run's time in the pairs. `low` to `high` hold it with 90 % probability.
struct ChangeEffect {
  std::string what;  ///< a top-level section, or `(other)`
  double change = 0;
  double low = 0;
  double high = 0;
  double share = 0;      ///< of the first run's time
  bool is_sure = false;  ///< it differs from 0, judged together with all others (Holm)
};

enum class ChangeConclusion { kSlower, kFaster, kSame, kUnclear, kNotKnown };

std::string_view ToString(ChangeConclusion conclusion);

struct PairedChange {
  ChangeConclusion conclusion = ChangeConclusion::kNotKnown;
  std::string why_not;  ///< of `kNotKnown`
  double change = 0;
  double low = 0;
  double high = 0;
  std::vector<ChangeEffect> effects;  ///< largest first; their changes add up to `change`
  std::string_view paired_by;         ///< `chunk`, or `file`: ranges differ, and events are the measure
  size_t pairs = 0;
  std::string_view drawn_by;  ///< what was drawn: `file` or `pair`
};

PairedChange ComparePieces(const RunPieces& before, const RunPieces& after);

/// "Paired by chunk (2 252 pairs), b took 6.1 % longer (4.8 to 7.3 %): select +5.2 %; all else within ±0.6 %."
std::string PairedSentence(const PairedChange& change, const std::string& name);

/// `conclusion`, `change`, `low`, `high`, `effects`, `paired_by`, `pairs`, `reason`.
nlohmann::ordered_json PairedChangeAsJson(const PairedChange& change);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_PAIRED_CHANGE_H_
