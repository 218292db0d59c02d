// When a key figure is good, worth a look, or bad: the one table that the terminal, the report and the live page share.
#ifndef CREMA_COLLECTOR_INSIGHT_KEY_FIGURE_BANDS_H_
#define CREMA_COLLECTOR_INSIGHT_KEY_FIGURE_BANDS_H_

#include <string>
#include <string_view>

namespace crema {

enum class Mark { kGood, kWatch, kBad };

enum class KeyFigure { kCpuEfficiency, kWaiting, kMemory, kBalance, kFailedAttempts };

/// Bounds are shares, 0 to 1 (METRICS.md section 10, last rows).
struct KeyFigureBand {
  bool more_is_better;
  double good;  ///< from here on (or down to here) the figure is good
  double bad;   ///< beyond this it is bad; in between it is worth a look
  std::string_view reason;
};

const KeyFigureBand& BandOf(KeyFigure figure);

Mark MarkOf(KeyFigure figure, double share);

/// `good ≥ 70 %`.
std::string GoodHint(KeyFigure figure);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_KEY_FIGURE_BANDS_H_
