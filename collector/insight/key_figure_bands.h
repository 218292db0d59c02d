// When a figure is good, worth a look, or bad: the one table that the terminal, the report, the live page, the list of
// what can be trusted, the headline and the verdicts share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crema {

enum class Mark { kGood, kWatch, kBad };

/// Shares are of the core-seconds where nothing else is said.
enum class KeyFigure {
  kCpuEfficiency,
  kWaiting,  ///< of chunk time
  kMemory,   ///< of the limit; engines may have bounds of their own (`MemoryBand`)
  kBalance,
  kFailedAttempts,  ///< of all attempts
  kEventCoverage,   ///< of the events that were processed
  kFineCoverage,    ///< of the engine's compute time
  kDroppedRecords,  ///< of all records
  kMeasuringCost,   ///< of chunk time
  kClockOffset,     ///< seconds
};

/// Bounds are shares (0 to 1) unless the figure says otherwise.
struct KeyFigureBand {
  KeyFigure figure;
  bool more_is_better;
  double good;  ///< from here on (or down to here) the figure is good
  double bad;   ///< beyond this it is bad; in between it is worth a look
  std::string_view name;
  std::string_view reason;
};

/// All of them, in the order of `KeyFigure`; engines' own follow those that they stand for.
std::vector<KeyFigureBand> KeyFigureBands();

const KeyFigureBand& BandOf(KeyFigure figure);
/// That of `kMemory` in a run of this engine (`run.engine`; empty: of none).
KeyFigureBand MemoryBand(std::string_view engine);

Mark MarkOf(const KeyFigureBand& band, double value);
inline Mark MarkOf(KeyFigure figure, double value) { return MarkOf(BandOf(figure), value); }

/// `good`, `watch`, `bad`.
std::string_view ToString(Mark mark);

/// `good ≥ 70 %`, in the figure's unit.
std::string GoodHint(const KeyFigureBand& band);
inline std::string GoodHint(KeyFigure figure) { return GoodHint(BandOf(figure)); }

}  // namespace crema
