#include "collector/insight/key_figure_bands.h"

#include <algorithm>

#include "collector/insight/human_numbers.h"

namespace crema {
namespace {

// In the order of `KeyFigure`.
constexpr KeyFigureBand kBands[] = {
    {KeyFigure::kCpuEfficiency, true, 0.70, 0.40, "CPU efficiency",
     "CPU that the chunks got of the cores held: sites ask for 70 % or more; below 40 % more than half of the "
     "allocation is given away"},
    {KeyFigure::kWaiting, false, 0.15, 0.30, "waiting in your code, of chunk time",
     "blocked share of chunk time: a few reads always wait; from a third on, a second thread per core would pay"},
    {KeyFigure::kMemory, false, 0.80, 0.95, "peak memory of its limit",
     "largest worker against its limit: the kernel ends what passes it, and one chunk in twenty is larger than the "
     "others"},
    {KeyFigure::kMemoryUnderDask, false, 0.70, 0.80, "the same under Dask",
     "largest worker against its limit: Dask spills to disk from 70 % and pauses a worker at 80 %"},
    {KeyFigure::kBalance, true, 0.90, 0.75, "balance",
     "busy share of the cores from the first chunk to the tail: the grain of the chunks alone costs a few per cent; at "
     "75 % every fourth core is idle"},
    {KeyFigure::kFailedAttempts, false, 0.01, 0.05, "failed attempts, of all",
     "share of attempts that failed or were lost: hiccups of storage stay below 1 %, at 5 % something is broken"},
    {KeyFigure::kUnfinishedChunks, false, 0, 0, "chunks without a result",
     "a chunk without a result is missing from the physics"},
    {KeyFigure::kFrameworkOverhead, false, 0.05, 0.15, "framework overhead, of the core-seconds",
     "the framework's share of the core-seconds: an engine needs a few per cent; at 15 % it costs a worker in seven"},
    {KeyFigure::kIdle, false, 0.10, 0.25, "idle, of the core-seconds",
     "idle share of the core-seconds: start, end and grain of a run cost up to a tenth; a quarter is a worker in four"},
    {KeyFigure::kTail, false, 0.05, 0.15, "tail, of the elapsed time",
     "tail of the elapsed time: chunks of a fitting size keep it below 5 %; at 15 % one waits for a handful of chunks"},
    {KeyFigure::kShortChunk, true, 1, 0.2, "median chunk, s (short side)",
     "median chunk: what a chunk costs whatever its size (some 10 ms to 100 ms) weighs little from 1 s on and much "
     "below 0.2 s"},
    {KeyFigure::kLongChunk, false, 600, 1800, "median chunk, s (long side)",
     "median chunk: a failed one repeats all its work, and the last ones leave cores idle; ten minutes are bearable, "
     "half an hour is not"},
    {KeyFigure::kDurationSpread, false, 2, 4, "chunk duration, p95 / median",
     "95 % quantile over median of chunk durations: chunks of one size differ by less than 2; from 4 on a few "
     "chunks decide when the run ends"},
    {KeyFigure::kEventCoverage, true, 0.999, 0.99, "event coverage",
     "events in the records of those that were processed: below 99 % every rate is too low by more than its "
     "third digit"},
    {KeyFigure::kFineCoverage, true, 0.98, 0.90, "fine-metric coverage",
     "seconds in fine metrics of those that the engine counts: a heartbeat may be missing; at 90 % a tenth is unknown"},
    {KeyFigure::kDroppedRecords, false, 0, 0.001, "dropped records, of all",
     "records that processes could not write: none in ordinary runs; beyond 0.1 % sums show it"},
    {KeyFigure::kMeasuringCost, false, 0.01, 0.03, "cost of measuring, of chunk time",
     "cost of measuring over chunk time: 1 % is within the noise of a run, 3 % is not"},
    {KeyFigure::kClockOffset, false, 0.005, 0.05, "clock offset, s",
     "clocks of hosts against each other: 5 ms vanish in a picture, 50 ms put short chunks out of order"},
};

bool IsInSeconds(KeyFigure figure) {
  return figure == KeyFigure::kShortChunk || figure == KeyFigure::kLongChunk || figure == KeyFigure::kClockOffset;
}

bool IsPlainNumber(KeyFigure figure) {
  return figure == KeyFigure::kUnfinishedChunks || figure == KeyFigure::kDurationSpread;
}

std::string InWords(KeyFigure figure, double value) {
  if (IsInSeconds(figure)) return HumanDuration(value);
  if (IsPlainNumber(figure)) return HumanNumber(value);
  const double percent = value * 100;
  return HumanPercent(value, percent == static_cast<int>(percent) ? 0 : 1);
}

}  // namespace

absl::Span<const KeyFigureBand> KeyFigureBands() { return kBands; }

const KeyFigureBand& BandOf(KeyFigure figure) { return kBands[static_cast<size_t>(figure)]; }

Mark MarkOf(KeyFigure figure, double value) {
  const KeyFigureBand& band = BandOf(figure);
  const double sign = band.more_is_better ? 1 : -1;
  if (sign * value >= sign * band.good) return Mark::kGood;
  return sign * value < sign * band.bad ? Mark::kBad : Mark::kWatch;
}

Mark MarkOfChunkDuration(double seconds) {
  return std::max(MarkOf(KeyFigure::kShortChunk, seconds), MarkOf(KeyFigure::kLongChunk, seconds));
}

std::string_view ToString(Mark mark) {
  switch (mark) {
    case Mark::kGood:
      return "good";
    case Mark::kWatch:
      return "watch";
    case Mark::kBad:
      break;
  }
  return "bad";
}

std::string GoodHint(KeyFigure figure) {
  const KeyFigureBand& band = BandOf(figure);
  if (band.good == 0) return "good: none";
  return (band.more_is_better ? "good ≥ " : "good ≤ ") + InWords(figure, band.good);
}

}  // namespace crema
