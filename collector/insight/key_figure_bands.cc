#include "collector/insight/key_figure_bands.h"

#include "collector/appearance/human_numbers.h"
#include "collector/engines/engines.h"
#include "collector/insight/thresholds.h"
#include "collector/measurement/quality_limits.h"

namespace crema {
namespace {

// In the order of `KeyFigure`.
constexpr KeyFigureBand kBands[] = {
    {KeyFigure::kCpuEfficiency, true, 0.70, 0.40, "CPU efficiency",
     "CPU time of the chunks over the cores' time: sites ask for 70 % or more; below 40 % more than half of the cores' "
     "time is lost"},
    {KeyFigure::kWaiting, false, kMostWaiting, 0.30, "waiting in your code, of chunk time",
     "blocked share of chunk time: some reads always wait; from 30 % on a second thread per core would help"},
    {KeyFigure::kMemory, false, kMostMemory, 0.95, "peak memory of its limit",
     "largest worker over its limit: the kernel kills a worker that passes it, and one chunk in twenty is larger than "
     "the others"},
    {KeyFigure::kBalance, true, 0.90, 0.75, "balance",
     "busy share of the cores from the first chunk to the tail: the sizes of chunks alone cost a few per cent; at 75 % "
     "every fourth core is idle"},
    {KeyFigure::kFailedAttempts, false, 0.01, 0.05, "failed attempts, of all",
     "share of attempts that failed or were lost: short failures of storage stay below 1 %; at 5 % something is "
     "broken"},
    {KeyFigure::kEventCoverage, true, kFullCoverage, 0.95, "events recorded, of those that were processed",
     "events in the records over events that were processed: every rate is too low by what is missing"},
    {KeyFigure::kFineCoverage, true, kFullCoverage, 0.90, "fine metrics, of the engine's compute time",
     "seconds in fine metrics over those that the engine counts: a heartbeat may be missing; at 90 % a tenth is "
     "unknown"},
    {KeyFigure::kDroppedRecords, false, 0, 0.001, "dropped records, of all",
     "records that processes could not write: none in ordinary runs; above 0.1 % sums are visibly too low"},
    {KeyFigure::kMeasuringCost, false, 0.01, 0.03, "cost of measuring, of chunk time",
     "cost of measuring over chunk time: 1 % is within the noise of a run, 3 % is not"},
    {KeyFigure::kClockOffset, false, 0.01, 0.05, "clock offset between hosts, or step of a clock, s",
     "clocks that are kept in step differ by far less than 10 ms, which no picture shows; 50 ms change the order of "
     "short chunks"},
};

std::string InWords(KeyFigure figure, double value) {
  if (figure == KeyFigure::kClockOffset) return HumanDuration(value);
  const double percent = value * 100;
  return HumanPercent(value, percent == static_cast<int>(percent) ? 0 : 1);
}

}  // namespace

std::vector<KeyFigureBand> KeyFigureBands() {
  std::vector<KeyFigureBand> bands;
  for (const KeyFigureBand& band : kBands) {
    bands.push_back(band);
    if (band.figure != KeyFigure::kMemory) continue;
    for (const Engine* engine : Engines()) {
      if (engine->traits.memory.has_value()) bands.push_back(MemoryBand(engine->traits.name));
    }
  }
  return bands;
}

const KeyFigureBand& BandOf(KeyFigure figure) { return kBands[static_cast<size_t>(figure)]; }

KeyFigureBand MemoryBand(std::string_view engine) {
  KeyFigureBand band = BandOf(KeyFigure::kMemory);
  const Engine* known = EngineNamed(engine);
  if (known == nullptr || !known->traits.memory.has_value()) return band;
  const EngineMemory& memory = *known->traits.memory;
  return {band.figure, band.more_is_better, memory.good, memory.bad, memory.name, memory.reason};
}

Mark MarkOf(const KeyFigureBand& band, double value) {
  const double sign = band.more_is_better ? 1 : -1;
  if (sign * value >= sign * band.good) return Mark::kGood;
  return sign * value < sign * band.bad ? Mark::kBad : Mark::kWatch;
}

std::string_view ToString(Mark mark) {
  constexpr std::string_view kNames[] = {"good", "watch", "bad"};
  return kNames[static_cast<size_t>(mark)];
}

std::string GoodHint(const KeyFigureBand& band) {
  if (band.good == 0) return "good: none";
  return (band.more_is_better ? "good ≥ " : "good ≤ ") + InWords(band.figure, band.good);
}

}  // namespace crema
