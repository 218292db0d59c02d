#include "collector/insight/key_figure_bands.h"

#include "collector/insight/human_numbers.h"

namespace crema {

const KeyFigureBand& BandOf(KeyFigure figure) {
  static constexpr KeyFigureBand kCpuEfficiency = {
      true, 0.70, 0.40,
      "CPU that the chunks got of the cores held: sites ask for 70 % or more; below 40 % more than half of the "
      "allocation is given away"};
  static constexpr KeyFigureBand kWaiting = {
      false, 0.15, 0.30,
      "blocked share of chunk time: a few reads always wait; from a third on, a second thread per core would pay"};
  static constexpr KeyFigureBand kMemory = {
      false, 0.80, 0.95, "largest worker against its limit: Dask pauses a worker at 80 % and terminates it at 95 %"};
  static constexpr KeyFigureBand kBalance = {
      true, 0.90, 0.70,
      "busy share of the cores from the first chunk to the tail: the grain of the chunks alone costs a few per cent"};
  static constexpr KeyFigureBand kFailedAttempts = {
      false, 0.01, 0.05,
      "share of attempts that failed or were lost: hiccups of storage stay below 1 %, at 5 % something is broken"};
  switch (figure) {
    case KeyFigure::kCpuEfficiency:
      return kCpuEfficiency;
    case KeyFigure::kWaiting:
      return kWaiting;
    case KeyFigure::kMemory:
      return kMemory;
    case KeyFigure::kBalance:
      return kBalance;
    case KeyFigure::kFailedAttempts:
      break;
  }
  return kFailedAttempts;
}

Mark MarkOf(KeyFigure figure, double share) {
  const KeyFigureBand& band = BandOf(figure);
  const double sign = band.more_is_better ? 1 : -1;
  if (sign * share >= sign * band.good) return Mark::kGood;
  return sign * share < sign * band.bad ? Mark::kBad : Mark::kWatch;
}

std::string GoodHint(KeyFigure figure) {
  const KeyFigureBand& band = BandOf(figure);
  return (band.more_is_better ? "good ≥ " : "good ≤ ") + HumanPercent(band.good, 0);
}

}  // namespace crema
